"""ConsumerFleets and FleetCampaigns by their names, with a sentence for what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import Forbidden
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, FLEET_CAMPAIGN
from slackwater.cli.errors import NoSuchCampaign, NoSuchFleet
from slackwater.cli.reaching.choice import Place
from slackwater.cli.reaching.cluster import missing_namespace
from slackwater.core.decision.words import listing
from slackwater.ports import Kind

Json = Mapping[str, Any]


async def read_fleet(api: KubernetesApi, place: Place) -> Json:
    """Raises NoSuchFleet, KindMissing and ClusterFailed."""
    found = await api.read(CONSUMER_FLEET, *place)
    if found is None:
        raise NoSuchFleet(await _which_there_are(api, CONSUMER_FLEET, place))
    return found


async def read_campaign(api: KubernetesApi, place: Place) -> Json:
    """Raises NoSuchCampaign, KindMissing and ClusterFailed."""
    found = await api.read(FLEET_CAMPAIGN, *place)
    if found is None:
        raise NoSuchCampaign(await _which_there_are(api, FLEET_CAMPAIGN, place))
    return found


async def list_fleets(api: KubernetesApi, namespace: str | None) -> tuple[Json, ...]:
    """In the order of their names. Raises KindMissing and ClusterFailed."""
    return await _list(api, CONSUMER_FLEET, namespace)


async def list_campaigns(api: KubernetesApi, namespace: str | None) -> tuple[Json, ...]:
    """In the order of their names. Raises KindMissing and ClusterFailed."""
    return await _list(api, FLEET_CAMPAIGN, namespace)


async def _list(api: KubernetesApi, kind: Kind, namespace: str | None) -> tuple[Json, ...]:
    found, _ = await api.list_all(kind, namespace)
    return tuple(sorted(found, key=lambda each: (each["metadata"]["namespace"], each["metadata"]["name"])))


async def _which_there_are(api: KubernetesApi, kind: Kind, place: Place) -> str:
    there = f"there is no {kind.name} {place.name} in namespace {place.namespace}"
    try:
        found = await _list(api, kind, None)
    except Forbidden:
        found = await _list(api, kind, place.namespace)
    here = [each["metadata"]["name"] for each in found if each["metadata"]["namespace"] == place.namespace]
    elsewhere = [each["metadata"]["namespace"] for each in found if each["metadata"]["name"] == place.name]
    if elsewhere:
        return f"{there}, but there is one in {listing(elsewhere)}: use -n {elsewhere[0]}"
    if close := get_close_matches(place.name, here, n=1):
        return f"{there}: did you mean {close[0]}?"
    if here:
        return f"{there}: there {'is' if len(here) == 1 else 'are'} {listing(here)}"
    return await missing_namespace(api, place.namespace) or f"{there}: there is none at all, so apply one or choose -n"
