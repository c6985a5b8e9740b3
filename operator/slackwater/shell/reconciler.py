"""One pass over one ConsumerGroup: observe → decide → remember → act → report.

Decisions are first made from the store, which costs nothing. Only when there is something to do is the world read from
the API server and from Kafka, and decided upon again: no act is based on what a watch said a while ago.
The status, with all that must survive a crash, is written before the act.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import structlog

from slackwater.adapters.cluster.errors import ClusterFailed, ClusterRefused, ClusterUnreachable, Conflict
from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.adapters.kafka.errors import KafkaRefused
from slackwater.api.annotations import FINALIZER
from slackwater.api.errors import InvalidSpec
from slackwater.api.kafka_connection import allows, prefixes_of
from slackwater.api.resources import ConsumerGroup
from slackwater.core.decision.acts import Act, kind_of, without_version
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.pace import AT_ONCE, Pace, in_motion, is_out_of_date, matters, pace_after, still_refused
from slackwater.core.status.compose import compose_status
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import KafkaView, Unobserved
from slackwater.core.world.world import World
from slackwater.ports import Cluster
from slackwater.shell.acting import carry_out, write_status
from slackwater.shell.advice import AdviceBook
from slackwater.shell.claims import Claims
from slackwater.shell.companions import Companions
from slackwater.shell.connection_status import kind_of_connection, report
from slackwater.shell.connections import Connections
from slackwater.shell.deletion import Deletion
from slackwater.shell.events import Post, ToldRefusals
from slackwater.shell.fleets import Fleets
from slackwater.shell.gathering import Gathering
from slackwater.shell.marks import Marks
from slackwater.shell.refusals import Refusals
from slackwater.shell.reports import Reports
from slackwater.shell.sayings import Sayings
from slackwater.shell.store import Key, Store, key_of
from slackwater.shell.turns import Turns
from slackwater.shell.unanswered import Unanswered, UnansweredStatus
from slackwater.shell.waking import Waking
from slackwater.shell.witnesses import Witness

Json = Mapping[str, Any]

_log = structlog.get_logger(__name__)


class Reconciler:
    """Passes over groups; `reconcile` is called for one key by one worker at a time."""

    def __init__(  # noqa: PLR0913, PLR0917 - what it passes on is the whole shell's
        self,
        api: Cluster,
        store: Store,
        connections: Connections,
        advice: AdviceBook,
        now: Callable[[], float],
        witnesses: Sequence[Witness] = (),
        fleets: Fleets | None = None,
    ) -> None:
        self._api = api
        self._store = store
        self._connections = connections
        self._now = now
        self._gathering = Gathering(api, store, connections, advice, now, fleets)
        self._sayings = Sayings(fleets)
        self._post = Post(api)
        claims = Claims(store, connections)
        self._deletion = Deletion(api, connections, claims, self._gathering.take_in, now, self._acted)
        self._companions = Companions(api, store)
        self._refusals = Refusals()
        self._reports = Reports(api, self._gathering.take_in, now)
        self._marks, self._waking = Marks(api, store, now), Waking(api, store, now)
        self._told = ToldRefusals()
        self._unanswered = Unanswered()
        self.turns = Turns()
        self._witnesses = witnesses

    async def reconcile(self, key: Key) -> float | None:
        """One pass. Returns in how many seconds to look again at the latest; None: when something changes."""
        obj = self._store.get(CONSUMER_GROUP, key)
        if obj is None:
            await self._forget(key)
            return None
        try:
            group = self._gathering.parse(key, obj)
            if group.metadata.is_being_deleted:
                return await self._deletion.go_on(group, obj)
            return await self._go_on(key, group, obj)
        except InvalidSpec as error:
            return await self._reports.invalid(self._store.get(CONSUMER_GROUP, key) or obj, error)

    async def _go_on(self, key: Key, group: ConsumerGroup, obj: Json) -> float | None:
        """The pass over a group that is to stay. Raises InvalidSpec when what is remembered cannot be read."""
        try:
            if FINALIZER not in group.metadata.finalizers:
                await self._give_finalizer(key, group, obj)
                return AT_ONCE
            return await self._pass(key, group, obj)
        except (ClusterRefused, KafkaRefused) as error:
            self._refusals.add(key, error, self._now())
            raise

    async def _give_finalizer(self, key: Key, group: ConsumerGroup, obj: Json) -> None:
        async with self._reports.saying_what_is_refused(obj):
            written = await self._api.set_finalizers(CONSUMER_GROUP, obj, [*group.metadata.finalizers, FINALIZER])
        self._gathering.take_in_or_drop(key, written)

    async def _pass(self, key: Key, group: ConsumerGroup, obj: Json) -> float | None:
        await self._use_connection(key, group, self._gathering.remembered(key, obj))
        async with self._reports.saying_what_is_refused(obj):
            world, status = await self._gathering.from_store(key, group)
        if self._connections.awaits_first_look(key):
            return None  # a restarted operator knows nothing yet: saying so would be two writes for each group
        planned, decided = await self._plan(key, world)
        if matters(world, decided) or self._gathering.doubts(key, world):
            if (fresh := await self._read_again(key, world, status)) is None:
                return AT_ONCE
            world, status = fresh
            planned, decided = await self._plan(key, world)
        world = planned
        await self._tell_of_unanswered(key, world, status, decided)
        refused = self._refusals.get(key)
        decided = still_refused(decided, refused)
        self._connections.set_motion(key, refused is None and in_motion(world, decided))
        if not self._gathering.may_write(key, world, decided.memory):
            return AT_ONCE
        await self._remember(key, world, decided, status)
        await self.turns.mine()
        for witness in self._witnesses:
            witness.decided(key, world, decided)
        unfit = await self._beside_the_pods(key, world, comes=decided.act is not None)
        if unfit is not None and not world.sets:
            raise unfit
        done = await self._act(key, world, decided)
        await self.turns.mine()
        for witness in self._witnesses:
            witness.saw(key, world, decided, done)
        if unfit is not None:
            raise unfit
        if any((self._marks.were_written(key), self._refusals.came_through(key, self._now(), tried=done is not None))):
            return AT_ONCE
        return self._keep(key, pace_after(world, decided))

    async def _plan(self, key: Key, world: World) -> tuple[World, Decision]:
        """Of a large spec, or a large group, a tenth of a second."""
        await self.turns.mine()
        return self._sayings.plan(key, world)

    async def _read_again(self, key: Key, world: World, status: Json) -> tuple[World, Json] | None:
        try:
            return await self._gathering.read_again(key, self.turns)
        except ClusterRefused as error:  # the condition says so, though nothing can be decided
            refusal = Hold(Reason.CLUSTER_REFUSED, str(error))
            await self._remember(key, world, Decision(world.memory, hold=refusal), status)
            raise

    def _keep(self, key: Key, pace: Pace) -> float:
        """Returns in how many seconds to look again."""
        if pace.ask_brokers:
            self._connections.refresh_broker(key)
        if pace.look_soon:
            self._connections.look_soon(key)
        return min(pace.again_s, self._connections.again_s(key), self._marks.again_s(key), self._waking.again_s(key))

    async def _use_connection(self, key: Key, group: ConsumerGroup, memory: RolloutMemory) -> None:
        connection = self._gathering.connection(group)
        if connection is None or not allows(prefixes_of(connection, group.namespace), group.group_id):
            await self._connections.forget(key)  # whoever deletes it, or takes its groups away, cuts the operator off
            return
        await self._connections.use(key, group, memory, connection, self._now())
        await self._report_connection(connection, self._connections.view(key, self._now())[0])

    async def _remember(self, key: Key, world: World, decided: Decision, before: Json) -> None:
        """Write the status if it changed; and say what is new to people."""
        status = self._sayings.pruned(compose_status(world, decided, before), before)
        if status == before:
            await self._say(world.group, decided.notes, of_act=False)
            return
        try:
            await write_status(self._api, world.group, status, self._gathering.take_in)
        except ClusterUnreachable:
            self._unanswered.add_status(key, UnansweredStatus(status, before, decided, self._now()))
            raise
        self._unanswered.answered(key)
        await self._say_what_is_new(key, world.group, before, decided)

    async def _say_what_is_new(self, key: Key, group: ConsumerGroup, before: Json, decided: Decision) -> None:
        new = self._told.to_tell(key, before, decided, self._now())
        await self._say(group, (*new, *decided.notes), of_act=False)

    async def _report_connection(self, connection: Json, view: KafkaView) -> None:
        def worst() -> Unobserved | None:
            return self._connections.worst_view(key_of(connection))

        try:
            certificates = self._connections.certificates(key_of(connection), self._now())
            written = await report(self._api, connection, view, worst, certificates, self._now())
        except ClusterFailed as error:
            _log.warning("connection_not_reported", connection=str(key_of(connection)), error=str(error))
            return  # no reason to leave the group alone
        if written is not None:
            self._store.put(kind_of_connection(connection), written)

    async def _beside_the_pods(self, key: Key, world: World, *, comes: bool) -> ClusterFailed | None:
        """Service, budget, readiness gates; and, where no act comes, who makes no pods is woken.
        Returns the first failure: pods that run go on."""
        if not world.sets and not comes:  # of a group that is held, and has nothing, nothing is made
            self._waking.forget(key)
            return None
        unfit: ClusterFailed | None = None
        woken = (self._waking.put_right,) if not comes else ()
        for put_right in (self._companions.put_right, self._marks.put_right, *woken):
            try:
                await put_right(key, world)
            except Conflict as error:  # another one has the name by now
                _log.info("world_changed", group=str(key), act="beside the pods", error=str(error))
            except ClusterFailed as error:
                unfit = unfit or error
        return unfit

    async def _act(self, key: Key, world: World, decided: Decision) -> Act | None:
        """Returns what was done."""
        act: Act | None = decided.act
        if act is not None and is_out_of_date(world, act, self._now()):
            world, act = await self._looked_again(key, world, act)
            if act is None:
                return None
        if act is not None:
            try:
                written = await carry_out(self._api, self._connections.admin(key), world, act)
            except Conflict as error:
                _log.info("world_changed", group=str(key), act=kind_of(act), error=str(error))
                return None  # decided about a world that is gone: the next pass decides about the new one
            except ClusterUnreachable:
                self._unanswered.add_act(key, world, decided)
                raise
            self._acted(key, act)
            _log.info("acted", group=str(key), act=kind_of(act), ordinal=getattr(act, "ordinal", None))
            if written is not None:
                self._gathering.take_in_workload(key, written)
        await self._say(world.group, decided.notes, of_act=True)
        return act

    async def _looked_again(self, key: Key, world: World, act: Act) -> tuple[World, Act | None]:
        """The same act in the world by a new look, if it is still the next one; else none, and the next pass decides.
        What was written for it took long, and would take as long in each pass: that remembers the moment of its act."""
        fresh = await self._gathering.read_again(key, self.turns)
        if fresh is not None:
            planned, decided = await self._plan(key, fresh[0])
            again = decided.act
            same = again is not None and without_version(again) == without_version(act)
            if again is not None and same and not is_out_of_date(planned, again, self._now()):
                return planned, again
        _log.warning("look_out_of_date", group=str(key), act=kind_of(act))
        return world, None

    async def _tell_of_unanswered(self, key: Key, world: World, status: Json, decided: Decision) -> None:
        """A write that got no answer is counted and told of as soon as it shows that it was carried out."""
        if (written := self._unanswered.written(key, status, self._now())) is not None:
            await self._say_what_is_new(key, world.group, written.before, written.decided)
        found = self._unanswered.carried_out(key, world, decided)
        if found is not None and found.decided.act is not None:
            self._acted(key, found.decided.act)
            _log.info("acted", group=str(key), act=kind_of(found.decided.act), answer="lost")
            await self._say(world.group, found.decided.notes, of_act=True)

    def _acted(self, key: Key, act: Act) -> None:
        for witness in self._witnesses:
            witness.acted(key, act)

    async def _say(self, group: ConsumerGroup, notes: Iterable[Note], *, of_act: bool) -> None:
        for note in notes:
            if note.of_act is of_act:
                name = f"{group.namespace}/{group.name}"
                _log.info("event", group=name, reason=note.reason.value, message=note.message)
                await self._post.send(group, note, self._now())

    async def _forget(self, key: Key) -> None:
        await self._connections.forget(key)
        for forget in (
            *(self._deletion.forget, self._post.forget, self._companions.forget, self._gathering.forget),
            *(self._sayings.forget, self._refusals.forget, self._marks.forget, self._waking.forget),
            *(self._told.forget, self._unanswered.forget),
            *(witness.forget for witness in self._witnesses),
        ):
            forget(key)
