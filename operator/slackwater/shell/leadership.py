"""Which replica acts: the one that holds a Lease, by its own clock, and not a moment longer.

`before_write` stands before each request that changes Kubernetes or Kafka, and gives one to Kubernetes no longer than
there is left. What it cannot hold back is a request that has left already: of a process that was stopped right then, or
that the network delays. What protects there: a StatefulSet, a group's status and its finalizer are written on exactly
the version that was decided about; a pod or a StatefulSet is deleted by its uid; a member is removed by its member id;
a group's settings, its Service and its PodDisruptionBudget are written as they should be, and the next leader puts them
right. Events are for people to read. A StatefulSet that is made for the first time has no version to go by.

Not by `kubernetes.aio`'s LeaderElection: docs/adr/0010.
"""

from __future__ import annotations

import asyncio
import math
import socket
import time
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NoReturn

import structlog

from slackwater.adapters.cluster.errors import ClusterFailed, ClusterUnreachable, Conflict, Forbidden, WebhookFailed
from slackwater.adapters.cluster.paths import LEASE
from slackwater.api.errors import SlackwaterError
from slackwater.api.timestamps import format_timestamp
from slackwater.ports import Cluster
from slackwater.shell.store import Key

Json = Mapping[str, Any]

UNKNOWN: Final = "unknown"
"""Who holds a Lease that was missing: its leader may still be at work, so it is waited for as for any other."""
MISSING: Final = "nobody: it is missing"
LONGEST_LEASE_S: Final = 600
"""No replica is set to more, and no Lease is believed for longer: whoever writes one stops nobody for years by that."""
RELEASE_WITHIN_S: Final = 1.0
"""Kopf gives everything at the end 5 s."""
_MARGIN, _PERIOD, _PATIENCE = 1 / 5, 1 / 5, 1 / 4
"""Of the Lease's duration: how long before its end the holder no longer acts; how often it is looked at; how long a
look may take."""

_HOW_TO_MAKE_IT: Final = "somebody has deleted it, and no replica acts: helm upgrade the release, which makes it"

_log = structlog.get_logger(__name__)


class NotLeading(SlackwaterError):
    """This replica must not act, or no longer can."""


