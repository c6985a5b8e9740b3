"""Wakes the controller of a StatefulSet that has made no pod for a while where one is missing.

Any write to the object does; ours is an annotation with the time. What has been missing is known since this process has
seen it: after a restart of the operator it waits as long once more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import structlog

from slackwater.adapters.cluster.errors import ClusterFailed
from slackwater.adapters.cluster.paths import STATEFUL_SET
from slackwater.api.annotations import WOKEN_AT
from slackwater.api.timestamps import timestamp
from slackwater.core.rollout.unmade import find_unmade
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World
from slackwater.ports import Cluster
from slackwater.shell.elapsed import earlier, elapsed_s
from slackwater.shell.store import Key, Store

MISSING_FOR_S: Final = 30.0
"""Each restart leaves its pod missing for a moment, and in the first half minute the controller tries a dozen times."""
AGAIN_S: Final = 60.0
"""Where it still cannot make it, as with a quota that is full, it says why in an Event once more."""

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Missed:
    since: dict[str, float] = field(default_factory=dict)
    """By the names of pods."""
    woken_at: dict[str, float] = field(default_factory=dict)
    """By the uids of StatefulSets."""
    again_s: float = 0.0


class Waking:
    """By group. Writes nothing for one whose pods are all there."""

    def __init__(self, api: Cluster, store: Store, now: Callable[[], float]) -> None:
        self._api = api
        self._store = store
        self._now = now
        self._missed: dict[Key, _Missed] = {}

    async def put_right(self, key: Key, world: World) -> None:
        """Each StatefulSet once a minute at most. A write that fails holds nothing up: it is tried a minute later."""
        unmade, now = find_unmade(world), self._now()
        if not unmade:
            self.forget(key)
            return
        missed = self._missed.setdefault(key, _Missed())
        missed.since = {name: earlier(missed.since.get(name), now) for name in unmade}
        missed.again_s = AGAIN_S
        for workload in {each.uid: each for each in unmade.values()}.values():
            names = [name for name, of in unmade.items() if of.uid == workload.uid]
            if (wait_s := _wait_s(missed, names, workload.uid, now)) > 0.0:
                missed.again_s = min(missed.again_s, wait_s)
                continue
            missed.woken_at[workload.uid] = now
            await self._wake(key, workload, now)

    def again_s(self, key: Key) -> float:
        """In how many seconds the next one may be due; for ever where no pod is missing."""
        missed = self._missed.get(key)
        return float("inf") if missed is None else missed.again_s

    def forget(self, key: Key) -> None:
        self._missed.pop(key, None)

    async def _wake(self, key: Key, workload: Workload, now: float) -> None:
        place = {"namespace": key.namespace, "name": workload.name, "uid": workload.uid}
        try:
            written = await self._api.annotate(STATEFUL_SET, {"metadata": place}, {WOKEN_AT: timestamp(int(now))})
        except ClusterFailed as error:
            _log.warning("stateful_set_not_woken", group=str(key), stateful_set=workload.name, error=str(error))
            return
        _log.info("stateful_set_woken", group=str(key), stateful_set=workload.name)
        if written is not None:
            self._store.put(STATEFUL_SET, written)


def _wait_s(missed: _Missed, names: Iterable[str], uid: str, now: float) -> float:
    missing_s = max(elapsed_s(missed.since[name], now) for name in names)
    woken_s = elapsed_s(missed.woken_at.get(uid, -math.inf), now)
    return max(MISSING_FOR_S - missing_s, AGAIN_S - woken_s)
