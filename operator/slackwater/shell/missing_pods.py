"""Why pods are missing: the StatefulSet controller says it in Events, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import structlog

from slackwater.adapters.cluster.errors import ClusterFailed
from slackwater.adapters.cluster.translation import not_made
from slackwater.core.world.pods import NotMade
from slackwater.core.world.world import World
from slackwater.ports import Cluster
from slackwater.shell.store import Key

ASKED_AFTER_S: Final = 3.0
"""Every restart leaves its pod missing for a moment."""
ASKED_AGAIN_S: Final = 5.0

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Missing:
    since: float
    asked_at: float | None = None
    said: Mapping[str, NotMade] = field(default_factory=dict)


class MissingPods:
    """Asks only while a pod of a group has been missing for a while, and every few seconds at most."""

    def __init__(self, api: Cluster, now: Callable[[], float]) -> None:
        self._api = api
        self._now = now
        self._missing: dict[Key, _Missing] = {}

    async def why(self, key: Key, world: World) -> Mapping[str, NotMade]:
        """By the names of pods. Empty where Events cannot be read: nothing is known then."""
        if not world.sets or all(world.pod(ordinal) is not None for ordinal in range(world.replicas)):
            self.forget(key)
            return {}
        now = self._now()
        missing = self._missing.setdefault(key, _Missing(now))
        if now - missing.since >= ASKED_AFTER_S and now - (missing.asked_at or 0.0) >= ASKED_AGAIN_S:
            missing.asked_at = now
            missing.said = await self._ask(key, world)
        return missing.said

    async def _ask(self, key: Key, world: World) -> Mapping[str, NotMade]:
        try:
            events = [
                event
                for workload in world.sets
                for event in await self._api.events_of(key.namespace, workload.uid, "FailedCreate")
            ]
        except ClusterFailed as error:  # no reason to leave the group alone
            _log.warning("events_not_read", group=str(key), error=str(error))
            return {}
        return not_made(events)

    def forget(self, key: Key) -> None:
        self._missing.pop(key, None)
