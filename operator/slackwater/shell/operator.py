"""The operator process: everything started, watched over, and ended together. If one part fails, the process ends:
Kubernetes starts it again, and nothing that matters was only in memory."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Collection
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Final

import kopf
import structlog

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterRefused, ClusterUnreachable, KindMissing
from slackwater.adapters.cluster.lean import lean
from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.adapters.kafka.connected import connected
from slackwater.adapters.kafka.sizes import Limits
from slackwater.api.annotations import GROUP_LABEL
from slackwater.api.errors import SlackwaterError
from slackwater.ports import Kind
from slackwater.shell.advice import AdviceBook
from slackwater.shell.connections import Connections
from slackwater.shell.descriptors import take_all
from slackwater.shell.fleet_parts import FleetParts
from slackwater.shell.garbage import keep_for_good
from slackwater.shell.handlers import configured, registered
from slackwater.shell.health import served
from slackwater.shell.heartbeat import beat
from slackwater.shell.leadership import Leadership, own_identity
from slackwater.shell.listing import Behind, Failing, groups_of, list_in, take_in
from slackwater.shell.logs import configure
from slackwater.shell.metrics import Metrics
from slackwater.shell.parts import end, until_one_ends
from slackwater.shell.phases import spread_s
from slackwater.shell.queue import WorkQueue, most_at_will
from slackwater.shell.readers import Readers
from slackwater.shell.reconciler import Reconciler
from slackwater.shell.room import Room
from slackwater.shell.settings import Settings, read_settings
from slackwater.shell.signals import until_sigterm
from slackwater.shell.store import LABELLED, LATER_KINDS, Key, Store
from slackwater.shell.telemetry import telemetry_to

LONGEST_PASS_S: Final = 600.0
"""Every request of a pass ends by itself in seconds. Were there one that does not, its worker would be lost."""
REFUSED_AGAIN_S: Final = 30.0
"""What may not be read, or had no CRD, is listed as often: nothing else tells when that is over."""
_API_AGAIN_S: Final = 2.0
_LISTING_SETTLES_S: Final = 2.0
"""Kopf lists kind by kind, and tells object by object."""

_log = structlog.get_logger(__name__)


def run() -> None:
    """Run until SIGTERM or SIGINT. Raises SlackwaterError for what only a person can mend."""
    settings = read_settings(os.environ)
    configure(settings)
    asyncio.run(_run(settings))


class WatchEnded(SlackwaterError):
    """A watch on the cluster has ended. Without it we would be deaf, and nobody would notice."""


class Operator:
    """The parts, wired. Without a `leadership` there is no other replica."""

    def __init__(self, api: KubernetesApi, settings: Settings, leadership: Leadership | None = None) -> None:
        self.settings, self.api = settings, api
        api.kept = lean
        self.store = Store(room=Room(settings.most_kept))
        self.queue: WorkQueue[Key] = WorkQueue(lambda key: key.namespace, most_at_will(settings.workers))
        self._refused: dict[str, str] = {}  # namespace that may not be read → the refusal
        self._unwatched: set[Kind] = set()
        """Kinds whose CRD was not there when the watches began."""
        self._behind, self.metrics, self.leadership = Behind(), Metrics(settings.metrics_per_group), leadership
        if leadership is not None:
            api.before_write = leadership.before_write
            self.metrics.leading.set_function(lambda: leadership.seconds_left() > 0)
        self.ready = asyncio.Event()
        self.listing_wanted = asyncio.Event()
        opens = partial(connected, **settings.of_connections, limits=Limits.of(**settings.of_answers))
        self.connections = Connections(api, opens, self.queue.add, settings.secrets_namespace)
        self.advice = AdviceBook(self.queue.add, lambda key: self.store.get(CONSUMER_GROUP, key) is not None)
        self.telemetry = telemetry_to(settings, api, time.time, self.connections.cluster_id)
        self.fleets = FleetParts(api, self.store, settings, self.queue.add, self.relist)
        self.fleets.publish(self.metrics)
        fleets, self.fleets.campaigns.most = self.fleets.fleets, settings.most_campaigns
        fleets.known.places.most = settings.most_fleets
        witnesses = (self.metrics, self.telemetry, fleets, self.fleets.campaigns)
        self.reconciler = Reconciler(api, self.store, self.connections, self.advice, time.time, witnesses, fleets)
        self.reconciler.turns = self.queue.turns
        self.telemetry.publish(self.metrics)
        self.metrics.count_groups(lambda: self.store.count(CONSUMER_GROUP))
        self.metrics.count_requests(
            "slackwater_kubernetes_requests_total",
            "Requests to the Kubernetes API.",
            ("verb", "resource"),
            api.requests.items,
        )
        self.metrics.count_requests(
            "slackwater_kafka_requests_total",
            "Requests to Kafka.",
            ("api",),
            lambda: [((name,), count) for name, count in self.connections.requests().items()],
        )

    async def work(self) -> None:
        """One worker: one group after the other."""
        while True:
            key = await self.queue.take()
            began = time.perf_counter()
            try:
                self.api.before_write()  # a pass of one that does not lead would come to nothing, and be told of
                recheck_s = await self.reconciler.reconcile(key)
            except SlackwaterError as error:
                self._failed(key, began)
                _log.warning("pass_failed", group=str(key), error=str(error))
            except Exception:  # noqa: BLE001 - a bug that one group brings to light must not stop all the others
                self._failed(key, began)
                _log.exception("pass_crashed", group=str(key))
            else:
                self.metrics.passed("ok", time.perf_counter() - began)
                self.queue.done(key)
                if recheck_s is not None:
                    self.queue.add_later(key, spread_s(key, recheck_s, time.time()))

    def _failed(self, key: Key, began: float) -> None:
        self.queue.failed(key)
        self.metrics.passed("failed", time.perf_counter() - began)

    async def relist(self, namespaces: Collection[str] | None = None) -> None:
        """List everything again, or what is in these namespaces; the store forgets what is gone. A namespace that may
        not be read keeps what it had, and nobody else notices. Raises Forbidden where all are to be looked after."""
        listed = self.settings.namespace if namespaces is None else tuple(namespaces)
        others = {self.settings.own_fleets_in} | {each for each in self.settings.namespace if each not in listed}
        refused = dict[str, str]()
        for kind in self.settings.watched:
            if kind in self._unwatched:
                continue
            selector, known = GROUP_LABEL if kind in LABELLED else "", self.store.newest(kind)
            try:
                objects, version, unlisted = await list_in(self.api, kind, selector, listed)
            except KindMissing as error:
                if kind not in LATER_KINDS:
                    raise
                _log.warning("kind_missing", kind=kind.name, error=str(error))
                self._unwatched.add(kind)
                continue
            refused |= unlisted
            if kind is CONSUMER_GROUP and unlisted and (found := await groups_of(self.api, unlisted)) is not None:
                objects, version, unlisted = [*objects, *found[0]], min(version or found[1], found[1]), {}
            self._behind.judge(kind, version, known)
            changed = await take_in(self.store, kind, objects, version, {*others, *unlisted})
            self.fleets.listed(kind, listed, unlisted)
            for key in changed:
                self.queue.add(key)
            if changed and self.ready.is_set():  # a few may just have been under way; always the same kind may not
                _log.warning("changes_that_no_watch_told", kind=kind.plural, groups=len(changed))
        for namespace in sorted(refused.keys() - self._refused.keys()):
            _log.error("namespace_refused", namespace=namespace, error=refused[namespace])
        self._refused = refused
        self.metrics.listed(self.settings.namespace or (), refused)

    async def list_unwatched(self) -> None:
        """Those whose CRD came since: kopf looked which ones there are as it began."""
        for kind in self._unwatched:
            with suppress(KindMissing):
                objects, version, unlisted = await list_in(self.api, kind, "", self.settings.namespace)
                for key in await take_in(self.store, kind, objects, version, {*unlisted, self.settings.own_fleets_in}):
                    self.queue.add(key)
                self.fleets.listed(kind, self.settings.namespace, unlisted)

    async def keep_listing(self) -> None:
        """In case a watch lost an event, and whenever kopf has listed: it does not tell what was deleted meanwhile.

        What may not be read, or is not watched, is tried again sooner, and nothing else is listed for that.
        """
        listed_at, failing = time.monotonic(), Failing()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._listed_again_in_s(listed_at)):
                    await self.listing_wanted.wait()
                    await asyncio.sleep(failing.again_s or _LISTING_SETTLES_S)
            everything = self.listing_wanted.is_set() or self._listed_again_in_s(listed_at, among_refused=False) == 0
            self.listing_wanted.clear()
            try:
                await self.list_unwatched()
                if everything or self._refused:
                    await self.relist(None if everything else self._refused)
            except (ClusterUnreachable, ClusterRefused) as error:
                _log.warning("relist_failed", error=str(error))
                failing.failed(error)
                if everything:  # what was deleted while no watch was there is not known yet
                    self.listing_wanted.set()
            else:
                failing = Failing()
            if everything:
                listed_at = time.monotonic()

    def _listed_again_in_s(self, listed_at: float, *, among_refused: bool = True) -> float:
        again_s = max(0.0, listed_at + self.settings.resync_interval_s - time.monotonic())
        sooner = among_refused and (self._refused or self._unwatched)
        return min(again_s, REFUSED_AGAIN_S) if sooner else again_s

    def problem(self) -> str:
        return "a pass over a group does not come to an end" if self.queue.in_hand_for() > LONGEST_PASS_S else ""

    def not_ready(self) -> str:
        """One that stands by is ready to take over: were it not, a rolling update would wait for the leader's end."""
        stands_by = self.leadership is not None and self.leadership.seconds_left() == 0
        return "" if stands_by or self.ready.is_set() else "the cluster's objects have not been read yet"

    async def end_leadership(self) -> None:
        """When no part acts any more. A write that may still be done makes the next leader wait for the Lease's end."""
        if self.leadership is not None and self.api.unanswered_writes == 0:
            await self.leadership.release()


