"""Kopf's part: watching, reconnecting, life-cycle. Handlers translate an event into the store and the queue, no more.

Only `on.event` handlers: with these kopf writes nothing to the objects, keeps no diffs on them and runs no timers
(F27; docs/adr/0001).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, repeat
from typing import Any, Final, cast

import kopf

from slackwater.adapters.cluster.credentials import is_from_a_pod
from slackwater.adapters.cluster.lean import Lean, lean
from slackwater.adapters.cluster.lists import LISTED_AT_ONCE
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP, FLEET_CAMPAIGN, POD
from slackwater.api.annotations import GROUP_LABEL
from slackwater.ports import Kind
from slackwater.shell.lean_watch import lean_session
from slackwater.shell.queue import WorkQueue
from slackwater.shell.store import LABELLED, Key, Store, owner

WATCH_S: Final = 290
"""How long one watch lasts before it is opened again; a connection that died in silence is noticed by then.

A whole number: the API server takes no other."""
API_AGAIN_S: Final = (1.0, 1.0, 2.0, *[3.0] * 40)
"""Pauses between kopf's tries to reach the API server. Its own grow to 21 s, for which it stays deaf after an outage;
when they are used up, what is more than a lost connection ends kopf, and with it the process."""


_COSTLY: Final = (CONSUMER_FLEET, FLEET_CAMPAIGN)
"""Of these, one is taken in between two turns of all else: a schedule that somebody means so costs a twentieth of a
second, and one `kubectl apply` brings many."""
REFUSED_AGAIN_S: Final = 10.0
"""Pauses after those, where one of some namespaces may not be watched."""


def registered(
    kinds: Iterable[Kind],
    store: Store,
    queue: WorkQueue[Key],
    on_listed: Callable[[], None],
    on_pod: Callable[[Mapping[str, Any]], None],
    before_end: Callable[[], Awaitable[None]],
) -> kopf.OperatorRegistry:
    """The handlers of one operator that watches these kinds.

    `on_pod` is called with every version of a pod that the watch brings, that of its deletion too. `on_listed` is
    called when kopf has listed objects, at its start and after it lost a watch: what was deleted meanwhile it does not
    tell. `before_end` is called when the watches have ended, after a signal or an error.
    """
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    async def login(**arguments: Any) -> kopf.AiohttpSession | None:
        found = _service_account(os.environ, **arguments) or kopf.login_with_kubeconfig(**arguments)
        return None if found is None else lean_session(found)

    @kopf.on.cleanup(registry=registry)
    async def end(**_: Any) -> None:
        await before_end()

    for kind in kinds:
        _register(registry, kind, store, queue, on_listed, on_pod if kind is POD else None)
    return registry


def _service_account(environment: Mapping[str, str], **arguments: Any) -> kopf.ConnectionInfo | None:
    """As kopf does it, but where our own client does it, so that both ask one API server; and by the address that every
    pod is told: kopf takes the name, and without a cluster DNS, or while that is down, the operator would see
    nothing."""
    found = kopf.login_with_service_account(**arguments) if is_from_a_pod() else None
    host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT", "443")
    if found is None or not host:
        return found
    return replace(found, server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}")


def _register(
    registry: kopf.OperatorRegistry,
    kind: Kind,
    store: Store,
    queue: WorkQueue[Key],
    on_listed: Callable[[], None],
    on_seen: Callable[[Mapping[str, Any]], None] | None,
) -> None:
    group, _, version = kind.api_version.rpartition("/")
    turns = asyncio.Lock() if kind in _COSTLY else None

    @kopf.on.event(group, version, kind.plural, registry=registry, id=kind.plural)
    async def changed(event: kopf.RawEvent, **_: Any) -> None:
        if turns is None:
            take_in(event)
            return
        async with turns:
            take_in(event)
            await asyncio.sleep(0)

    def take_in(event: kopf.RawEvent) -> None:
        found = {"apiVersion": kind.api_version, "kind": kind.name, **event["object"]}
        obj = Lean(found) if isinstance(event["object"], Lean) else lean(kind, found)  # of a list it is by `lean_watch`
        cast(dict[str, Any], event["object"]).update(obj)  # kopf has it for some seconds more
        whose = owner(kind, obj)
        # Before the store, so that a pass which finds a pod gone can know how it ended; of no group that is gone.
        if on_seen is not None and whose is not None and store.get(CONSUMER_GROUP, whose) is not None:
            on_seen(obj)
        for key in store.drop(kind, obj) if event["type"] == "DELETED" else store.put(kind, obj):
            queue.add(key)
        if event["type"] is None:
            on_listed()


class _NoDiffs(kopf.DiffBaseStorage):
    """`on.event` handlers ask for none, and kopf would copy each object twice for them at each event."""

    def build(self, **_: Any) -> Any:
        return {}

    def fetch(self, **_: Any) -> None:
        return None

    def store(self, **_: Any) -> None:
        """Nothing is kept on objects."""


class _ForEver(Iterable[float]):
    """As `API_AGAIN_S`, and then more slowly without end: each request of kopf asks for an iterator of its own."""

    def __iter__(self) -> Iterator[float]:
        return chain(API_AGAIN_S, repeat(REFUSED_AGAIN_S))


def configured(*, of_some_namespaces: bool) -> kopf.OperatorSettings:
    """`of_some_namespaces`: where one of them may not be read, because it is being deleted or its rights are withdrawn,
    kopf goes on to try, and the others are watched as before. For all at once, there is nothing left to watch."""
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.peering.standalone = True
    settings.persistence.diffbase_storage = _NoDiffs()
    settings.networking.error_backoffs = _ForEver() if of_some_namespaces else API_AGAIN_S
    settings.watching.server_timeout = WATCH_S
    settings.watching.client_timeout = WATCH_S + 10
    settings.watching.chunk_size = LISTED_AT_ONCE
    for kind in LABELLED:
        settings.watching.label_selectors[kind.plural] = GROUP_LABEL
    return settings
