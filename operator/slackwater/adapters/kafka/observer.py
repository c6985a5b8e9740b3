"""Watches the groups of one connection: often those in motion or in an outage, seldom those at rest, in common passes.

All groups at rest are looked at in the same pass, whenever they were added, so that their requests are per coordinator
and not per group. The brokers themselves are asked by a task of its own, so that one that is silent holds up no group.
Only Kafka's failures are folded in as `Unobserved`; anything else ends the task, and `wait_failed` tells its owner.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import count
from typing import Final

import structlog

from slackwater.adapters.kafka.apart import apart
from slackwater.adapters.kafka.broker_watch import BrokerWatch, ReadsFacts
from slackwater.adapters.kafka.remembered import Remembered
from slackwater.adapters.kafka.share import Share
from slackwater.adapters.kafka.unseen import Unseen
from slackwater.adapters.kafka.watch import Folded, Watch
from slackwater.core.world.broker import BrokerFacts
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.observation import GroupObservation, KafkaView
from slackwater.ports import GroupReader

MOVING_INTERVAL_S: Final = 1.0
REST_INTERVAL_S: Final = 15.0

_log = structlog.get_logger(__name__)


class NotWatched(KeyError):
    """Nobody watches a group under this key (any more)."""


class ObserverStopped(RuntimeError):
    """Nobody observes any more."""


class Observer:
    """Keeps the newest view and history of every watched group, and says when one changed.

    `on_change(key)` is called in the event loop: when a group's members, state, assignments or partitions changed, when
    it could not be read or could be again, and after every pass for groups in motion; for every group when the facts
    about the brokers changed. Not thread-safe: one event loop.
    """

    def __init__(
        self,
        reader: GroupReader,
        on_change: Callable[[str], None],
        *,
        brokers: ReadsFacts | None = None,
        share: Share | None = None,
        moving_interval_s: float = MOVING_INTERVAL_S,
        rest_interval_s: float = REST_INTERVAL_S,
    ) -> None:
        self._reader = reader
        self._share = share or Share()
        self._brokers = None if brokers is None else BrokerWatch(brokers, self._tell_all)
        self._on_change = on_change
        self._moving_interval_s = moving_interval_s
        self._rest_interval_s = rest_interval_s
        self._watches: dict[str, Watch] = {}
        self._numbers = count()
        self._hurried: set[str] = set()
        """Keys of those to be looked at often, so that a look at one does not go through all."""
        self.unseen = Unseen()
        self._wanted: set[str] = set()
        """Keys to observe in the next pass, whatever the schedule says."""
        self._waiting: defaultdict[str, list[asyncio.Future[KafkaView]]] = defaultdict(list)
        self._wake = asyncio.Event()
        self._moving_due_at = 0.0
        self._rest_due_at = 0.0
        self.task: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def broker(self) -> BrokerFacts | None:
        """The newest facts about the brokers; None until they could be read."""
        return None if self._brokers is None else self._brokers.facts

    def refresh_broker(self) -> None:
        """Ask the brokers again soon; safe to call at every turn."""
        if self._brokers is not None:
            self._brokers.refresh()

    def start(self) -> None:
        """Begin to observe."""
        loop = asyncio.get_running_loop()
        self.task = loop.create_task(self._run(), name="kafka-observer")
        self._tasks = {self.task}
        if self._brokers is not None:
            self._tasks.add(loop.create_task(self._brokers.run(), name="kafka-broker-watch"))

    async def wait_failed(self) -> None:
        """Wait until the observer has ended; raises what ended it, returns after `close`."""
        if self.task is None:
            raise RuntimeError("the observer was not started")
        ended, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            if not task.cancelled():
                task.result()

    async def close(self) -> None:
        """Stop observing and end the reader. Callers that wait for an observation get ObserverStopped."""
        self._share.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        for watch in self._watches.values():
            watch.end()
        await self._reader.close()

    def watch(self, key: str, group_id: str, topics: Iterable[str], settings: bool = False) -> None:
        """Observe a group under `key`, at once and then on schedule; with `settings`, its own settings too.

        The same call again changes nothing; what was seen is kept when only `settings` changes.
        """
        wanted = frozenset(topics)
        self._share.begin(key, group_id)
        known = self._watches.get(key)
        if known is None or (known.group_id, known.topics) != (group_id, wanted):
            if known is not None:
                known.end()
            number = next(self._numbers) if known is None else known.number
            in_motion, remembered = known is not None and known.in_motion, Remembered(key.partition("/")[0])
            self._watches[key] = Watch(group_id, wanted, settings, in_motion, number=number, remembered=remembered)
            self._sort_in(key)
        elif known.settings != settings:
            known.settings = settings
        else:
            return
        self._ask_for(key)

    def unwatch(self, key: str) -> None:
        """Forget the group, with its history. Callers that wait for it get NotWatched."""
        if (watch := self._watches.pop(key, None)) is not None:
            watch.end()
        self._sort_in(key)
        self._share.end(key)
        self._wanted.discard(key)
        self._settle(self._waiting.pop(key, []), NotWatched(key))

    def set_motion(self, key: str, in_motion: bool) -> None:
        """Look at the group often, or seldom."""
        watch = self._watches[key]
        if in_motion and not watch.in_motion:
            self._ask_for(key)
        if watch.in_motion is not in_motion:
            watch.in_motion = in_motion
            self._sort_in(key)

    def look_soon(self, key: str) -> None:
        """Observe the group in the next pass, and have that pass at once."""
        self._ask_for(key)

    def latest(self, key: str) -> tuple[KafkaView, GroupHistory] | None:
        """The newest view and history; None before the first pass, and for keys that are not watched."""
        watch = self._watches.get(key)
        return None if watch is None or watch.view is None else (watch.view, watch.history)

    async def observe_now(self, key: str) -> KafkaView:
        """Wait for a view whose requests began after this call; callers share passes.

        Raises NotWatched and ObserverStopped.
        """
        if key not in self._watches:
            raise NotWatched(key)
        if self.task is None or self.task.done():
            raise ObserverStopped("the observer does not run")
        future: asyncio.Future[KafkaView] = asyncio.get_running_loop().create_future()
        self._waiting[key].append(future)
        self._ask_for(key)
        return await future

    def _tell_all(self) -> None:
        for key in list(self._watches):
            self._on_change(key)

    def _sort_in(self, key: str) -> None:
        """After each change of a watch."""
        watch = self._watches.get(key)
        self.unseen.keep(key, None if watch is None else watch.view)
        if watch is not None and watch.is_hurried:
            self._hurried.add(key)
        else:
            self._hurried.discard(key)

    def _ask_for(self, key: str) -> None:
        self._wanted.add(key)
        self._wake.set()

    async def _run(self) -> None:
        try:
            while True:
                await self._pause()
                await self._pass(self._take_due())
        except Exception:
            _log.exception("observer_failed")
            raise
        finally:
            for waiting in self._waiting.values():
                self._settle(waiting, ObserverStopped("the observer has ended"))
            self._waiting.clear()

    async def _pause(self) -> None:
        """Sleep until something is due or asked for."""
        due_at = min(self._rest_due_at, self._moving_due_at) if self._hurried else self._rest_due_at
        try:
            async with asyncio.timeout_at(due_at if self._watches else None):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()

    def _take_due(self) -> Collection[str]:
        now = asyncio.get_running_loop().time()
        due = {key for key in self._wanted if key in self._watches}
        self._wanted.clear()
        if now >= self._moving_due_at:
            self._moving_due_at = now + self._moving_interval_s
            due |= self._hurried
        if now >= self._rest_due_at:
            self._rest_due_at = now + self._rest_interval_s
            due.update(self._watches)
        return sorted(due, key=lambda key: self._watches[key].number)  # who came first is looked at first

    async def _pass(self, keys: Collection[str]) -> None:
        if not keys:
            return
        watches = {key: self._watches[key] for key in keys}
        waiting = {key: self._waiting.pop(key) for key in keys if key in self._waiting}
        topics: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
        for watch in watches.values():
            topics[watch.group_id] |= watch.asked
        settings_of = {watch.group_id for watch in watches.values() if watch.settings}
        try:
            views = await self._reader.observe(topics, settings_of)
            weight = sum(_weight(views[watch.group_id]) + watch.weight for watch in watches.values())
            folded = await apart(weight, lambda: {k: each.folded(views[each.group_id]) for k, each in watches.items()})
        except BaseException:
            for key, futures in waiting.items():  # so that whoever waits learns that the task ends
                self._waiting[key] += futures
            raise
        for key in self._fold(watches, folded, waiting):
            self._on_change(key)

    def _fold(
        self,
        watches: Mapping[str, Watch],
        folded: Mapping[str, Folded],
        waiting: Mapping[str, list[asyncio.Future[KafkaView]]],
    ) -> list[str]:
        """Take the views in and wake who waited for them; returns the keys to be told about."""
        changed = []
        for key, watch in watches.items():
            if self._watches.get(key) is not watch:  # unwatched, or to be looked at again in the next pass
                self._settle_later(key, waiting.get(key, []))
                continue
            before = watch.asked
            if watch.take(folded[key]) or watch.in_motion:
                changed.append(key)
            self._sort_in(key)
            if watch.asked != before:
                self._ask_for(key)
            self._settle(waiting.get(key, []), watch.view)
        return changed

    def _settle_later(self, key: str, waiting: list[asyncio.Future[KafkaView]]) -> None:
        if key in self._watches:
            self._waiting[key] += waiting
        else:
            self._settle(waiting, NotWatched(key))

    @staticmethod
    def _settle(waiting: Iterable[asyncio.Future[KafkaView]], outcome: KafkaView | Exception | None) -> None:
        for future in waiting:
            if future.done():  # its caller was cancelled
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            elif outcome is not None:
                future.set_result(outcome)


def _weight(view: KafkaView) -> int:
    """In partitions."""
    return 1 + len(view.partitions) + len(view.members) if isinstance(view, GroupObservation) else 1
