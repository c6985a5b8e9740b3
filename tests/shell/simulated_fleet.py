"""A fleet whose groups really have pods: the shell's own store, fleets and campaigns over simulated groups.

Time is virtual. Each group is a world of `core/simulation`, and the cluster in memory has its objects. One process is
the operator of all; where it is killed at a write, another one begins from what stands in the cluster. What may never
happen is held against what the pods do, not against what any status says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from itertools import pairwise
from typing import Any, Final

from slackwater.adapters.cluster.errors import Conflict
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP, FLEET_CAMPAIGN, POD
from slackwater.api.annotations import GROUP_LABEL
from slackwater.api.timestamps import timestamp
from slackwater.core.decision.decision import Decision
from slackwater.core.pace import in_motion, pace_after
from slackwater.core.status.compose import compose_status
from slackwater.core.world.history import GroupHistory, advance, interrupted
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, read_memory
from slackwater.core.world.observation import GroupObservation, KafkaView
from slackwater.core.world.world import World
from slackwater.ports import Kind
from slackwater.shell.campaign_keeping import FOLD_AGAIN_S
from slackwater.shell.sayings import Sayings
from slackwater.shell.store import Key
from tests.core.simulation.invariants import Broken, Invariants
from tests.core.simulation.operator import SimulatedOperator
from tests.core.simulation.outside import Outside
from tests.shell.campaign_stage import CampaignStage, campaign_object
from tests.shell.fakes import KEY, FakeApi, group_object

Json = dict[str, Any]
CLUSTER: Final = "kafka-1"
LANDS_AFTER_S: Final = 2.0
"""How long a request of a dead operator is under way."""
LOOKS_APART_S: Final = 15.0
"""Of a group at rest."""


class Killed(Exception):
    """The operator is gone."""


class Kill(Enum):
    """Where the operator is killed, once at each write of a status that says something new."""

    BEFORE = auto()
    AFTER = auto()
    AFTER_THE_ACT = auto()
    LATE = auto()
    """Before the write, which is carried out all the same, once another operator leads."""


@dataclass
class KillingApi(FakeApi):
    """The cluster, at whose writes of a status the operator is killed."""

    kill: Kill | None = None
    kills: int = 0
    late: list[tuple[float, Kind, Callable[[], Any]]] = field(default_factory=list)
    now: Callable[[], float] = lambda: 0.0
    _killed_at: set[object] = field(default_factory=set)

    async def apply_status(
        self, kind: Kind, namespace: str, name: str, uid: str, status: Mapping[str, Any], resource_version: str = ""
    ) -> Json:
        def write() -> Any:
            return super(KillingApi, self).apply_status(kind, namespace, name, uid, status, resource_version)

        kill = self._kills_at((kind.name, name, *_gist(kind, status)))
        if kill is Kill.LATE:
            self.late.append((self.now() + LANDS_AFTER_S, kind, write))
        if kill in (Kill.BEFORE, Kill.LATE):
            raise Killed
        written: Json = await write()
        if kill is Kill.AFTER or (kill is Kill.AFTER_THE_ACT and kind is not CONSUMER_GROUP):
            raise Killed
        self.dies_after_its_act = kill is Kill.AFTER_THE_ACT
        return written

    dies_after_its_act: bool = False

    async def lands(self) -> list[tuple[Kind, Json]]:
        """What a dead operator has asked for, unless the object has changed since; returns what it is now."""
        due = [each for each in self.late if each[0] <= self.now()]
        self.late = [each for each in self.late if each[0] > self.now()]
        found = []
        for _, kind, write in due:
            try:
                found.append((kind, await write()))
            except Conflict:
                continue
        return found

    def _kills_at(self, write: object) -> Kill | None:
        if self.kill is None or write in self._killed_at:
            return None
        self._killed_at.add(write)
        self.kills += 1
        return self.kill


def _gist(kind: Kind, status: Mapping[str, Any]) -> tuple[object, ...]:
    """What a write says, without the moments."""
    conditions = tuple((each["type"], each["status"], each["reason"]) for each in status.get("conditions", ()))
    if kind is not CONSUMER_GROUP:
        waves = status.get("waves", ())
        counts = tuple(tuple(sorted((k, v) for k, v in wave.items() if k != "soakUntil")) for wave in waves)
        return status.get("phase"), status.get("wave"), counts, conditions
    rollout = status.get("rollout", {})
    turn = rollout.get("turn", {})
    moments = tuple(name in turn for name in ("givenAt", "doneAt"))
    commands = tuple(sorted((k, v.partition(" done ")[:2]) for k, v in status.get("commands", {}).items()))
    step = rollout.get("step", {}).get("ordinal")
    return rollout.get("phase"), moments, turn.get("yielded"), step, commands


@dataclass(frozen=True)
class OfTheFleet:
    """One group, as a test says it."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of its world; `spec`: more of its spec."""
    coordinator: int = 1