async def _run(settings: Settings) -> None:
    api = await KubernetesApi.connect()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(api.close)
        operator = Operator(api, settings, await _leadership(settings, stack))
        stack.push_async_callback(operator.connections.close)
        stack.push_async_callback(operator.telemetry.close)
        stack.push_async_callback(operator.end_leadership)
        admit = Readers(api, time.time).admit if settings.metrics_readers == "Authorized" else None
        serving = served(settings.port, operator.metrics, operator.problem, operator.not_ready, admit)
        await stack.enter_async_context(serving)
        parts: list[asyncio.Task[object]] = []
        stack.push_async_callback(end, parts)
        if not await until_sigterm(_prepare(operator, parts)):
            return
        parts.append(asyncio.create_task(operator.keep_listing(), name="relist"))
        parts.append(asyncio.create_task(beat(operator.metrics.stood_still), name="heartbeat"))
        others = [*operator.telemetry.parts(), *operator.fleets.parts()]
        if (place := settings.recommendations) is not None:
            others.append(("recommendations", operator.advice.follow(place, api, settings.token_hosts)))
        parts += [asyncio.create_task(part, name=name) for name, part in others]
        parts += [asyncio.create_task(operator.work(), name=f"worker-{n}") for n in range(settings.workers)]
        # Kopf gives every task that it does not know 5 s to end by itself: so all else ends before it does.
        watching = asyncio.create_task(_watch(operator, stack.aclose), name="kopf")
        await until_one_ends(watching, parts)


