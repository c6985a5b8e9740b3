"""What is written of fleets, and what of them is listed: the only part of theirs that waits for the API server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from math import inf
from typing import Any, Final

import structlog

from slackwater.adapters.cluster.errors import ClusterFailed, Conflict
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP, EVENT
from slackwater.api.conditions import ConditionStatus
from slackwater.api.consumer_fleet_status import FleetConditionType
from slackwater.api.errors import SlackwaterError
from slackwater.core.decision.words import seconds
from slackwater.core.fleet.reasons import FleetReason
from slackwater.core.fleet.report import status_of
from slackwater.ports import Cluster
from slackwater.shell.events import event_about
from slackwater.shell.fleet_places import in_turns
from slackwater.shell.fleet_series import Begun
from slackwater.shell.fleets import Fleets
from slackwater.shell.leadership import NotLeading
from slackwater.shell.store import Key, Store

Json = Mapping[str, Any]

STATUS_AGAIN_S: Final = 10.0
"""A fleet's status is written no more often, however much changes in it."""
LIST_AGAIN_S: Final = 2.0
EVENTS_AT_ONCE: Final = 100
"""Turns that are told of as Events in one go; what is more is in the metrics."""

_log = structlog.get_logger(__name__)


class FleetKeeping:
    """`relist`: lists all ConsumerGroups into the store. Raises ClusterFailed."""

    def __init__(
        self,
        api: Cluster,
        store: Store,
        fleets: Fleets,
        relist: Callable[[], Awaitable[None]],
        now: Callable[[], float],
    ) -> None:
        self._api = api
        self._store = store
        self._fleets = fleets
        self._relist = relist
        self._now = now
        self._written_at: dict[str, float] = {}
        self._list_again_at = 0.0

    async def keep_time(self) -> None:
        """For as long as this replica leads: what is due by the clock is done then. Were it done between two requests,
        a window would close as late as the API server answers."""
        while True:
            self._fleets.stirred.clear()
            await self._fleets.tick_in_turns()
            due_at = self._fleets.ticks_at()
            with suppress(TimeoutError):
                async with asyncio.timeout(None if due_at == inf else max(0.0, due_at - self._now())):
                    await self._fleets.stirred.wait()

    async def keep(self) -> None:
        """For as long as this replica leads."""
        while True:
            self._fleets.changed.clear()
            again_s = await self.keep_once()
            try:
                async with asyncio.timeout(again_s):
                    await self._fleets.changed.wait()
            except TimeoutError:
                continue

    async def keep_once(self) -> float | None:
        """Do what is due; returns in how many seconds something is due again, None: when something changes."""
        await self._fleets.tick_in_turns()
        try:
            await self._list_where_that_is_due()
        except (ClusterFailed, NotLeading) as error:
            _log.warning("fleets_not_listed", error=str(error))
        await self._write()
        await self._tell()
        return self._again_s()

    def _again_s(self) -> float | None:
        relist_at = self._fleets.ledger.allocator.relist_at
        lists_at = inf if relist_at is None else max(relist_at, self._list_again_at)
        soonest = min([lists_at, *(self._due(name) for name in self._fleets.dirty if not self._fleets.is_coming(name))])
        return None if soonest == inf else max(0.0, soonest - self._now())

    def _due(self, fleet: str) -> float:
        """Where it was written after now, the clock was set back: it is due at once, and counts from then on."""
        written_at, now = self._written_at.get(fleet, -inf), self._now()
        return now if written_at > now else written_at + STATUS_AGAIN_S

    async def _list_where_that_is_due(self) -> None:
        relist_at, now = self._fleets.ledger.allocator.relist_at, self._now()
        self._list_again_at = min(self._list_again_at, now + LIST_AGAIN_S)
        if relist_at is None or max(relist_at, self._list_again_at) > now:
            return
        self._list_again_at = now + LIST_AGAIN_S
        await self._relist()
        for _ in self._fleets.relisting():
            await asyncio.sleep(0)

    async def _write(self) -> None:
        for name in in_turns(sorted(self._fleets.dirty)):
            if self._due(name) <= self._now() and not self._fleets.is_coming(name):
                self._fleets.dirty.discard(name)
                await self._write_status(name)
        there = self._fleets.known.places
        self._written_at = {name: at for name, at in self._written_at.items() if _key(name) in there}

    async def _write_status(self, name: str) -> None:
        kept, key = self._fleets.ledger.kept(name), _key(name)
        obj = self._store.get(CONSUMER_FLEET, key)
        if obj is None:
            return
        before, metadata = obj.get("status") or {}, obj["metadata"]
        generation, commands = metadata.get("generation", 0), self._fleets.known.commands(name)
        if kept is None:
            kept, commands = self._fleets.known.over(obj, self._now()), dict(before.get("commands") or {})
        status = status_of(kept, self._fleets.ledger, before, generation, commands, self._now())
        if status == before:
            return
        self._written_at[name] = self._now()
        uid, version = metadata["uid"], metadata["resourceVersion"]
        try:
            written = await self._written(key, uid, status, version)
        except SlackwaterError as error:  # no answer; or this replica does not lead for a moment
            self._fleets.dirty.add(name)
            _log.warning("fleet_status_not_written", fleet=name, error=str(error))
            return
        if written is None:
            self._fleets.dirty.add(name)
            return
        self._take_in(key, written)
        for reason, message, warning in _news(before, status):
            await self._post(obj, reason, message, warning=warning)

    async def _written(self, key: Key, uid: str, status: Json, version: str) -> Json | None:
        """None where it has changed since: the watch brings what it is by now. Raises SlackwaterError."""
        try:
            return await self._api.apply_status(CONSUMER_FLEET, *key, uid, status, version)
        except Conflict:
            return None

    def _take_in(self, key: Key, obj: Json | None) -> None:
        known = self._store.get(CONSUMER_FLEET, key)
        if obj is not None:
            self._store.put(CONSUMER_FLEET, obj)
        elif known is not None:
            self._store.drop(CONSUMER_FLEET, known)

    async def _tell(self) -> None:
        begun, self._fleets.begun = self._fleets.begun[:EVENTS_AT_ONCE], []
        for each in begun:
            group = self._store.get(CONSUMER_GROUP, each.group)
            if group is not None:
                await self._post(group, *_of_turn(each), warning=False)

    async def _post(self, about: Json, reason: FleetReason, message: str, *, warning: bool) -> None:
        """Events are for people to read: one that cannot be written is logged and given up, never waited for."""
        namespace, name = about["metadata"]["namespace"], about["metadata"]["name"]
        _log.info("event", about=f"{about['kind']} {namespace}/{name}", reason=reason.value, message=message)
        try:
            body = event_about(about, reason.value, message, self._now(), warning=warning)
            await self._api.create(EVENT, namespace, body)
        except SlackwaterError as error:
            _log.warning("event_not_written", about=f"{namespace}/{name}", reason=reason.value, error=str(error))