class SimulatedGroup(SimulatedOperator):
    """One group: its world, and what the operator does for it."""

    def __init__(self, of: OfTheFleet, fleet: SimulatedFleet) -> None:
        options = dict(of.options)
        spec = options.pop("spec", {})
        outside = Outside(**options)
        outside.spec |= spec
        super().__init__(outside, Invariants(outside))
        for each in outside.sets.values():
            each.before_update = self.invariants.taken_down
        self.name, self.labels, self.coordinator, self.fleet = of.name, dict(of.labels), of.coordinator, fleet
        self.annotations: dict[str, str] = {}
        self.key = Key(KEY.namespace, of.name)
        self.moves, self.again_at, self.looked_at = True, 0.0, 0.0
        self.taken_at: list[float] = []
        """When a pod that served was taken down."""
        self.back_at = 0.0
        """When all of them were back for the last time."""
        self._served = False
        self.seen_version: object = None
        self.is_gone = False
        self.is_being_deleted = False
        """It has a finalizer, and what that is for cannot be done."""

    @property
    def memory(self) -> RolloutMemory:
        return read_memory(self.outside.status)

    @property
    def images(self) -> set[str]:
        return {self.outside.image(pod) for pod in self.outside.pods}

    @property
    def record(self) -> str:
        """What it remembers of campaigns."""
        return " ".join(v for k, v in self.outside.status.get("commands", {}).items() if "campaign." in k)

    @property
    def skip_reason(self) -> str:
        found = self.fleet.campaign_status().get("skippedGroups", ())
        return next((each["reason"] for each in found if each["group"] == str(self.key)), "")

    def serves(self) -> bool:
        pods = self.outside.pods
        return all(map(self.outside.serves, pods)) and len(pods) == self.outside.spec["replicas"]

    def watch(self) -> None:
        """To be called whenever time has passed."""
        self.invariants.watch()
        self.taken_at += [self.outside.now] * (self.invariants.restarts - len(self.taken_at))
        if self.serves() and not self._served:
            self.back_at = self.outside.now
        self._served = self.serves()

    def world(self) -> World:
        now = self.outside.now
        if self.moves or now - self.looked_at >= LOOKS_APART_S or self.last_world is None:
            self.looked_at, self._kafka = now, self._observe()
            seen = self._kafka
            self.history = (
                advance(self.history, seen) if isinstance(seen, GroupObservation) else interrupted(self.history)
            )
        found = replace(self.outside.world(self._kafka, self.history), cluster_id=CLUSTER)
        self.fleet.fleets.sees(self.key, found)
        return replace(found, turn=self.fleet.fleets.turn_of(self.key, found.memory))

    def _observe(self) -> KafkaView:
        found = self.outside.observe()
        return replace(found, coordinator=self.coordinator) if isinstance(found, GroupObservation) else found

    async def one_pass(self) -> None:
        """As the reconciler does it."""
        fleet, before = self.fleet, self.outside.status
        planned, decided = fleet.sayings.plan(self.key, self.world())
        self.last, self.last_world = decided, planned
        self._tell(planned, decided)
        self.moves = in_motion(planned, decided)
        if not fleet.fleets.may_write(self.key, planned, decided.memory):
            self.again_at = self.outside.now
            return
        status = dict(fleet.sayings.pruned(compose_status(planned, decided, before), before))
        dies = status != before and await self._writes(status)
        fleet.campaigns.decided(self.key, planned, decided)
        if decided.act is not None:
            self._acts(planned, decided)
        if dies:
            raise Killed
        self.again_at = self.outside.now + pace_after(planned, decided).again_s

    async def _writes(self, status: Json) -> bool:
        """Returns whether the operator dies after its act."""
        metadata = self.fleet.api.objects["ConsumerGroup", *self.key]["metadata"]
        written = await self.fleet.api.apply_status(
            CONSUMER_GROUP, *self.key, metadata["uid"], status, metadata["resourceVersion"]
        )
        self.outside.write_status(written["status"])
        self.fleet.store.put(CONSUMER_GROUP, written)
        self.writes += 1
        return self.fleet.api.dies_after_its_act

    def _acts(self, world: World, decided: Decision) -> None:
        assert decided.act is not None
        self.invariants.before_act(world, decided)
        self._act(decided.act)
        self.fleet.sees_pods_of(self)

    def begin_anew(self) -> None:
        """Another process: it knows what was written."""
        self.history, self.last_world, self.moves, self.again_at = GroupHistory(), None, True, 0.0
        self.outside.status = self.fleet.api.objects["ConsumerGroup", *self.key].get("status", {})
        for each in self.outside.sets.values():
            each.edited = True


