"""Fleets, with all groups that whoever asks may list: what `fleet status`, `fleet plan` and `why` are made of."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterFailed, ClusterUnreachable, Forbidden, KindMissing
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP, FLEET_CAMPAIGN
from slackwater.api.errors import InvalidSpec
from slackwater.api.parsing import parse_consumer_fleet
from slackwater.cli.errors import NoSuchFleet
from slackwater.cli.looking.looks import Look
from slackwater.cli.pictures.fleet import FleetLook
from slackwater.cli.reaching.choice import Place
from slackwater.cli.reaching.cluster import check_namespace, cluster
from slackwater.cli.reaching.fleets import list_campaigns, list_fleets, read_fleet
from slackwater.cli.words.fleets import TurnStory, turn_story
from slackwater.cli.words.orders import UNREAD
from slackwater.core.fleet.board import Board
from slackwater.core.fleet.campaign import Campaign
from slackwater.core.fleet.campaign_object import read_campaign
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.plan import run
from slackwater.core.fleet.seen import FleetSeen, Seen, fleet_seen, seen
from slackwater.core.world.turn import TurnStanding
from slackwater.ports import Kind

Json = dict[str, Any]


RESTS_FOR: Final = 4.0
"""Times as long as a look took: one at thousands of groups is no small thing for an API server."""


@dataclass(frozen=True, slots=True)
class Fleets:
    """All fleets and groups that can be read, at one moment."""

    seen: dict[str, FleetSeen]
    board: Board
    is_partial: bool
    groups: Mapping[str, Json] = field(default_factory=dict)
    """As the API server gives them, by `namespace/name`."""


async def read_fleets(api: KubernetesApi, namespace: str) -> Fleets:
    """Of the whole cluster; where one may not list that, of `namespace`. No fleets where their kind is not installed.

    Raises ClusterFailed.
    """
    fleets, all_fleets = await _list(api, CONSUMER_FLEET, namespace)
    groups, all_groups = await _list(api, CONSUMER_GROUP, namespace)
    now = time.time()
    known = {each.key: each for each in _parsed(fleets, now)}
    board = Board(tuple(known.values()), _seen(groups), now)
    return Fleets(known, board, not (all_fleets and all_groups), {_key(each): each for each in groups})


async def read_only_fleets(api: KubernetesApi, namespace: str) -> tuple[Mapping[str, FleetSeen], bool]:
    """By `namespace/name`, as `read_fleets`; and whether they are all that there are. Raises ClusterFailed."""
    fleets, are_all = await _list(api, CONSUMER_FLEET, namespace)
    return {each.key: each for each in _parsed(fleets, time.time())}, are_all


async def read_all_campaigns(api: KubernetesApi, namespace: str) -> tuple[Sequence[Campaign], bool]:
    """As `read_only_fleets`. Raises ClusterFailed."""
    found, are_all = await _list(api, FLEET_CAMPAIGN, namespace)
    known = []
    for each in found:
        with suppress(InvalidSpec):
            known.append(read_campaign(each))
    return known, are_all


async def read_look(api: KubernetesApi, place: Place) -> FleetLook:
    """Raises NoSuchFleet, InvalidSpec, KindMissing and ClusterFailed."""
    found = await read_fleet(api, place)
    fleets = await read_fleets(api, place.namespace)
    known = fleets.seen.get(str(place))
    if known is None:  # it was made between the two, or cannot be read
        known = fleet_seen(parse_consumer_fleet(found), fleets.board.now)
        fleets = with_fleet(fleets, known)
    return foreseen(FleetLook(known, fleets.board, fleets.is_partial))


async def read_looks(context: str | None, namespace: str | None) -> tuple[list[FleetLook], list[InvalidSpec]]:
    """Of all fleets of one namespace, or of all; and why some cannot be shown. Raises NoSuchNamespace, NotInstalled and
    ClusterFailed."""
    async with cluster(context) as api:
        listed = await list_fleets(api, namespace)
        if not listed and namespace is not None:
            await check_namespace(api, namespace)
        fleets = await read_fleets(api, namespace or "")
    return looks_of(fleets, namespace), list(_unread(listed))


def _unread(fleets: Sequence[Mapping[str, Any]]) -> Iterator[InvalidSpec]:
    for each in fleets:
        try:
            parse_consumer_fleet(each)
        except InvalidSpec as error:
            yield error


async def read_campaigns(context: str | None, namespace: str | None) -> Sequence[Mapping[str, Any]]:
    """Of one namespace, or of all. Raises NoSuchNamespace, KindMissing and ClusterFailed."""
    async with cluster(context) as api:
        found = await list_campaigns(api, namespace)
        if not found and namespace is not None:
            await check_namespace(api, namespace)
    return found


async def follow(context: str | None, place: Place, interval_s: float, show: Callable[[FleetLook], None]) -> None:
    """Look after look until the fleet is deleted. Raises as `read_look`, for the first one."""
    async with cluster(context) as api:
        began_at = time.monotonic()
        show(await read_look(api, place))
        with suppress(NoSuchFleet):
            while True:
                took_s = time.monotonic() - began_at
                await asyncio.sleep(max(interval_s, RESTS_FOR * took_s))
                began_at = time.monotonic()
                with suppress(ClusterUnreachable):
                    show(await read_look(api, place))


class Turns:
    """Why groups wait for their turns. Fleets and groups are listed once, whoever asks, and however many do."""

    def __init__(self) -> None:
        self._reading: asyncio.Future[Fleets] | None = None

    async def of(self, api: KubernetesApi, look: Look) -> TurnStory | None:
        """None where it waits for none, and where its fleets may not be read: the operator's word counts then."""
        if look.world.turn.standing is not TurnStanding.WAITS:
            return None
        group = look.world.group
        self._reading = self._reading or asyncio.ensure_future(read_fleets(api, group.namespace))
        try:
            fleets = await self._reading
        except ClusterFailed:
            return None
        key = f"{group.namespace}/{group.name}"
        board = _with_coordinator(fleets.board, key, look)
        campaign = await campaign_of(api, board.groups.get(key))
        return turn_story(key, fleets.seen, board, is_partial=fleets.is_partial, campaign=campaign)