def seconds_since_boot() -> float:
    """No clock that is set, and one that goes on while the machine is suspended, where there is such a one."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def own_identity(name: str) -> str:
    """Of this process: one that is started again in the same place is another one."""
    return f"{name or socket.gethostname()}_{uuid.uuid4().hex[:8]}"


class Leadership:
    """One replica's claim to a Lease. `api` is one of its own, whose writes nobody holds back, nor makes wait."""

    def __init__(
        self,
        api: Cluster,
        lease: Key,
        lease_s: int,
        identity: str,
        now: Callable[[], float] = seconds_since_boot,
    ) -> None:
        self.identity = identity
        self._api = api
        self._lease = lease
        self._lease_s = lease_s
        self._now = now
        self._until = -math.inf
        """Nobody else takes the Lease before this moment, and a margin."""
        self._seen = ("", 0.0)
        """The newest version of the Lease, and since when it has been the newest."""
        self._missed = False
        """It was said that there is none, and that it cannot be made."""
        self._uid = ""
        """Of the Lease that was seen last."""
        self._made_again = False
        """The one before was deleted: who held that may still be at work, and its successor does not say so."""

    def seconds_left(self) -> float:
        """For which this replica may act, unless it renews the Lease; 0 when it may not."""
        return max(0.0, self._until - self._now())

    def before_write(self) -> float:
        """Within how many seconds a write has to be done. Raises NotLeading."""
        left_s = self.seconds_left()
        if left_s == 0.0:
            raise NotLeading(
                f"nothing is written: this replica ({self.identity}) does not hold Lease {self._lease} now"
            )
        return left_s

    async def acquire(self) -> None:
        """Wait until this replica holds the Lease. Raises ClusterRefused without the right to."""
        waits_for = ""
        while True:
            try:
                async with asyncio.timeout(self._lease_s * _PATIENCE):
                    holder = await self._stand()
            except (ClusterUnreachable, Conflict, WebhookFailed, TimeoutError) as error:
                _log.warning("lease_not_seen", lease=str(self._lease), error=_said(error))
            else:
                if holder == self.identity:
                    _log.info("leading", lease=str(self._lease), identity=holder)
                    return
                if holder != waits_for:
                    _log.info("standing_by", lease=str(self._lease), identity=self.identity, leader=holder)
                waits_for = holder
            await asyncio.sleep(self._lease_s * _PERIOD)

    async def keep(self) -> NoReturn:
        """Renew it again and again. While that fails nothing is written; it goes on when the Lease is still ours after
        all, since then nobody else has acted. Raises NotLeading when it is not."""
        while True:
            await asyncio.sleep(self._lease_s * _PERIOD)
            try:
                async with asyncio.timeout(self._lease_s * _PATIENCE):
                    await self._renew()
            except (ClusterFailed, TimeoutError) as error:
                left_s = round(self.seconds_left(), 1)
                _log.warning("lease_not_renewed", lease=str(self._lease), seconds_left=left_s, error=_said(error))

    async def release(self) -> None:
        """Let another one take it at once. For the end: when nothing acts any more, and no write is under way."""
        if self.seconds_left() == 0.0:
            return
        self._until = -math.inf
        try:
            async with asyncio.timeout(RELEASE_WITHIN_S):
                lease = await self._api.read(LEASE, *self._lease)
                if lease is not None and _holder(lease) == self.identity:
                    await self._write(lease, "")
        except (ClusterFailed, TimeoutError) as error:
            _log.warning("lease_not_released", lease=str(self._lease), error=_said(error))

    async def _stand(self) -> str:
        """Take the Lease if it is free; returns who holds it."""
        lease = await self._api.read(LEASE, *self._lease)
        if lease is None:
            self._made_again = True
            return UNKNOWN if await self._make() else MISSING
        self._missed = False
        if not self._is_free(lease):
            return _holder(lease) or UNKNOWN
        await self._hold(lease)
        return self.identity

    async def _renew(self) -> None:
        lease = await self._api.read(LEASE, *self._lease)
        holder = _holder(lease) if lease is not None else ""
        if lease is None or holder != self.identity:
            self._until = -math.inf
            instead = f"{holder or 'nobody'} does" if lease is not None else "it was deleted"
            raise NotLeading(f"this replica no longer holds Lease {self._lease} ({instead}): the process starts again")
        await self._hold(lease)

    def _is_free(self, lease: Json) -> bool:
        """Held by nobody, or not renewed for as long as its holder said, by our clock and from when we saw it."""
        version, uid, now = lease["metadata"]["resourceVersion"], lease["metadata"]["uid"], self._now()
        if self._seen[0] != version:
            self._seen = (version, now)
        self._made_again |= self._uid not in ("", uid)
        self._uid = uid
        holds_for_s = min(_spec(lease).get("leaseDurationSeconds") or self._lease_s, LONGEST_LEASE_S)
        if now - self._seen[1] >= holds_for_s or _holder(lease) == self.identity:
            return True
        was_let_go = "renewTime" in _spec(lease)
        return not _holder(lease) and (was_let_go or not self._made_again)

    async def _hold(self, lease: Json) -> None:
        sent_at = self._now()
        await self._write(lease, self.identity)
        self._until = sent_at + self._lease_s * (1 - _MARGIN)

    async def _make(self) -> bool:
        """False where that is not allowed, as by the chart's roles: only people can make it, and it is waited for."""
        metadata = {"namespace": self._lease.namespace, "name": self._lease.name}
        spec = {"holderIdentity": UNKNOWN, "leaseDurationSeconds": self._lease_s}
        body = {"apiVersion": LEASE.api_version, "kind": LEASE.name, "metadata": metadata, "spec": spec}
        try:
            await self._api.create(LEASE, self._lease.namespace, body)
        except Forbidden as error:
            if not self._missed:
                self._missed = True
                _log.error("lease_missing", lease=str(self._lease), what_to_do=_HOW_TO_MAKE_IT, error=str(error))
            return False
        return True

    async def _write(self, lease: Json, holder: str) -> None:
        """On exactly this version of it. Raises ClusterFailed, Conflict when somebody was quicker."""
        before, now = _spec(lease), format_timestamp(datetime.now(UTC), "microseconds")
        taken = holder not in ("", _holder(lease))
        spec = {
            "holderIdentity": holder,
            "leaseDurationSeconds": self._lease_s,
            "acquireTime": now if taken else before.get("acquireTime", now),
            "renewTime": now,  # for people, and so that each renewal is another version
            "leaseTransitions": before.get("leaseTransitions", 0) + taken,
        }
        metadata = {"namespace": self._lease.namespace, "name": self._lease.name}
        manifest = {"apiVersion": LEASE.api_version, "kind": LEASE.name, "metadata": metadata, "spec": spec}
        await self._api.apply(manifest, lease["metadata"]["resourceVersion"])


def _holder(lease: Json) -> str:
    return _spec(lease).get("holderIdentity") or ""


def _spec(lease: Json) -> Json:
    """Empty in a Lease that nobody ever held."""
    spec: Json = lease.get("spec") or {}
    return spec


def _said(error: Exception) -> str:
    return str(error) or "no answer in time"
