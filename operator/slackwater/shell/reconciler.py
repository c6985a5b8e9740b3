"""One pass over one ConsumerGroup: observe → decide → remember → act → report.

Decisions are first made from the store, which costs nothing. Only when there is something to do is the world read anew,
from the API server and from Kafka, and decided upon again: no act is based on what a watch said a while ago.
The status, with all that must survive a crash, is written before the act.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import structlog

from slackwater.adapters.cluster.errors import ClusterRefused, Conflict
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, KAFKA_CONNECTION
from slackwater.adapters.kafka.errors import KafkaRefused
from slackwater.api.annotations import FINALIZER
from slackwater.api.errors import InvalidSpec
from slackwater.api.resources import ConsumerGroup
from slackwater.core.decision.acts import Act, kind_of
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.members.presence import serves
from slackwater.core.plan import plan
from slackwater.core.status.compose import compose_status, degraded_status
from slackwater.core.world.observation import GroupObservation, KafkaView
from slackwater.core.world.world import World
from slackwater.ports import Cluster
from slackwater.shell.acting import carry_out
from slackwater.shell.advice import AdviceBook
from slackwater.shell.companions import Companions
from slackwater.shell.connection_status import report
from slackwater.shell.connections import Connections
from slackwater.shell.deletion import Deletion
from slackwater.shell.events import changed_refusals, post
from slackwater.shell.gathering import Gathering
from slackwater.shell.metrics import Metrics
from slackwater.shell.store import Key, Store, key_of
from slackwater.shell.telemetry import Telemetry

Json = Mapping[str, Any]
AT_ONCE: Final = 0.0
AT_REST_AGAIN_S: Final = 60.0
"""Time alone changes some things at rest (a session that ends, a lag worth telling), and nobody tells of a Secret. A
pass that finds nothing new costs no request."""

REFUSAL_STANDS_S: Final = 60.0
"""What Kafka refuses is tried ever more seldom, and stays refused between two tries."""

_BROKER_MAY_CHANGE: Final = (Reason.BROKER_CANNOT, Reason.BROKER_UNKNOWN, Reason.MIGRATION_POLICY_FORBIDS)
"""Refusals that somebody may lift at the brokers, of which no watch tells."""

_log = structlog.get_logger(__name__)


class Reconciler:
    """Passes over groups; `reconcile` is called for one key by one worker at a time."""

    def __init__(  # noqa: PLR0913, PLR0917 - what it works with
        self,
        api: Cluster,
        store: Store,
        connections: Connections,
        advice: AdviceBook,
        metrics: Metrics,
        telemetry: Telemetry,
        now: Callable[[], float],
    ) -> None:
        self._api = api
        self._store = store
        self._connections = connections
        self._metrics = metrics
        self._telemetry = telemetry
        self._now = now
        self._gathering = Gathering(api, store, connections, advice, now)
        self._deletion = Deletion(api, connections, self._gathering.take_in, now)
        self._companions = Companions(api, store)
        self._refused: dict[Key, Hold] = {}
        """What the API server or Kafka refused at the last try, for people to see where they look."""
        self._refused_until: dict[Key, float] = {}

    async def reconcile(self, key: Key) -> float | None:
        """One pass. Returns in how many seconds to look again at the latest; None: when something changes."""
        obj = self._store.get(CONSUMER_GROUP, key)
        if obj is None:
            await self._forget(key)
            return None
        try:
            group = self._gathering.parse(key, obj)
        except InvalidSpec as error:
            await self._report_invalid(obj, error)
            return None
        if group.metadata.is_being_deleted:
            return await self._deletion.go_on(group, obj)
        if FINALIZER not in group.metadata.finalizers:
            written = await self._api.set_finalizers(CONSUMER_GROUP, obj, [*group.metadata.finalizers, FINALIZER])
            self._gathering.take_in_or_drop(key, written)
            return AT_ONCE
        try:
            return await self._pass(key, group)
        except (ClusterRefused, KafkaRefused) as error:
            reason = error.reason if isinstance(error, KafkaRefused) else Reason.CLUSTER_REFUSED
            self._refused[key] = Hold(reason, str(error))
            self._refused_until[key] = self._now() + (0.0 if isinstance(error, ClusterRefused) else REFUSAL_STANDS_S)
            raise

    async def _pass(self, key: Key, group: ConsumerGroup) -> float | None:
        await self._use_connection(key, group)
        world, status = await self._gathering.from_store(key, group)
        if self._connections.awaits_first_look(key):
            return None  # a restarted operator knows nothing yet: saying so would be two writes for each group
        decided = plan(world)
        if _matters(world, decided):
            fresh = await self._gathering.anew(key)
            if fresh is None:
                return AT_ONCE
            world, status = fresh
            decided = plan(world)
        if key in self._refused:
            decided = replace(decided, hold=self._refused[key])
        self._connections.set_motion(key, key not in self._refused and _in_motion(world, decided))
        await self._remember(world, decided, status)
        self._metrics.groups.saw(key, world, decided)
        await self._companions.put_right(key, world)
        done = await self._act(key, world, decided)
        self._telemetry.saw(key, world, decided, done)
        tried_again = decided.act is not None or self._now() >= self._refused_until.get(key, 0.0)
        no_longer_refused = tried_again and self._refused.pop(key, None) is not None
        if no_longer_refused or decided.act is not None or decided.memory != world.memory:
            return AT_ONCE
        if decided.refusal is not None and decided.refusal.reason in _BROKER_MAY_CHANGE:
            self._connections.refresh_broker(key)
        if decided.hold is not None and _is_too_old(world, decided.hold):
            self._connections.look_soon(key)
        waits = [hold.recheck_s for hold in (decided.hold, decided.refusal) if hold is not None]
        return min(waits, default=AT_REST_AGAIN_S)

    async def _use_connection(self, key: Key, group: ConsumerGroup) -> None:
        connection = self._gathering.connection(group)
        if connection is None:
            await self._connections.forget(key)  # whoever deletes it cuts the operator off
            return
        await self._connections.use(key, group, connection, self._now())
        await self._report_connection(connection, self._connections.view(key, self._now())[0])

    async def _remember(self, world: World, decided: Decision, before: Json) -> None:
        """Write the status if it changed; and say what is new to people."""
        status = compose_status(world, decided, before)
        if status == before:
            return
        group = world.group
        await self._write_status(group, status)
        for note in changed_refusals(before, decided):
            await self._say(group, note)

    async def _write_status(self, group: ConsumerGroup, status: Json) -> None:
        """On exactly the version that was decided about. Else the answer could bring somebody's change in between, and
        the watch's event about that, being older than what we know then, would wake nobody."""
        at = group.metadata
        try:
            written = await self._api.apply_status(
                CONSUMER_GROUP, at.namespace, at.name, at.uid, status, at.resource_version
            )
        except Conflict:
            self._gathering.take_in(await self._api.read(CONSUMER_GROUP, at.namespace, at.name))
            raise
        self._gathering.take_in(written)

    async def _report_connection(self, connection: Json, view: KafkaView) -> None:
        def views() -> list[KafkaView]:
            return self._connections.views(key_of(connection), self._now())

        try:
            written = await report(self._api, connection, view, views, self._now())
        except (Conflict, ClusterRefused) as error:
            _log.warning("connection_not_reported", connection=str(key_of(connection)), error=str(error))
            return  # no reason to leave the group alone
        if written is not None:
            self._store.put(KAFKA_CONNECTION, written)

    async def _act(self, key: Key, world: World, decided: Decision) -> Act | None:
        """Returns what was done."""
        if decided.act is not None:
            try:
                written = await carry_out(self._api, self._connections.admin(key), world, decided.act)
            except Conflict as error:
                _log.info("world_changed", group=str(key), act=kind_of(decided.act), error=str(error))
                return None  # decided about a world that is gone: the next pass decides about the new one
            self._metrics.acted(decided.act)
            ordinal = getattr(decided.act, "ordinal", None)
            _log.info("acted", group=str(key), act=kind_of(decided.act), ordinal=ordinal)
            if written is not None:
                self._gathering.take_in_workload(key, written)
        for note in decided.notes:
            await self._say(world.group, note)
        return decided.act

    async def _say(self, group: ConsumerGroup, note: Note) -> None:
        _log.info("event", group=f"{group.namespace}/{group.name}", reason=str(note.reason), message=note.message)
        await post(self._api, group, note, self._now())

    async def _report_invalid(self, obj: Json, error: InvalidSpec) -> None:
        """An object that an older CRD let through: its pods are left alone."""
        before, problem = obj.get("status") or {}, str(error)
        if obj["metadata"].get("deletionTimestamp"):
            problem += f" To delete it as it is, with its members left in the group, remove the finalizer {FINALIZER}."
        status = degraded_status(obj, "Invalid", Reason.INVALID_SPEC, problem, self._now())
        if status != before:
            metadata = obj["metadata"]
            written = await self._api.apply_status(
                CONSUMER_GROUP, metadata["namespace"], metadata["name"], metadata["uid"], status
            )
            self._gathering.take_in(written)

    async def _forget(self, key: Key) -> None:
        await self._connections.forget(key)
        self._companions.forget(key)
        self._gathering.forget(key)
        self._refused.pop(key, None)
        self._refused_until.pop(key, None)
        self._metrics.groups.forget(key)
        self._telemetry.forget(key)


def _matters(world: World, decided: Decision) -> bool:
    """Not to be decided from what a watch said a while ago; and it tells of StatefulSets with our label only."""
    was, now = world.memory, decided.memory
    if not world.sets:
        return True
    return decided.act is not None or now.phase is not was.phase or now.upgrade != was.upgrade


def _is_too_old(world: World, hold: Hold) -> bool:
    kafka = world.kafka
    return (
        hold.look_s is not None and isinstance(kafka, GroupObservation) and world.now - kafka.observed_at >= hold.look_s
    )


def _in_motion(world: World, decided: Decision) -> bool:
    """Worth a look every second: a rollout, a group that is not calm, pods that are not known to work in it."""
    if decided.act is not None or decided.memory.phase.under_way:
        return True
    if not isinstance(world.kafka, GroupObservation):
        return True
    if world.replicas == 0 and not world.kafka.members:
        return bool(world.pods)  # stopped on purpose: an empty group is never calm, and would be watched for ever
    if not world.kafka.calm:
        return True
    return sum(serves(world, pod) for pod in world.wanted_pods) != world.replicas
