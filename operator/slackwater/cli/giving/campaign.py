"""What people tell a campaign: to start, to go on after a pause, to pause, to go on to its next wave."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.paths import FLEET_CAMPAIGN
from slackwater.api.annotations import API_VERSION, PROMOTE
from slackwater.cli.errors import NoSuchCampaign, NothingToDo, NotObeyed
from slackwater.cli.giving.written import halted, not_accepted, taken_up, write
from slackwater.cli.reaching.choice import Place
from slackwater.cli.reaching.cluster import cluster
from slackwater.cli.reaching.fleets import read_campaign, read_fleet
from slackwater.core.fleet.waves import the_wave, wave_in_words

Json = Mapping[str, Any]
Told = Callable[[KubernetesApi, Json, float], Awaitable[str]]
"""Says it to the campaign that was read, waits up to so many seconds, and returns what came of it, in words."""


async def tell(context: str | None, place: Place, told: Told, timeout_s: float) -> str:
    """With a `timeout_s` of 0 nothing is waited for. Raises NothingToDo where it would change nothing, NotTakenUp where
    the operator does not take it up in time, NoSuchCampaign, KindMissing and ClusterFailed."""
    async with cluster(context) as api:
        campaign = await read_campaign(api, place)
        if "deletionTimestamp" in campaign["metadata"]:
            raise NothingToDo(
                f"FleetCampaign {place.name} is being deleted: whoever has begun finishes, nobody else begins"
            )
        return await told(api, campaign, timeout_s)


async def start(context: str | None, place: Place, spec: Json, timeout_s: float) -> str:
    """Make it. Raises NothingToDo where it is there, NotObeyed where it cannot begin, NoSuchFleet and ClusterFailed."""
    async with cluster(context) as api:
        if await api.read(FLEET_CAMPAIGN, *place) is not None:
            raise NothingToDo(
                f"FleetCampaign {place.name} is there: a campaign does what it was begun for, make another one"
            )
        await read_fleet(api, Place(place.namespace, spec["fleetRef"]["name"]))
        body = {"apiVersion": API_VERSION, "kind": FLEET_CAMPAIGN.name, "metadata": {"name": place.name}, "spec": spec}
        made = await api.create(FLEET_CAMPAIGN, place.namespace, body)
        begun = await taken_up(api, FLEET_CAMPAIGN, made, "start", timeout_s)
    if refused := not_accepted(begun):
        raise NotObeyed(f"FleetCampaign {place.name} is made, but cannot begin: {refused}")
    dry = "; a dry run, which moves nobody" if spec.get("dryRun") else ""
    return f"{place.name}: started{dry}; slackwater campaign status {place.name} -n {place.namespace} shows how it goes"


async def let_go_on(context: str | None, place: Place, timeout_s: float) -> str:
    """As `tell` with `go_on`; whoever meant to begin one learns how."""
    try:
        return await tell(context, place, go_on, timeout_s)
    except NoSuchCampaign as error:
        raise NoSuchCampaign(f"{str(error).rstrip('?')}; to begin a new one, say its --fleet") from error


async def go_on(api: KubernetesApi, campaign: Json, timeout_s: float) -> str:
    """A `Told`: after a pause."""
    name = campaign["metadata"]["name"]
    if not campaign["spec"].get("paused"):
        raise NothingToDo(f"{name} is not paused, so there is nothing to start; to begin another one, say its --fleet")
    now = await write(api, FLEET_CAMPAIGN, campaign, {"spec": {"paused": False}}, "start", timeout_s)
    if stops := not_accepted(now) or halted(now):
        raise NotObeyed(f"{name} is paused no more, but it does not go on: {stops}")
    return f"{name}: goes on"


async def pause(api: KubernetesApi, campaign: Json, timeout_s: float) -> str:
    """A `Told`."""
    name = campaign["metadata"]["name"]
    if campaign["spec"].get("paused"):
        raise NothingToDo(f"{name} is paused already")
    if (phase := _phase(campaign)) == "Succeeded":
        raise NothingToDo(f"{name} is over, so there is nothing to pause: {phase}")
    await write(api, FLEET_CAMPAIGN, campaign, {"spec": {"paused": True}}, "pause", timeout_s)
    return f"{name}: paused; no other group begins, those that have begun finish, and campaign start {name} goes on"


async def promote(api: KubernetesApi, campaign: Json, timeout_s: float) -> str:
    """A `Told`: the next wave begins."""
    name, status = campaign["metadata"]["name"], campaign.get("status") or {}
    if (phase := _phase(campaign)) != "AwaitingPromotion":
        stands = (
            f"it is {phase}" + (f" in {the_wave(status['wave'])}" if status.get("wave") else "")
            if phase
            else ("the operator has said nothing of it")
        )
        raise NothingToDo(f"{name} is as it was: no wave waits to be promoted, {stands}")
    token = datetime.now(UTC).isoformat()
    await write(api, FLEET_CAMPAIGN, campaign, {"metadata": {"annotations": {PROMOTE: token}}}, "promote", timeout_s)
    after = wave_in_words(status.get("wave") or "this one")
    return f"{name}: promoted; the wave after {after} begins"


def _phase(campaign: Json) -> str:
    return str((campaign.get("status") or {}).get("phase") or "")
