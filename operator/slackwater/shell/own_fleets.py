"""The ConsumerFleets and FleetCampaigns of the operator's own namespace, where it works in some namespaces and that is
none of them.

Kopf watches every kind in each of its namespaces or none, and the operator has no right to the pods of its own: so
these few are listed again and again. Where they may not be read, nothing new begins in any namespace: there may be one
that reaches there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Final

import structlog

from slackwater.adapters.cluster.errors import ClusterFailed, ClusterUnreachable, Forbidden, KindMissing
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, FLEET_CAMPAIGN
from slackwater.ports import Cluster, Kind
from slackwater.shell.listing import take_in
from slackwater.shell.store import Store

KINDS: Final = (CONSUMER_FLEET, FLEET_CAMPAIGN)
AT_FIRST_AGAIN_S: Final = 2.0
AGAIN_S: Final = 10.0
"""A freeze holds that much later at most."""

Listed = Callable[[Kind, Collection[str], Collection[str]], None]
"""Called with a kind, namespaces of which all objects are in the store, and those of them that may not be read."""

_log = structlog.get_logger(__name__)


class OwnFleets:
    """`namespace`: the operator's own; `watched`: those whose fleets kopf brings."""

    def __init__(self, api: Cluster, store: Store, namespace: str, watched: Collection[str], listed: Listed) -> None:
        self._api = api
        self._store = store
        self._namespace = namespace
        self._watched = watched
        self._listed = listed
        self._failed: dict[Kind, str] = {}

    async def follow(self) -> None:
        while True:
            await asyncio.sleep(AGAIN_S)
            await self.list_once()

    async def list_at_first(self) -> None:
        """Until it is known which there are, or that they may not be read. Without their CRD there are none. Raises
        ClusterRefused where the operator may ask nothing at all."""
        for kind in KINDS:
            while True:
                if await self._is_listed(kind):
                    break
                await asyncio.sleep(AT_FIRST_AGAIN_S)

    async def list_once(self) -> None:
        """What cannot be listed stays as it was: a fleet that is known goes on to limit its groups."""
        for kind in KINDS:
            try:
                await self._is_listed(kind)
            except ClusterFailed as error:
                self._warn(kind, error)

    async def _is_listed(self, kind: Kind) -> bool:
        """False where the API server did not say. Raises ClusterRefused."""
        try:
            listed, version = await self._api.list_all(kind, self._namespace)
        except ClusterUnreachable as error:
            self._warn(kind, error)
            return False
        except (Forbidden, KindMissing) as error:
            self._warn(kind, error)
            self._listed(kind, [self._namespace], [self._namespace] if isinstance(error, Forbidden) else [])
            return True
        await take_in(self._store, kind, listed, version, self._watched)
        self._listed(kind, [self._namespace], [])
        self._failed.pop(kind, None)
        return True

    def _warn(self, kind: Kind, error: ClusterFailed) -> None:
        if str(error) != self._failed.get(kind):
            _log.warning("own_fleets_not_listed", kind=kind.name, namespace=self._namespace, error=str(error))
        self._failed[kind] = str(error)