async def campaign_of(api: KubernetesApi, group: Seen | None) -> Mapping[str, Any] | None:
    """That the group's annotation names; None: it names none, or one that is not there."""
    if group is None or not group.campaign:
        return None
    try:
        return await api.read(FLEET_CAMPAIGN, *group.campaign.split("/", 1))
    except ClusterFailed:
        return UNREAD


def _with_coordinator(board: Board, key: str, look: Look) -> Board:
    """As Kafka has just said, where its last turn does not tell."""
    group, kafka = board.groups.get(key), look.world.seen
    coordinator = None if kafka is None else kafka.coordinator
    if group is None or coordinator is None or group.facts.coordinator is not None:
        return board
    cluster = group.facts.cluster or look.world.cluster_id
    facts = replace(group.facts, coordinator=coordinator, cluster=cluster)
    return board.with_group(replace(group, facts=facts))


def looks_of(fleets: Fleets, namespace: str | None) -> list[FleetLook]:
    """Of one namespace, or of all, in the order of their names."""
    wanted = [fleets.seen[key] for key in sorted(fleets.seen)]
    return [
        FleetLook(each, fleets.board, fleets.is_partial) for each in wanted if namespace in (None, each.fleet.namespace)
    ]


def foreseen(look: FleetLook) -> FleetLook:
    """With plans of how it goes on, where groups wait and something lets them begin."""
    if not look.having(Standing.ASKS) or look.fleet.shut:
        return look
    board = look.board
    soon, late = (run(board.outset(slow=slow), (), board.now) for slow in (False, True))
    return replace(look, soon=soon, late=late)


def with_fleet(fleets: Fleets, fleet: FleetSeen) -> Fleets:
    """As if that one were there, in place of one of its name."""
    known = {**fleets.seen, fleet.key: fleet}
    groups = tuple(fleets.board.groups.values())
    return replace(fleets, seen=known, board=Board(tuple(known.values()), groups, fleets.board.now))


async def _list(api: KubernetesApi, kind: Kind, namespace: str) -> tuple[Sequence[Json], bool]:
    """And whether it is all that there is."""
    try:
        found, _ = await api.list_all(kind, None)
    except KindMissing:
        return (), True
    except Forbidden:
        if not namespace:
            return (), False
        found, _ = await api.list_all(kind, namespace)
        return found, False
    return found, True


def _key(obj: Json) -> str:
    return f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"


def _parsed(fleets: Sequence[Json], now: float) -> list[FleetSeen]:
    """Whose spec an older CRD let through holds nobody that could be told of."""
    known = []
    for each in fleets:
        with suppress(InvalidSpec):
            known.append(fleet_seen(parse_consumer_fleet(each), now))
    return known


def _seen(groups: Sequence[Json]) -> list[Seen]:
    known = []
    for each in groups:
        with suppress(InvalidSpec):
            known.append(seen(each))
    return known
