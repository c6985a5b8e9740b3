"""Several groups under one fleet, in virtual time: the product's ledger calls, the product's plan decides for each.

The operator is one process for all of them. Where it is killed, another one begins from what stands in the statuses.
Groups at rest are looked at every 15 s, as the product does, so that what needs a fresh look has to ask for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Final

from slackwater.api.consumer_fleet import ConsumerFleetSpec
from slackwater.api.telemetry.events import TurnEvent
from slackwater.core.decision.acts import DeletePod, Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.kept import Kept
from slackwater.core.fleet.ledger import Called, Ledger
from slackwater.core.fleet.sight import Sight, sight_of
from slackwater.core.fleet.stands import stand_at
from slackwater.core.fleet.times import Gates
from slackwater.core.pace import in_motion, pace_after
from slackwater.core.plan import plan
from slackwater.core.status.compose import compose_status
from slackwater.core.telemetry.sight import Sight as Seen
from slackwater.core.telemetry.turns import Turns, follow_turns
from slackwater.core.world.history import GroupHistory, advance, interrupted
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, read_memory
from slackwater.core.world.observation import GroupObservation, KafkaView
from slackwater.core.world.turn import ALWAYS_ASKS, Turn, TurnRecord, TurnStanding
from slackwater.core.world.world import World
from slackwater.shell.fleet_objects import facts_of
from tests.core.simulation.invariants import Broken, Invariants
from tests.core.simulation.operator import SimulatedOperator
from tests.core.simulation.outside import Outside

LANDS_AFTER_S: Final = 2.0
"""How long a request of a dead operator is under way."""
LOOKS_APART_S: Final = 15.0
"""Of a group at rest."""
BACKS_OFF_S: Final = 15.0
"""How long nothing is tried after something was refused."""
FLEET: Final = "slackwater/platform"
CLUSTER: Final = "kafka-1"


class Killed(Exception):
    """The operator is gone."""


class Kill(Enum):
    """Where the operator is killed, once at each write of a status."""

    BEFORE = auto()
    AFTER = auto()
    AFTER_THE_ACT = auto()
    LATE = auto()
    """Before the write, which is carried out all the same, once another operator leads."""


class Weaker(Enum):
    """A leader with a piece missing, which the invariants have to find."""

    NEVER_ASKS = auto()
    """Every group may act as if it had been called."""
    FORGETS = auto()
    """Whoever has its turn is not counted."""


@dataclass(frozen=True)
class OfTheFleet:
    """One group, as a test says it."""

    name: str
    coordinator: int
    options: Mapping[str, Any] = field(default_factory=dict)


class Member(Outside):
    """The world outside of one group."""

    def __init__(self, of: OfTheFleet, turn: Callable[[RolloutMemory], Turn]) -> None:
        super().__init__(**of.options)
        self.coordinator, self._turn = of.coordinator, turn

    def observe(self) -> KafkaView:
        found = super().observe()
        return replace(found, coordinator=self.coordinator) if isinstance(found, GroupObservation) else found

    def world(self, kafka: KafkaView, history: GroupHistory) -> World:
        found = super().world(kafka, history)
        return replace(found, cluster_id=CLUSTER, turn=self._turn(found.memory))


class OneGroup(SimulatedOperator):
    """What the operator does for one of them."""

    def __init__(self, of: OfTheFleet, groups: Groups) -> None:
        outside = Member(of, lambda memory: groups.turn_of(of.name, memory))
        super().__init__(outside, Invariants(outside))
        for each in outside.sets.values():
            each.before_update = self.invariants.taken_down
        self.name, self.groups, self.coordinator = of.name, groups, of.coordinator
        self.moves, self.again_at = True, 0.0
        self.is_refused, self.backs_off_until = False, 0.0
        """Whether the API server takes no write of its StatefulSets, and when that is tried again."""
        self.view: KafkaView | None = None
        self.looked_at, self.sight = 0.0, Sight()
        self.waits_of: list[int] = []
        """For each turn, how many writes there were from the one that says that it waits to the one that gives it."""
        self.while_waiting: int | None = None
        self.given: list[float] = []
        self.turns, self.told = Turns(), list[TurnEvent]()
        self.late: tuple[float, Mapping[str, Any], Mapping[str, Any]] | None = None
        """When a write lands that is under way, what it was decided upon, and what it says."""

    @property
    def memory(self) -> RolloutMemory:
        return read_memory(self.outside.status)

    @property
    def is_away(self) -> bool:
        """A pod that served is down, since we took it down."""
        return bool(self.invariants.taken)

    def look(self) -> World:
        now, is_old = self.outside.now, self.outside.now - self.looked_at >= LOOKS_APART_S
        if self.view is None or self.moves or is_old:
            self.view, self.looked_at = self.outside.observe(), now
            found = self.view
            self.history = (
                advance(self.history, found) if isinstance(found, GroupObservation) else interrupted(self.history)
            )
        return self.outside.world(self.view, self.history)

    def one_pass(self) -> None:
        world = self.look()
        self.sight = sight_of(world)
        decided = plan(world)
        self.last, self.last_world = decided, world
        self._tell(world, decided)
        self.moves = in_motion(world, decided)
        status = compose_status(world, decided, self.outside.status)
        kill = None
        if status != self.outside.status:
            kill = self.groups.kills_now(self, decided)
            if kill is Kill.LATE:
                self.late = (self.outside.now + LANDS_AFTER_S, self.outside.status, status)
            if kill in (Kill.BEFORE, Kill.LATE):
                raise Killed
            self._written(self.memory.turn, decided)
            self.outside.write_status(status)
            self.writes += 1
            self.groups.takes_in(self)
        if kill is Kill.AFTER:
            raise Killed
        if decided.act is not None:
            self.groups.judge(self, world, decided)
            if self.is_refused:
                self.backs_off_until = self.outside.now + BACKS_OFF_S
                return
            self.invariants.before_act(world, decided)
            self._act(decided.act)
        if kill is Kill.AFTER_THE_ACT:
            raise Killed
        self.turns, told = follow_turns(self.turns, Seen(world, decided))
        self.told += told
        self.again_at = self.outside.now + pace_after(world, decided).again_s
        self.groups.takes_in(self)

    def _written(self, before: TurnRecord | None, decided: Decision) -> None:
        after, hold = decided.memory.turn, decided.hold
        is_held = after is not None and after.is_held
        if is_held and (before is None or not before.is_held):
            self.given.append(self.outside.now)
            self.groups.judge_beginning(self)
            if self.while_waiting is not None:
                self.waits_of.append(self.while_waiting)
            self.while_waiting = None
        elif self.while_waiting is not None:
            self.while_waiting += 1
        elif after is not None and after.asks and hold is not None and hold.reason is Reason.AWAITING_TURN:
            self.while_waiting = 0

    def lands(self) -> None:
        """Unless the object has changed: every write says which version of it was looked at."""
        if self.late is None or self.late[0] > self.outside.now:
            return
        (_, before, status), self.late = self.late, None
        if before == self.outside.status:
            self.outside.write_status(status)
            self.groups.takes_in(self)

    def begin_anew(self) -> None:
        """Another process: it knows what was written."""
        self.history, self.view, self.moves, self.again_at = GroupHistory(), None, True, 0.0
        self.sight, self.turns = Sight(), Turns()
        for each in self.outside.sets.values():
            each.edited = True


@dataclass
class Groups:
    """The fleet, the groups, and the process that leads."""

    members: tuple[OfTheFleet, ...]
    fleet: dict[str, Any]
    kill: Kill | None = None
    weaker: Weaker | None = None
    shut: set[str] = field(default_factory=set)
    """Gates of the fleet that are shut: pause, windows, freezes."""
    stops: set[str] = field(default_factory=set)
    """Those of them at which whoever has begun stops as well."""
    kills: int = 0
    kills_every: int = 1

    def __post_init__(self) -> None:
        calm = {"failures": 1000, "disturbed": "100%"}  # new groups, all of them disturbed, would halt it for minutes
        halt = {**calm, **self.fleet.get("halt", {})}
        spec = ConsumerFleetSpec.model_validate({"selector": {}, **self.fleet, "halt": halt})
        self._fleet = Fleet("slackwater", "platform", spec)
        self._killed_at: set[object] = set()
        self.groups: dict[str, OneGroup] = {}
        self.ledger = Ledger()
        self.groups = {f"slackwater/{of.name}": OneGroup(of, self) for of in self.members}
        self._lead()

    @property
    def now(self) -> float:
        return next(iter(self.groups.values())).outside.now

    def __iter__(self) -> Iterator[OneGroup]:
        return iter(self.groups.values())

    def __getitem__(self, name: str) -> OneGroup:
        return self.groups[f"slackwater/{name}"]

    # The leader.
    def _lead(self) -> None:
        """Another process, that knows what was written; and of halts what it works out again."""
        self.ledger = Ledger()
        facts = [self.facts(each) for each in self]
        self._wake(self.ledger.began([Kept(self._fleet, self._gates())], facts, self.now))

    def facts(self, group: OneGroup) -> GroupFacts:
        """By the product's own reading of an object."""
        outside = group.outside
        metadata = {
            "namespace": "slackwater",
            "name": group.name,
            "uid": group.name,
            "annotations": outside.annotations,
        }
        obj = {"metadata": metadata, "spec": outside.spec}
        facts = facts_of(obj, group.memory, group.sight, [self._fleet], self.now)
        forgotten = self.weaker is Weaker.FORGETS and facts.standing is Standing.HAS
        return replace(facts, standing=Standing.RESTS) if forgotten else facts

    def takes_in(self, group: OneGroup) -> None:
        self._wake(self.ledger.changed(self.facts(group), self.now))

    @property
    def is_halted(self) -> bool:
        kept = self.ledger.kept(FLEET)
        return kept is not None and kept.halts.by_failures is not None

    def turn_of(self, name: str, memory: RolloutMemory) -> Turn:
        """As `shell.fleets` says it."""
        key, turn = f"slackwater/{name}", memory.turn
        standing = TurnStanding.WAITS
        if turn is not None and turn.is_held:
            standing = TurnStanding.HAS if self.ledger.may_go_on(key) else standing
        elif self.ledger.may_begin(key, self.now):
            standing = TurnStanding.CALLED
        if self.weaker is Weaker.NEVER_ASKS:
            standing = TurnStanding.CALLED
        if self.weaker is Weaker.FORGETS and turn is not None and turn.is_held:
            standing = TurnStanding.HAS
        stands_at = stand_at(self.ledger.allocator.waits_for(key))
        return Turn(standing, self.ledger.fleets_of(key), ALWAYS_ASKS | self.ledger.asks_for(key), stands_at=stands_at)

    def set_shut(self, gate: str, *, is_shut: bool) -> None:
        self.shut = self.shut | {gate} if is_shut else self.shut - {gate}
        self._wake(self.ledger.passed(FLEET, self._gates(), self.now))

    def _gates(self) -> Gates:
        return Gates(frozenset(self.shut), frozenset(self.shut & self.stops))

    def kills_now(self, group: OneGroup, decided: Decision) -> Kill | None:
        """At each write that says something else of a group, once; or at every so manieth of these."""
        turn, hold = decided.memory.turn, decided.hold
        moments = None if turn is None else (turn.given_at is None, turn.done_at is None, turn.yielded)
        step = None if decided.memory.step is None else decided.memory.step.ordinal
        write = (group.name, decided.memory.phase, moments, step, None if hold is None else hold.reason)
        if self.kill is None or write in self._killed_at:
            return None
        self._killed_at.add(write)
        if len(self._killed_at) % self.kills_every:
            return None
        self.kills += 1
        return self.kill

    def _wake(self, called: Called) -> None:
        for key in called:
            if key in self.groups:
                self.groups[key].again_at = 0.0

    # Time.
    def step(self) -> None:
        for each in self:
            each.outside.tick(1.0)
            each.invariants.watch()
            each.lands()
        self._wake(self.ledger.ticked(self.now))
        if (at := self.ledger.allocator.relist_at) is not None and at <= self.now:
            self._wake(self.ledger.relisted([self.facts(each) for each in self], self.now))
        for each in self:
            if self.now < each.backs_off_until:
                continue
            # A watch tells of pods and StatefulSets; a group at rest is looked at now and then.
            if not (each.moves or self.now >= each.again_at or self.now - each.looked_at >= LOOKS_APART_S):
                continue
            try:
                each.one_pass()
            except Killed:
                for group in self:
                    group.begin_anew()
                self._lead()
        self.judge_all()

    def for_seconds(self, seconds: float) -> None:
        until = self.now + seconds
        while self.now < until:
            self.step()

    def until(self, what: str, so: Callable[[], bool], within_s: float = 1500.0) -> None:
        until = self.now + within_s
        while self.now < until:
            self.step()
            if so():
                return
        last = {each.name: (each.memory.phase, each.hold, each.memory.turn) for each in self}
        raise AssertionError(f"not {what} after {within_s} s: {last}")

    def until_all(self, *phases: RolloutPhase, image: str | None = None, within_s: float = 1500.0) -> None:
        """Every group is in one of the phases, and runs that image."""

        def so() -> bool:
            return all(each.memory.phase in phases and self._has(each, image) for each in self)

        self.until(f"in {phases} with {image}", so, within_s)

    def _has(self, group: OneGroup, image: str | None) -> bool:
        return image is None or all(group.outside.image(pod) == image for pod in group.outside.pods)

    # What must never happen.
    def judge_all(self) -> None:
        """No more groups move in a cell, because of us, than may."""
        moving = [each for each in self if each.is_away and not each.memory.phase.goes_back]
        for budget in self._fleet.spec.budgets:
            cells = Counter(str(each.coordinator) if budget.per == "Coordinator" else "" for each in moving)
            assert isinstance(budget.max, int)
            for cell, moved in cells.items():
                if moved > budget.max:
                    names = ", ".join(each.name for each in moving)
                    raise Broken(f"{moved} groups move in cell {budget.name} {cell}, and {budget.max} may: {names}")

    def judge(self, group: OneGroup, world: World, decided: Decision) -> None:
        """Nobody who serves is disturbed without a turn that is given, written and admitted; but for remedies."""
        act, phase = decided.act, decided.memory.phase
        if not isinstance(act, WriteWorkload | DeletePod) or phase is not RolloutPhase.PROGRESSING or self.weaker:
            return  # where a piece is missing, the budgets have to tell
        pods = {pod.ordinal: pod for pod in group.outside.pods}
        ordinals = list(pods) if act.ordinal is None else [act.ordinal]
        begins = act.disruptive or (isinstance(act, WriteWorkload) and act.purpose is Purpose.HAND_OVER)
        if world.replicas == 0 or not begins or not any(group.outside.serves(pods[o]) for o in ordinals if o in pods):
            return
        written = group.memory.turn
        key = f"slackwater/{group.name}"
        if written is None or not written.is_held or not self.ledger.may_go_on(key):
            raise Broken(f"{group.name} acts without a turn: {written}")

    def judge_beginning(self, group: OneGroup) -> None:
        """Nothing begins while the fleet keeps everybody from it."""
        turn = group.memory.turn
        halted = self.is_halted and not (turn is not None and turn.is_a_fix)
        if self.shut or halted:
            raise Broken(f"{group.name} begins while {self.shut or 'everything'} is shut")
