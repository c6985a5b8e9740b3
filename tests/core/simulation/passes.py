"""The operator's passes, each with what went into its plan and what came out, for golden logs.

Written from what is public: the world, the decision, and the memory as it stands in `status.rollout`. `#7` is the
member with that number in its id; a pass with the same result as the one before it is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from slackwater.core.decision.decision import Decision
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, write_memory
from slackwater.core.world.observation import GroupObservation, KafkaView
from slackwater.core.world.pods import Pod
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World
from tests.core.simulation.operator import in_words
from tests.core.simulation.outside import START, Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.scenarios import Scenario
from tests.core.simulation.stateful_set import HASH_ANNOTATION

Json = Mapping[str, Any]


@dataclass
class Passes:
    """What is written down; its `write` is the simulated operator's witness."""

    outside: Outside
    log: list[str] = field(default_factory=list)
    _before: list[str] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)
    """Template hash → version and profile, so that the logs do not change with every detail of a template."""

    def write(self, world: World, decided: Decision) -> None:
        memory = decided.memory
        if memory.target_hash:
            name = "/".join(filter(None, (self.outside.wanted_version, memory.protocol)))
            self._names.setdefault(memory.target_hash, name)
        result = list(self._result(world, decided))
        if decided.act is None and result == self._before:
            return
        self._before = result
        self.log += ["", f"{world.now - START:.1f}  Input to plan", *map(self._named, self._input(world))]
        self.log += ["      Result of plan", *map(self._named, result)]

    def say(self, what: str) -> None:
        self.log += ["", f"-- {what}"]
        self._before = []

    def _input(self, world: World) -> Iterator[str]:
        spec = self.outside.spec
        target = spec["protocol"].get("target", "")
        wanted = "/".join(filter(None, (self.outside.wanted_version, target)))
        yield _line("wanted", f"{wanted}, {spec['replicas']} pods")
        for what, is_so in self._remembered(world.memory).items():
            yield _line(what, is_so)
        for each in world.sets:
            yield _line("set", self._set(each))
        for pod in sorted(world.all_pods, key=lambda pod: (pod.ordinal, pod.created_at)):
            yield _line("pod", self._pod(pod))
        yield _line("group", _group(world.kafka))

    def _result(self, world: World, decided: Decision) -> Iterator[str]:
        for note in decided.notes:
            yield _line("note", f"{note.reason}: {note.message}")
        for name, hold in (("hold", decided.hold), ("refusal", decided.refusal)):
            if hold is not None:
                yield _line(name, f"{hold.reason}: {hold.message}")
        before, after = self._remembered(world.memory), self._remembered(decided.memory)
        for what in [what for what in {**before, **after} if before.get(what) != after.get(what)]:
            yield _line("remember", f"{what}: {after.get(what, 'none')}")
        yield _line("act", "none" if decided.act is None else in_words(decided.act))

    def _remembered(self, memory: RolloutMemory) -> dict[str, str]:
        written = write_memory(memory)
        hashes = {"target": "targetHash", "last good": "lastGoodHash", "failed": "failedHash"}
        phase = [written["phase"], *(f"{what} {written[name]}" for what, name in hashes.items() if name in written)]
        remembered = {
            "phase": ", ".join(phase),
            "upgrade": _upgrade(written.get("upgrade")),
            "step": _step(written.get("step")),
            "handover": _handover(written.get("handover")),
            "removed": ", ".join(f"{i} {_number(m)}" for i, m in sorted(written.get("removed", {}).items())),
            "released": ", ".join(sorted(written.get("released", {}))),
            "refused": ", ".join(sorted(written.get("refused", {}))),
        }
        return {what: is_so for what, is_so in remembered.items() if is_so}

    def _set(self, each: Workload) -> str:
        moves = "OnDelete" if each.strategy is UpdateStrategy.ON_DELETE else f"partition {each.partition}"
        ordinals = f"ordinals {each.start} to {each.end - 1}" if each.replicas else "no ordinals"
        unread = "" if each.settled else ", not read yet"
        return f"{each.name} {each.template_hash}, {ordinals}, {moves}{unread}"

    def _pod(self, pod: Pod) -> str:
        """With the member that its process is: the truth, of which the plan sees what the group lists."""
        template = self.outside.revisions[pod.revision]
        version = template["metadata"]["annotations"][HASH_ANNOTATION]
        state = "Terminating" if pod.terminating else "Ready" if pod.ready else pod.waiting or "not Ready"
        crashes = f", {pod.restarts} restarts" if pod.restarts else ""
        return f"{pod.name} {version} {state}{crashes}, {self._member(pod)}"

    def _member(self, pod: Pod) -> str:
        process = next((each.process for each in self.outside.pods if each.uid == pod.uid), None)
        if process is None or not process.alive:
            return "no process"
        if self.outside.broker.has_fenced(process):
            return f"fenced, was {_number(process.member_id)}"
        if process.refused is not None:
            return process.refused
        return f"member {_number(process.member_id)}" if process.member_id else "no member"

    def _named(self, line: str) -> str:
        for template_hash, name in self._names.items():
            line = line.replace(template_hash, name)
        return line


