"""Pods' readiness gates: what is known of each is written into its status.

A broker may say at each look that all pods have left the group, and at the next that they are back. So a pod has a few
writes of its own, and comes seldom after that, with what is due by then: nothing in between is made up for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from slackwater.adapters.cluster.paths import POD
from slackwater.core.members.rejoined import Mark, marks_due
from slackwater.core.world.world import World
from slackwater.ports import Cluster
from slackwater.shell.acting import write_mark
from slackwater.shell.bucket import Bucket
from slackwater.shell.store import Key, Store

A_PASS: Final = 20
AT_ONCE: Final = 4
AGAIN_S: Final = 300.0
"""Each pod has so many writes at once, then one in five minutes: it joins once, and a consumer that crashes twice is
out and in twice. However many pods flap, each says what is so within that time."""
OF_A_GROUP_AT_ONCE: Final = 40
OF_A_GROUP_AGAIN_S: Final = 3.0
"""So many more are for whichever of a group's pods need them, then twenty a minute, as of Events."""


class Marks:
    """By group. A write that fails, or that another pod of the name refuses, costs nothing: it is tried again."""

    def __init__(self, api: Cluster, store: Store, now: Callable[[], float]) -> None:
        self._api = api
        self._store = store
        self._now = now
        self._of_pods: dict[Key, dict[str, Bucket]] = {}
        """By uid; only of pods that were marked."""
        self._of_groups: dict[Key, Bucket] = {}
        self._written: set[Key] = set()
        self._again_s: dict[Key, float] = {}

    async def put_right(self, key: Key, world: World) -> None:
        """A few a pass: what is to be done about the group waits for them. Raises ClusterFailed, and Conflict."""
        self._again_s.pop(key, None)
        due = marks_due(world)
        if not due:
            return
        self._forget_pods_but(key, {pod.uid for pod in world.all_pods})
        written = 0
        for mark in due:
            if written == A_PASS:
                return
            if wait_s := self._wait_s(key, mark):
                self._again_s[key] = min(wait_s, self._again_s.get(key, wait_s))
                continue
            self._store.put(POD, await write_mark(self._api, world, mark))
            self._count(key, mark)
            self._written.add(key)
            written += 1

    def were_written(self, key: Key) -> bool:
        """In this pass: there may be more, and what an answer shows beside the mark, no watch tells again."""
        found = key in self._written
        self._written.discard(key)
        return found

    def again_s(self, key: Key) -> float:
        """In how many seconds the next one may be written; for ever where none waits."""
        return self._again_s.get(key, float("inf"))

    def forget(self, key: Key) -> None:
        self._of_pods.pop(key, None)
        self._of_groups.pop(key, None)
        self._written.discard(key)
        self._again_s.pop(key, None)

    def _wait_s(self, key: Key, mark: Mark) -> float:
        return min(bucket.in_s(self._now()) for bucket in self._buckets(key, mark))

    def _count(self, key: Key, mark: Mark) -> None:
        own, of_group = self._buckets(key, mark)
        if not own.take(self._now()):
            of_group.take(self._now())

    def _buckets(self, key: Key, mark: Mark) -> tuple[Bucket, Bucket]:
        """The pod's own comes first."""
        now, pods = self._now(), self._of_pods.setdefault(key, {})
        own = pods.setdefault(mark.pod.uid, Bucket(AT_ONCE, AGAIN_S, now))
        return own, self._of_groups.setdefault(key, Bucket(OF_A_GROUP_AT_ONCE, OF_A_GROUP_AGAIN_S, now))

    def _forget_pods_but(self, key: Key, uids: set[str]) -> None:
        known = self._of_pods.get(key, {})
        for gone in known.keys() - uids:
            del known[gone]
