"""The operator of a simulation: the real decisions, history and status, in the order in which the shell does things."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from random import Random

from slackwater.core.decision.acts import (
    Act,
    AlterGroupSettings,
    DeleteGroup,
    DeletePod,
    DeleteWorkload,
    LetGo,
    Purpose,
    ReleaseMembers,
    RemoveMembers,
)
from slackwater.core.decision.decision import Decision
from slackwater.core.plan import plan
from slackwater.core.status.compose import compose_status
from slackwater.core.world.history import GroupHistory, advance, interrupted
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.world import World
from tests.core.simulation.invariants import Invariants
from tests.core.simulation.outside import START, Outside
from tests.core.simulation.stateful_set import Conflict


class Crash(Enum):
    """Where the operator is killed: everything but what it wrote is lost."""

    BEFORE_ACT = auto()
    AFTER_ACT = auto()


@dataclass
class Crashes:
    """When the operator is killed: at every act, once at each."""

    where: Crash | None = None
    _been: set[int] = field(default_factory=set)

    def at(self, act_number: int) -> Crash | None:
        if act_number in self._been:
            return None
        self._been.add(act_number)
        return self.where


@dataclass
class ChanceCrashes(Crashes):
    """At any act, as often as probability has it."""

    random: Random = field(default_factory=Random)
    probability: float = 0.0

    def at(self, act_number: int) -> Crash | None:
        return self.random.choice(tuple(Crash)) if self.random.random() < self.probability else None


@dataclass
class SimulatedOperator:
    outside: Outside
    invariants: Invariants
    history: GroupHistory = field(default_factory=GroupHistory)
    log: list[str] = field(default_factory=list)
    writes: int = 0
    last: Decision | None = None
    last_world: World | None = None
    acts: int = 0
    acted_upon: list[World] = field(default_factory=list)
    hold: str = ""
    """The last refusal, as the log tells it."""
    witness: Callable[[World, Decision], None] = lambda world, decided: None
    """Sees what went into each plan, and what came out."""
    names: dict[str, str] = field(default_factory=dict)
    """Template hash → the version's name, so that the logs do not change with every detail of a template."""

    def run_pass(self, crashes: Crashes) -> None:
        """Observe, decide, remember, act, report."""
        world = self.look()
        decided = plan(world)
        self.witness(world, decided)
        self.last, self.last_world = decided, world
        if decided.memory.target_hash:
            self.names[decided.memory.target_hash] = self.outside.wanted_version
        status = compose_status(world, decided, self.outside.status)
        self._tell(world, decided)
        if status != self.outside.status:
            self.outside.write_status(status)
            self.writes += 1
        if decided.act is None:
            return
        self.acted_upon.append(world)
        self.invariants.before_act(world, decided)
        crash = crashes.at(self.acts)
        if crash is Crash.BEFORE_ACT:
            self.die("after writing down what it was about to do")
            return
        self._act(decided.act)
        if crash is Crash.AFTER_ACT:
            self.die("after doing that")

    def look(self) -> World:
        kafka = self.outside.observe()
        if isinstance(kafka, GroupObservation):
            self.history = advance(self.history, kafka)
        else:
            self.history = interrupted(self.history)
        return self.outside.world(kafka, self.history)

    def _act(self, act: Act) -> None:
        if isinstance(act, DeletePod) and (pod := self.outside.set.pods.get(act.ordinal)) and pod.uid == act.uid:
            self.invariants.taken_down(pod)
        try:
            self.outside.carry_out(act)
            self.acts += 1
        except Conflict:
            self.say("the StatefulSet has changed meanwhile: not done")

    def die(self, when: str) -> None:
        self.say(f"the operator is killed {when}")
        self.history = GroupHistory()
        for each in self.outside.sets.values():
            each.edited = True  # for all that it knows

    def say(self, what: str) -> None:
        for template_hash, name in self.names.items():
            what = what.replace(template_hash, name)
        self.log.append(f"{self.outside.now - START:6.1f}  {what}")

    def _tell(self, world: World, decided: Decision) -> None:
        for note in decided.notes:
            self.say(f"event {note.reason}: {note.message}")
        if decided.act is not None:
            self.say(in_words(decided.act))
        hold = "" if decided.hold is None else f"hold {decided.hold.reason}: {decided.hold.message}"
        if hold not in ("", self.hold):
            self.say(hold)
        self.hold = hold
        if decided.memory.phase is not world.memory.phase:
            self.say(f"phase {decided.memory.phase}")


def in_words(act: Act) -> str:
    """As the logs tell it."""
    if isinstance(act, DeletePod):
        return f"delete pod {act.name}: {act.why}"
    if isinstance(act, RemoveMembers | ReleaseMembers):
        ids = ", ".join(ref.instance_id for ref in act.members)
        return f"{'remove' if isinstance(act, RemoveMembers) else 'release'} {ids}: {act.why}"
    if isinstance(act, DeleteWorkload):
        return f"delete StatefulSet {act.name}: {act.why}"
    if isinstance(act, AlterGroupSettings):
        return f"set for the group: {dict(act.values)}"
    if isinstance(act, DeleteGroup | LetGo):
        raise AssertionError("no simulated group is deleted")  # noqa: TRY004 - the type is right
    where = "OnDelete" if act.strategy == "OnDelete" else f"partition {act.partition}"
    if act.purpose in BESIDE:
        ordinals = f"ordinals {act.start} to {act.start + act.replicas - 1}" if act.replicas else "no ordinals"
        return f"write {act.name}: {act.purpose} ({ordinals})"
    return f"write: {act.purpose} ({act.replicas} pods, {where})"


BESIDE = (
    Purpose.OPEN_BESIDE,
    Purpose.HAND_OVER,
    Purpose.LET_GO,
    Purpose.LET_GO_EARLY,
    Purpose.GIVE_UP,
    Purpose.TAKE_BACK,
    Purpose.FILL,
)