def _line(what: str, is_so: str) -> str:
    return f"        {what:<10}{is_so}"


def _group(kafka: KafkaView) -> str:
    if not isinstance(kafka, GroupObservation):
        return f"unknown: {kafka.reason}"
    members = [_listed(kafka, index) for index in range(len(kafka.members))]
    assignor = f", {kafka.assignor}" if kafka.assignor else ""
    return f"{kafka.type} {kafka.state}{assignor}: {', '.join(sorted(members)) or 'nobody'}"


def _listed(kafka: GroupObservation, index: int) -> str:
    member = kafka.members[index]
    released = " released" if member.epoch is not None and member.epoch < 0 else ""
    return f"{member.instance_id or 'dynamic'} {_number(member.member_id)} has {len(member.assignment)}{released}"


def _number(member_id: str) -> str:
    return f"#{member_id.rpartition('/')[2]}"


def _step(step: Json | None) -> str:
    if step is None:
        return ""
    made = ", its pod was made" if step.get("made") else ""
    before = ", ".join(_number(member_id) for member_id in step.get("membersBefore", {}).values())
    return f"ordinal {step['ordinal']}, was {before or 'no member'}{made}"


REACHED: Final = {"after": "taken over", "undone": "undone"}
"""Field of `status.rollout.handover` → how far it has come."""


def _handover(handover: Json | None) -> str:
    if handover is None:
        return ""
    reached = next((word for name, word in REACHED.items() if handover.get(name)), "begun")
    over = " and over" if handover.get("over") else ""
    before, after = (", ".join(map(_number, handover.get(name, {}).values())) for name in ("before", "after"))
    ids = f"was {before or 'no member'}" + (f", is {after}" if after else "")
    fenced = f", times fenced {handover['fenced']}" if handover.get("fenced") else ""
    cold = ", cold" if handover.get("cold") else ""
    return f"ordinal {handover['ordinal']} to {handover['to']} {reached}{over}, {ids}{fenced}{cold}"


def _upgrade(upgrade: Json | None) -> str:
    if upgrade is None:
        return ""
    way = " to ".join([upgrade["origin"] or "own choice", *upgrade["path"]])
    returning = ", returning" if upgrade.get("returning") else ""
    return f"{upgrade['strategy']} {way}, step {upgrade.get('step', 1)}{returning}"


def passes_of(scenario: Scenario) -> list[str]:
    """What is written down from when version v1 runs everywhere, and in the end what it has cost."""
    run = Run(Outside(**scenario.options), crashes=scenario.crashes())
    passes = Passes(run.outside)
    run.operator.witness, run.happened = passes.write, passes.say
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(5)
    passes.log.clear()
    broker = run.outside.broker
    rebalances, idle_s = broker.rebalances, sum(broker.idle_s.values())
    scenario.happens(run)
    rebalances, idle_s = broker.rebalances - rebalances, sum(broker.idle_s.values()) - idle_s
    costs = f"{rebalances} rebalances, {idle_s:.0f} idle partition-seconds"
    return [" ".join((scenario.happens.__doc__ or "").split()), *passes.log, "", costs]
