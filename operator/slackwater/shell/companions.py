"""The headless Service and the PodDisruptionBudget of a group: made with it, and put right when they change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterRefused, Conflict
from slackwater.adapters.cluster.paths import APPLIED, Kind
from slackwater.api.resources import ConsumerGroup
from slackwater.core.drift import holds
from slackwater.core.manifests import disruption_budget, headless_service
from slackwater.shell.store import Key, Store


class Companions:
    """Applies what is missing or was changed, once for each version that is found: a No of `holds` may be wrong."""

    def __init__(self, api: KubernetesApi, store: Store) -> None:
        self._api = api
        self._store = store
        self._accepted: dict[tuple[Kind, Key], str] = {}

    async def put_right(self, key: Key, group: ConsumerGroup) -> None:
        """Moves no pod. Raises ClusterFailed; ClusterRefused where somebody else's object has the name."""
        for manifest in (headless_service(group), disruption_budget(group)):
            kind = APPLIED[manifest["kind"]]
            live = self._store.get(kind, key)
            if live is None or not self._is_right(kind, key, live, manifest):
                written = await self._apply(kind, key, manifest, known=live is not None)
                self._accepted[kind, key] = written["metadata"]["resourceVersion"]
                self._store.put(kind, {"apiVersion": kind.api_version, "kind": kind.name, **written})

    async def _apply(self, kind: Kind, key: Key, manifest: Mapping[str, Any], *, known: bool) -> Mapping[str, Any]:
        """What the store does not show may still be there without our label, and then it is not ours to take over."""
        try:
            return await self._api.apply(manifest, force=known)
        except Conflict as error:
            message = f"{kind.name} {key.name} is there already and not ours: delete it, or name this group otherwise"
            raise ClusterRefused(message) from error

    def _is_right(self, kind: Kind, key: Key, live: Mapping[str, Any], manifest: Mapping[str, Any]) -> bool:
        accepted = self._accepted.get((kind, key)) == live["metadata"]["resourceVersion"]
        return accepted or holds(live, manifest)

    def forget(self, key: Key) -> None:
        self._accepted = {known: version for known, version in self._accepted.items() if known[1] != key}
