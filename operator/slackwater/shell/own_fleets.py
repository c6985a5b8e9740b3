"""The ConsumerFleets and FleetCampaigns of the operator's own namespace, where it works in some namespaces and that is
none of them.

Kopf watches every kind in each of its namespaces or none, and the operator has no right to the pods of its own: so
these few are listed again and again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Final

import structlog

from slackwater.adapters.cluster.errors import ClusterFailed, ClusterUnreachable, KindMissing
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, FLEET_CAMPAIGN
from slackwater.ports import Cluster
from slackwater.shell.store import Store

AT_FIRST_AGAIN_S: Final = 2.0
AGAIN_S: Final = 10.0
"""A freeze holds that much later at most."""

_log = structlog.get_logger(__name__)


class OwnFleets:
    """`namespace`: the operator's own; `watched`: those whose fleets kopf brings."""

    def __init__(self, api: Cluster, store: Store, namespace: str, watched: Collection[str]) -> None:
        self._api = api
        self._store = store
        self._namespace = namespace
        self._watched = watched
        self._failed = ""

    async def follow(self) -> None:
        while True:
            await asyncio.sleep(AGAIN_S)
            await self.list_once()

    async def list_at_first(self) -> None:
        """Until they have been read: nobody may begin because fleets are not known. Without their CRD there are none.
        Raises ClusterRefused where they may not be read."""
        while True:
            try:
                return await self._list()
            except ClusterUnreachable as error:
                self._warn(error)
                await asyncio.sleep(AT_FIRST_AGAIN_S)
            except KindMissing as error:
                return self._warn(error)

    async def list_once(self) -> None:
        """What cannot be listed stays as it was: a fleet that is known goes on to limit its groups."""
        try:
            await self._list()
        except ClusterFailed as error:
            self._warn(error)

    async def _list(self) -> None:
        for kind in (CONSUMER_FLEET, FLEET_CAMPAIGN):
            listed, version = await self._api.list_all(kind, self._namespace)
            self._store.replace(kind, listed, version, self._watched)
        self._failed = ""

    def _warn(self, error: ClusterFailed) -> None:
        if str(error) != self._failed:
            _log.warning("own_fleets_not_listed", namespace=self._namespace, error=str(error))
        self._failed = str(error)
