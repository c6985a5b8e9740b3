"""`slackwater fleet plan -f`: a campaign that is not applied yet, in the cluster as it is.

Kafka is asked where the campaign takes groups to another protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import Forbidden
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, FLEET_CAMPAIGN
from slackwater.api.consumer_fleet import Passes
from slackwater.api.errors import InvalidSpec, SlackwaterError
from slackwater.api.parsing import parse_consumer_fleet, parse_consumer_group, parse_fleet_campaign
from slackwater.cli.looking.fleets import Fleets, read_fleets, with_fleet
from slackwater.cli.looking.watching import look_once
from slackwater.cli.pictures.campaign_plan import CampaignPlan, Ways
from slackwater.cli.planning.applying import NOT_APPLIED_UID
from slackwater.cli.planning.files import CampaignManifests
from slackwater.cli.reaching.choice import Place
from slackwater.cli.reaching.cluster import check_namespace, cluster
from slackwater.cli.reaching.each import LOOKS_AT_A_TIME, each
from slackwater.cli.reaching.fleets import read_fleet
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.fleet.campaign import Campaign
from slackwater.core.fleet.campaign_forecast import Assumed, forecast_campaign
from slackwater.core.fleet.campaign_groups import KnownGroup, applies_of, spec_with
from slackwater.core.fleet.claims import passes
from slackwater.core.fleet.defaults import Own
from slackwater.core.fleet.layers import nearest
from slackwater.core.fleet.participants import shown_by
from slackwater.core.fleet.seen import FleetSeen, Seen, fleet_seen
from slackwater.core.protocol.foreseen import Found, way_found

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A campaign in the cluster as it is, before anything of it is foreseen."""

    campaign: Campaign
    fleet: FleetSeen
    fleets: Fleets
    groups: tuple[KnownGroup, ...]
    """Those that it is about."""
    phase: str | None = None
    """Of a campaign of its name that is there; None: there is none."""
    ways: Mapping[str, Found] = field(default_factory=dict)
    """To another protocol, by `namespace/name`; of groups that the campaign takes to one."""


async def read_campaign_asked(context: str | None, place: Place, manifests: CampaignManifests) -> Asked:
    """Changes nothing. Raises NoSuchFleet, NoSuchNamespace, InvalidSpec, KindMissing and ClusterFailed."""
    async with cluster(context) as api:
        await check_namespace(api, place.namespace)
        spec = parse_fleet_campaign(manifests.campaign).spec
        annotations = manifests.campaign["metadata"].get("annotations") or {}
        campaign = Campaign(*place, NOT_APPLIED_UID, spec, annotations=annotations)
        fleets = await read_fleets(api, place.namespace)
        fleet = await _fleet_of(campaign, manifests, api, fleets)
        fleets = with_fleet(fleets, fleet)
        asked = Asked(campaign, fleet, fleets, tuple(_known(campaign, fleet, fleets)), await _phase(api, place))
        return replace(asked, ways=await _ways(api, asked))


def foreseen_campaign(asked: Asked, assumed: Assumed) -> CampaignPlan:
    """Pure."""
    ways = Ways.of(asked.ways)
    groups = [replace(group, way=ways.obstacles.get(group.key)) for group in asked.groups]
    found = forecast_campaign(asked.campaign, asked.fleet, groups, asked.fleets.board, assumed)
    board, is_partial = asked.fleets.board, asked.fleets.is_partial
    surplus = board.surplus_in(asked.campaign.namespace)
    return CampaignPlan(found, asked.fleet, board.now, ways, asked.phase, is_partial=is_partial, surplus=surplus)


async def _phase(api: KubernetesApi, place: Place) -> str | None:
    """Of a campaign of that name; None: there is none, or whoever asks may not read it."""
    try:
        there = await api.read(FLEET_CAMPAIGN, *place)
    except Forbidden:
        return None
    return None if there is None else str((there.get("status") or {}).get("phase") or "not taken up yet")


async def _fleet_of(campaign: Campaign, manifests: CampaignManifests, api: KubernetesApi, fleets: Fleets) -> FleetSeen:
    """As it stands beside the campaign, else as it is in the cluster."""
    place, now = Place(campaign.namespace, campaign.spec.fleet_ref.name), fleets.board.now
    beside = [each for each in manifests.fleets if _is_it(each, place)]
    if not beside:
        known = fleets.seen.get(str(place))
        return known or fleet_seen(parse_consumer_fleet(await read_fleet(api, place)), now)
    live = await api.read(CONSUMER_FLEET, *place) or {}
    metadata = {**live.get("metadata", {}), **beside[-1]["metadata"], "namespace": place.namespace}
    return fleet_seen(
        parse_consumer_fleet({**beside[-1], "metadata": metadata, "status": live.get("status") or {}}), now
    )


def _is_it(manifest: Json, place: Place) -> bool:
    metadata = manifest["metadata"]
    return Place(metadata.get("namespace", place.namespace), metadata["name"]) == place


def _known(campaign: Campaign, fleet: FleetSeen, fleets: Fleets) -> Iterator[KnownGroup]:
    givers = [(each.fleet, each.giver) for each in fleets.seen.values() if each.giver is not None]
    for group in fleets.board.of(fleet.fleet):
        obj = fleets.groups[group.key]
        if not campaign.spec.selector.matches(group.facts.labels) or "deletionTimestamp" in obj["metadata"]:
            continue
        try:
            own = Own.of(parse_consumer_group(obj).spec)
        except InvalidSpec:  # an older type let it through, and nothing is ordered of it
            continue
        given = nearest(group.facts.namespace, [giver for of, giver in givers if of.selects(group.facts)])
        passes_waves = Passes.WAVES in passes(fleet.fleet, group.facts)
        yield replace(_known_by(group, obj, own), given=given, passes_waves=passes_waves)


def _known_by(group: Seen, obj: Json, own: Own) -> KnownGroup:
    """Whoever has pods has some that were made before now."""
    metadata, is_observed = obj["metadata"], (obj.get("status") or {}).get("observedGeneration", 0)
    return KnownGroup(
        group.key,
        own,
        uid=group.facts.uid,
        labels=group.facts.labels,
        annotations=metadata.get("annotations") or {},
        shown=shown_by(
            group.memory,
            is_observed=is_observed >= metadata.get("generation", 0),
            oldest_pod_at=0.0 if group.facts.replicas else None,
        ),
        pins=group.memory.inherited,
        is_calm=True,
    )


async def _ways(api: KubernetesApi, asked: Asked) -> dict[str, Found]:
    """Of each group that is to be taken to another protocol: its members and brokers say whether it can be."""
    says = {} if asked.fleet.giver is None else asked.fleet.giver.says
    applies = applies_of(asked.campaign.spec.action.apply_defaults, says)
    specs = {group.key: spec_with(group, applies, asked.campaign) for group in asked.groups}
    places = [Place(*key.split("/")) for key, spec in specs.items() if spec is not None]

    async def look(place: Place) -> tuple[Found]:
        world, spec = (await look_once(api, place)).world, specs[str(place)]
        if spec is None or spec.protocol.target is None:
            return (None,)
        asks = replace(world, group=world.group.model_copy(update={"spec": spec}))
        return (way_found(asks, spec.protocol.target),)

    outcomes = await each(places, look, "looking at groups", at_a_time=LOOKS_AT_A_TIME) if places else []
    return {str(one.place): _not_seen(one.error) if one.value is None else one.value[0] for one in outcomes}


def _not_seen(error: SlackwaterError | None) -> Hold:
    return Hold(Reason.OBSERVATION_STALE, str(error))