class SimulatedFleet(CampaignStage):
    """The fleet, its groups, and the process that leads."""

    def __init__(self, *groups: OfTheFleet, **fleet: Any) -> None:
        self.groups: dict[str, SimulatedGroup] = {}
        self._pods: dict[tuple[str, str], str] = {}
        self._due = 0.0
        self.most_away = 0
        """So many groups had a pod away because of us, at the same time, at most."""
        super().__init__(KillingApi())
        self.api.now = lambda: self.now
        self._spec = {"halt": {"failures": 1000, "disturbed": "100%"}, **fleet}
        self.fleet(**self._spec)
        for each in groups:
            self.comes(each)

    api: KillingApi

    def __iter__(self) -> Iterator[SimulatedGroup]:
        return iter([each for each in self.groups.values() if not each.is_gone])

    def __getitem__(self, name: str) -> SimulatedGroup:
        return self.groups[name]

    # What people do.
    def comes(self, of: OfTheFleet) -> SimulatedGroup:
        group = self.groups[of.name] = SimulatedGroup(of, self)
        group.outside.now = self.now
        self.sees_spec_of(group)
        return group

    def goes(self, name: str) -> None:
        """Somebody deletes the group, which is gone at once."""
        self.groups[name].is_gone = True
        self.delete(CONSUMER_GROUP, name)
        for (group, uid), _ in list(self._pods.items()):
            if group == name:
                del self._pods[group, uid]

    def says_defaults(self, **defaults: Any) -> None:
        self.edit_fleet(defaults=defaults)

    def edit_fleet(self, **changes: Any) -> None:
        self._spec |= changes
        self.fleet(**self._spec)

    def edit_campaign(self, **changes: Any) -> None:
        obj = self.api.objects["FleetCampaign", KEY.namespace, "restart"]
        metadata = {**obj["metadata"], "generation": obj["metadata"]["generation"] + 1}
        self._put(FLEET_CAMPAIGN, {**obj, "metadata": metadata, "spec": {**obj["spec"], **changes}})

    def applied_again(self, uid: str = "", **spec: Any) -> None:
        """The same manifest: the API server keeps the status, and the generation. `uid`: of another one of the name."""
        there = self.api.objects["FleetCampaign", KEY.namespace, "restart"]
        again = campaign_object(self.api.version, **spec)
        if uid:
            self.delete(FLEET_CAMPAIGN, "restart")
            again["metadata"]["uid"] = uid
            self._put(FLEET_CAMPAIGN, again)
        else:
            self._put(FLEET_CAMPAIGN, again | {"status": there["status"]})

    # What watches tell.
    def sees_spec_of(self, group: SimulatedGroup) -> None:
        annotations = {**group.annotations, **group.outside.annotations}
        version = (group.outside.generation, annotations, dict(group.labels), group.is_being_deleted)
        if version == group.seen_version:
            return
        group.seen_version = version
        obj = group_object(name=group.name, **group.outside.spec)
        obj["metadata"] |= {"labels": dict(group.labels), "generation": group.outside.generation}
        obj["metadata"]["annotations"] = annotations
        if group.is_being_deleted:
            obj["metadata"]["deletionTimestamp"] = timestamp(int(self.now))
        there = self.api.objects.get(("ConsumerGroup", *group.key), {})
        self._put(CONSUMER_GROUP, {**obj, "status": there.get("status", {})})
        group.again_at = 0.0

    def sees_pods_of(self, group: SimulatedGroup) -> None:
        there = {pod.uid: pod for pod in group.outside.pods}
        for (name, uid), pod_name in list(self._pods.items()):
            if name == group.name and uid not in there:
                del self._pods[name, uid]
                self.delete(POD, pod_name)
        for uid, pod in there.items():
            if (group.name, uid) not in self._pods:
                name = self._pods[group.name, uid] = f"{group.name}-{pod.name}-{uid}"
                metadata = {"name": name, "labels": {GROUP_LABEL: group.name}, "uid": name, "namespace": KEY.namespace}
                metadata |= {"creationTimestamp": timestamp(int(pod.created_at))}
                self._put(POD, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}, "status": {}})

    # The process that leads.
    def lead(self) -> None:
        super().lead()
        self.sayings = Sayings(self.fleets)
        self.campaigns.changed.set()

    async def list_all(self) -> None:
        await super().list_all()
        listed, version = await self.api.list_all(POD, None)
        self.store.replace(POD, listed, version)

    async def begin(self) -> None:
        await self.list_all()
        self.fleets.begin()
        self.campaigns.fold()

    async def another_leads(self) -> None:
        self.lead()
        for group in self:
            group.begin_anew()
        await self.begin()

    # Time.
    async def step(self) -> None:
        self.now += 1.0
        for group in self:
            group.outside.tick(1.0)
            group.watch()
            self.sees_spec_of(group)
            self.sees_pods_of(group)
        self.most_away = max(self.most_away, sum(bool(group.invariants.taken) for group in self))
        for kind, obj in await self.api.lands():
            self.store.put(kind, obj)
            if kind is CONSUMER_GROUP:
                self.groups[obj["metadata"]["name"]].outside.write_status(obj["status"])
        for (name, *_), obj in [*self.api.objects.items()]:  # the watch, which brings what an answer did not
            for kind in (CONSUMER_FLEET, FLEET_CAMPAIGN):
                if kind.name == name:
                    self.store.put(kind, obj)
        try:
            await self._keeps()
            for group in self:
                await self._passes_over(group)
        except Killed:
            await self.another_leads()

    async def _keeps(self) -> None:
        await self.keeping.keep_once()
        if self.campaigns.changed.is_set() or self._due <= self.now:
            self.campaigns.changed.clear()
            again_s = await self.campaign_keeping.keep_once()
            self._due = self.now + (1e9 if again_s is None else max(FOLD_AGAIN_S, again_s))
        for name in self.woken:
            if name in self.groups:
                self.groups[name].again_at = 0.0
        self.woken.clear()

    async def _passes_over(self, group: SimulatedGroup) -> None:
        is_old = self.now - group.looked_at >= LOOKS_APART_S
        if group.is_being_deleted:
            return  # that is another part of the reconciler
        if not (group.moves or self.now >= group.again_at or is_old):
            return
        await group.one_pass()

    async def for_seconds(self, seconds: float) -> None:
        until = self.now + seconds
        while self.now < until:
            await self.step()

    async def until(self, what: str, so: Callable[[], bool], within_s: float = 1500.0) -> None:
        until = self.now + within_s
        while self.now < until:
            await self.step()
            if so():
                return
        last = {each.name: (each.memory.phase, each.hold, each.record) for each in self}
        raise AssertionError(f"not {what} after {within_s} s: {self.campaign_status()} {last}")

    async def running(self) -> SimulatedFleet:
        """All of them run, and nothing is under way."""
        await self.begin()
        await self.until("all run", lambda: all(g.memory.phase is RolloutPhase.COMPLETE and g.serves() for g in self))
        await self.for_seconds(20)
        return self

    async def until_phase(self, phase: str, within_s: float = 3000.0) -> None:
        await self.until(phase, lambda: self.campaign_status().get("phase") == phase, within_s)

    # What the pods say.
    def restarts(self) -> dict[str, int]:
        return {each.name: each.invariants.restarts for each in self}

    def one_after_the_other(self, *waves: tuple[str, ...], soak_s: float = 0.0) -> None:
        """No pod of a wave went down before all pods of the wave before it were back, and had soaked."""
        for elder, younger in pairwise(waves):
            ended = max(self.groups[name].back_at for name in elder)
            began = min(self.groups[name].taken_at[0] for name in younger)
            if began < ended + soak_s:
                raise Broken(f"{younger} began at {began}, {elder} ended at {ended}, and soaks for {soak_s} s")