async def _leadership(settings: Settings, stack: AsyncExitStack) -> Leadership | None:
    if settings.lease is None:
        return None
    api = await KubernetesApi.connect()
    stack.push_async_callback(api.close)
    return Leadership(api, settings.lease, settings.lease_s, own_identity(settings.identity))


async def _prepare(operator: Operator, parts: list[asyncio.Task[object]]) -> None:
    """Wait until this replica leads, and has read the cluster."""
    take_all()
    if operator.leadership is not None:
        await operator.leadership.acquire()
        parts.append(asyncio.create_task(operator.leadership.keep(), name="leadership"))
    await _first_list(operator)
    await operator.fleets.begin()
    keep_for_good()
    operator.ready.set()


async def _first_list(operator: Operator) -> None:
    while True:
        try:
            return await operator.relist()
        except (ClusterUnreachable, KindMissing) as error:
            _log.warning("waiting_for_the_api_server", error=str(error))
            await asyncio.sleep(_API_AGAIN_S)


async def _watch(operator: Operator, before_end: Callable[[], Awaitable[None]]) -> None:
    """Until a signal comes. A watch that ends by what kopf does not try again ends kopf. Raises WatchEnded."""
    namespaces = operator.settings.namespace
    try:
        await kopf.operator(
            registry=registered(
                operator.settings.watched,
                operator.store,
                operator.queue,
                operator.listing_wanted.set,
                operator.telemetry.saw_pod,
                before_end,
            ),
            settings=configured(of_some_namespaces=bool(namespaces)),
            clusterwide=not namespaces,
            namespaces=namespaces,
        )
    except Exception as error:
        raise WatchEnded(f"the cluster cannot be watched any more ({error}): the process starts again") from error
