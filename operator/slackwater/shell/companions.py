"""The headless Service and the PodDisruptionBudget of a group: made with it, and put right when they change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from slackwater.adapters.cluster.errors import ClusterRefused, Conflict
from slackwater.adapters.cluster.paths import APPLIED, POD_DISRUPTION_BUDGET, SERVICE
from slackwater.adapters.cluster.translation import controller_uid
from slackwater.api.resources import ConsumerGroup
from slackwater.core.manifests.drift import holds
from slackwater.core.manifests.objects import disruption_budget, headless_service
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.world import World
from slackwater.ports import Cluster, Kind
from slackwater.shell.elapsed import elapsed_s
from slackwater.shell.store import Key, Store

TRIED_AGAIN_S: Final = 600.0
"""Somebody else's Service may go one day."""


class _Accepted(NamedTuple):
    """An object as it is, that was judged or written by a group's spec as that is."""

    version: str
    uid: str
    generation: int
    """Both of the group; a change of its spec makes another one."""

    @classmethod
    def of(cls, obj: Mapping[str, Any], group: ConsumerGroup) -> _Accepted:
        return cls(obj["metadata"]["resourceVersion"], group.metadata.uid, group.metadata.generation)


class Companions:
    """Applies what is missing or was changed, once for each version that is found: a No of `holds` may be wrong. Nor is
    a Yes asked for again while neither the object nor the group's spec has changed."""

    def __init__(self, api: Cluster, store: Store) -> None:
        self._api = api
        self._store = store
        self._accepted: dict[tuple[Kind, Key], _Accepted] = {}
        self._left_at: dict[Key, float] = {}

    async def put_right(self, key: Key, world: World) -> None:
        """Moves no pod. Raises ClusterFailed; ClusterRefused where somebody else's object has the name.

        Not so for the Service of a group that runs, or has: an adopted StatefulSet has one, which stays whose it is.
        """
        group, workload = world.group, world.workload
        if workload is not None and workload.owner_uid != group.metadata.uid:
            return
        await self._take_budget_away(key, world)
        wanted = [headless_service(group)]
        wanted += [disruption_budget(group)] if group.spec.disruption_budget.enabled else []
        for manifest in wanted:
            kind = APPLIED[manifest["kind"]]
            live = self._store.get(kind, key)
            if live is not None and self._is_right(kind, key, live, manifest, group):
                continue
            if kind is SERVICE and live is None and self._is_left(key, world.now):
                continue
            try:
                written = await self._api.apply(manifest, force=live is not None)
            except Conflict as error:  # what the store does not show has not our label, and is not ours to take over
                if kind is SERVICE and (workload is not None or world.memory.phase is not RolloutPhase.NONE):
                    self._left_at[key] = world.now
                    continue
                raise ClusterRefused(_in_the_way(kind, key)) from error
            self._accepted[kind, key] = _Accepted.of(written, group)
            self._store.put(kind, {"apiVersion": kind.api_version, "kind": kind.name, **written})

    async def _take_budget_away(self, key: Key, world: World) -> None:
        """People want to have their own: Kubernetes evicts no pod that two budgets select."""
        live = self._store.get(POD_DISRUPTION_BUDGET, key)
        uid = world.group.metadata.uid
        if world.group.spec.disruption_budget.enabled or live is None or controller_uid(live) != uid:
            return
        await self._api.delete(POD_DISRUPTION_BUDGET, key.namespace, key.name, live["metadata"]["uid"])
        self._store.drop(POD_DISRUPTION_BUDGET, live)

    def _is_right(
        self, kind: Kind, key: Key, live: Mapping[str, Any], manifest: Mapping[str, Any], group: ConsumerGroup
    ) -> bool:
        found = _Accepted.of(live, group)
        if self._accepted.get((kind, key)) != found and holds(live, manifest):
            self._accepted[kind, key] = found
        return self._accepted.get((kind, key)) == found

    def _is_left(self, key: Key, now: float) -> bool:
        """Somebody else's Service has the name, and was found a moment ago."""
        return elapsed_s(self._left_at.get(key, -math.inf), now) < TRIED_AGAIN_S

    def forget(self, key: Key) -> None:
        for kind in (SERVICE, POD_DISRUPTION_BUDGET):
            self._accepted.pop((kind, key), None)
        self._left_at.pop(key, None)


def _in_the_way(kind: Kind, key: Key) -> str:
    return f"{kind.name} {key.name} is there already and not ours: delete it, or name this group otherwise"
