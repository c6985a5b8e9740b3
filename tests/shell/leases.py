"""One Lease in an API server in memory: optimistic locks as the real one's, and failures as a test says."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

from slackwater.adapters.cluster.errors import ClusterUnreachable, Conflict
from slackwater.ports import Kind
from slackwater.shell.store import Key

Json = dict[str, Any]
T = TypeVar("T")
LEASE_KEY = Key("slackwater-system", "slackwater")


@dataclass
class Leases:
    """What is sent to it is done after `latency_s`, and answered after as long again."""

    lease: Json | None = None
    latency_s: float = 0.0
    hangs: bool = False
    failure: Exception | None = None
    """What each request fails with, while it is set."""
    no_creation: Exception | None = None
    """What a Lease that is to be made fails with."""
    writes: list[str] = field(default_factory=list)
    """Who was said to hold it by each write that was done."""
    _version: int = 0
    _made: int = 0

    def held_by(self, holder: str, **spec: Any) -> None:
        """As somebody else writes it."""
        self._store({"holderIdentity": holder, "leaseDurationSeconds": 15, **spec})

    @property
    def holder(self) -> str:
        assert self.lease is not None
        return str(self.lease["spec"].get("holderIdentity") or "")

    async def read(self, kind: Kind, namespace: str, name: str) -> Json | None:
        await self._travel()
        found = deepcopy(self.lease)
        await self._travel()
        return found

    async def create(self, kind: Kind, namespace: str, body: Mapping[str, Any]) -> Json:
        await self._travel()
        if self.no_creation is not None:
            raise self.no_creation
        if self.lease is not None:
            raise Conflict("it is there already")
        self._store(body["spec"])
        await self._travel()
        return {}

    async def apply(self, manifest: Mapping[str, Any], resource_version: str = "", *, force: bool = True) -> Json:
        await self._travel()
        if self.lease is None or self.lease["metadata"]["resourceVersion"] != resource_version:
            raise Conflict("it has changed")
        self._store(manifest["spec"])
        await self._travel()
        return {}

    async def _travel(self) -> None:
        if self.hangs:
            await asyncio.Event().wait()
        if self.failure is not None:
            raise self.failure
        await asyncio.sleep(self.latency_s)

    def _store(self, spec: Mapping[str, Any]) -> None:
        self._version += 1
        self._made += self.lease is None
        uid = f"uid-{self._made}"
        metadata = {"namespace": LEASE_KEY.namespace, "name": LEASE_KEY.name, "uid": uid}
        self.lease = {"metadata": metadata | {"resourceVersion": str(self._version)}, "spec": deepcopy(dict(spec))}
        self.writes.append(self.holder)


@dataclass
class Unruly(Leases):
    """Requests and answers are delayed and lost as the dice have it, each way by itself. A request goes its way though
    nobody waits for it any more."""

    dice: Random = field(default_factory=Random)
    losing: float = 0.1
    slowest_s: float = 5.0
    _sent: set[asyncio.Future[Any]] = field(default_factory=set)

    async def read(self, kind: Kind, namespace: str, name: str) -> Json | None:
        return await self._send(super().read(kind, namespace, name))

    async def create(self, kind: Kind, namespace: str, body: Mapping[str, Any]) -> Json:
        return await self._send(super().create(kind, namespace, body))

    async def apply(self, manifest: Mapping[str, Any], resource_version: str = "", *, force: bool = True) -> Json:
        return await self._send(super().apply(manifest, resource_version, force=force))

    async def _send(self, request: Coroutine[Any, Any, T]) -> T:
        sent = asyncio.ensure_future(request)
        self._sent.add(sent)
        sent.add_done_callback(self._forget)
        return await asyncio.shield(sent)

    def _forget(self, sent: asyncio.Future[Any]) -> None:
        self._sent.discard(sent)
        if not sent.cancelled():
            sent.exception()

    async def _travel(self) -> None:
        await asyncio.sleep(self.dice.random() ** 6 * self.slowest_s)
        if self.dice.random() < self.losing:
            raise ClusterUnreachable("lost on the way")