def _key(fleet: str) -> Key:
    namespace, _, name = fleet.partition("/")
    return Key(namespace, name)


def _of_turn(begun: Begun) -> tuple[FleetReason, str]:
    waited, fleets = seconds(begun.waited_s), ", ".join(begun.fleets)
    if begun.let_through:
        through = ", ".join(begun.let_through)
        message = (
            f"was given its turn though {through} lets nobody else begin: by an override, as urgent, or to be mended"
        )
        return FleetReason.LET_THROUGH, message
    return FleetReason.TURN_GIVEN, f"was given its turn in {fleets} after {waited}"


def _news(before: Json, after: Json) -> Iterator[tuple[FleetReason, str, bool]]:
    """What the status says for the first time, and whether it is a warning. Of a fleet that is new nothing is said but
    that it is halted."""
    was, now = _statuses(before), _statuses(after)
    opened, halted = FleetConditionType.OPEN.value, FleetConditionType.HALTED.value
    if opened in was and was[opened][0] != now[opened][0]:
        is_open = now[opened][0] == ConditionStatus.TRUE.value
        yield FleetReason.OPENED if is_open else FleetReason.CLOSED, now[opened][1], False
    if now[halted][0] == ConditionStatus.TRUE.value and was.get(halted, ("",))[0] != ConditionStatus.TRUE.value:
        yield FleetReason.HALTED, now[halted][1], True
    if now[halted][0] != ConditionStatus.TRUE.value and was.get(halted, ("",))[0] == ConditionStatus.TRUE.value:
        yield FleetReason.RESUMED, "groups may begin again", False
    if after.get("overriddenUntil") and after.get("overriddenUntil") != before.get("overriddenUntil"):
        yield FleetReason.OVERRIDE_USED, f"an override is in force until {after['overriddenUntil']}", True


def _statuses(status: Json) -> dict[str, tuple[str, str]]:
    """By type of condition, its status and message."""
    return {each["type"]: (each["status"], each.get("message", "")) for each in status.get("conditions") or ()}
