"""What only Events say of pods: why one is missing (its controller says it), why one is not started (its node does).

Of one controller's refusal there is no Event: that somebody else has a pod of that name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import structlog

from slackwater.adapters.cluster.errors import ClusterFailed
from slackwater.adapters.cluster.paths import POD
from slackwater.adapters.cluster.translation import controller_uid, last_message, not_made
from slackwater.core.world.pods import NotMade, Pod
from slackwater.core.world.world import World
from slackwater.ports import Cluster, Json
from slackwater.shell.elapsed import elapsed_s
from slackwater.shell.store import Key

ASKED_AFTER_S: Final = 3.0
"""Every restart leaves its pod missing for a moment, and then not started."""
ASKED_AGAIN_S: Final = 5.0
MOST_PODS: Final = 5
"""Each takes a request."""
REPEATED_WITHIN_S: Final = 180.0
"""A node says every two minutes what still keeps a pod; what it has not repeated is over."""
NOT_MOUNTED: Final = "FailedMount"
"""A ConfigMap or Secret is missing, or a volume cannot be had: the pod's own status says nothing of it."""

NAME_TAKEN: Final = (
    "there is a pod of that name which is not the StatefulSet's: delete it, or give it back the labels that it had"
)

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Asked:
    since: float
    asked_at: float | None = None
    not_made: Mapping[str, NotMade] = field(default_factory=dict)
    not_mounted: Mapping[str, str] = field(default_factory=dict)
    """By the uids of pods."""
    turn: int = 0


class PodEvents:
    """Asks only while a pod of a group has been missing or not started for a while, and every few seconds at most."""

    def __init__(self, api: Cluster, now: Callable[[], float]) -> None:
        self._api = api
        self._now = now
        self._asked: dict[Key, _Asked] = {}

    async def explain(self, key: Key, world: World) -> World:
        """The world with what they say. As it is where Events cannot be read: nothing more is known then."""
        if not world.sets or not (_lacks_a_pod(world) or any(map(_is_not_started, world.all_pods))):
            self.forget(key)
            return world
        now = self._now()
        asked = self._asked.setdefault(key, _Asked(now))
        if elapsed_s(asked.since, now) >= ASKED_AFTER_S and elapsed_s(asked.asked_at or 0.0, now) >= ASKED_AGAIN_S:
            asked.asked_at = now
            await self._ask(key, world, asked)
        if not asked.not_made and not asked.not_mounted:
            return world
        pods = tuple(_with_reason(pod, asked.not_mounted) for pod in world.all_pods)
        return replace(world, not_made=asked.not_made, all_pods=pods)

    async def _ask(self, key: Key, world: World, asked: _Asked) -> None:
        """Of many that are not started a few at a time: they wait for the same, as a rule."""
        sets = (each.uid for each in world.sets) if _lacks_a_pod(world) else ()
        waiting = [pod.uid for pod in world.all_pods if _is_not_started(pod)]
        first = asked.turn % max(1, len(waiting))
        pods, asked.turn = (waiting + waiting)[first : first + min(MOST_PODS, len(waiting))], first + MOST_PODS
        try:
            failed = [event for uid in sets for event in await self._events(key, uid, "FailedCreate")]
            lately = self._now() - REPEATED_WITHIN_S
            taken = await self._taken(key, world, not_made(failed))
            said = {uid: last_message(await self._events(key, uid, NOT_MOUNTED), lately) for uid in pods}
        except ClusterFailed as error:  # no reason to leave the group alone
            _log.warning("events_not_read", group=str(key), error=str(error))
            asked.not_made, asked.not_mounted = {}, {}
            return
        kept = {uid: message for uid, message in asked.not_mounted.items() if uid in waiting and uid not in said}
        asked.not_made = {**not_made(failed), **taken}
        asked.not_mounted = kept | {uid: message for uid, message in said.items() if message}

    async def _taken(self, key: Key, world: World, known: Mapping[str, NotMade]) -> dict[str, NotMade]:
        """Pods that are missing, and of whose names somebody else has one; of those for which no reason is known."""
        missing = (ordinal for ordinal in range(world.replicas) if world.pod(ordinal) is None)
        names = [name for name in map(world.pod_name, missing) if name not in known][:MOST_PODS]
        try:
            found = [(name, await self._api.read(POD, key.namespace, name)) for name in names]
        except ClusterFailed as error:
            _log.warning("pods_not_read", group=str(key), error=str(error))
            return {}
        ours, now = {each.uid for each in world.sets}, self._now()
        taken = (name for name, pod in found if pod and controller_uid(pod) not in ours and not _is_ending(pod))
        return dict.fromkeys(taken, NotMade(NAME_TAKEN, now))

    async def _events(self, key: Key, uid: str, reason: str) -> Iterable[Json]:
        return await self._api.events_of(key.namespace, uid, reason)

    def forget(self, key: Key) -> None:
        self._asked.pop(key, None)


def _is_ending(pod: Json) -> bool:
    """It is one of a StatefulSet that was deleted, say: the name will be free."""
    return "deletionTimestamp" in pod["metadata"]


def _lacks_a_pod(world: World) -> bool:
    return any(world.pod(ordinal) is None for ordinal in range(world.replicas))


def _is_not_started(pod: Pod) -> bool:
    """A node has it, and has not begun with its containers: it would have an address. Its status does not say why."""
    untold = not pod.waiting and not pod.terminating and not pod.has_run
    return untold and pod.scheduled_at is not None and pod.address in ("", pod.node_address)


def _with_reason(pod: Pod, not_mounted: Mapping[str, str]) -> Pod:
    message = not_mounted.get(pod.uid) if _is_not_started(pod) else None
    return pod if message is None else replace(pod, waiting=NOT_MOUNTED, waiting_message=message)
