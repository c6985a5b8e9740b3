"""A plan in words: what would be done now, why, what the gates say, and what would follow. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from slackwater.api.durations import format_duration
from slackwater.cli.gates import GateVerdict, Mark, ask_gates, was_asked
from slackwater.core.acts import Act, DeletePod, Purpose, WriteWorkload
from slackwater.core.memory import RolloutPhase
from slackwater.core.plan import Plan
from slackwater.core.rollout import replaceable
from slackwater.core.text import listing
from slackwater.core.world import World


class Outcome(StrEnum):
    ACT = "act"
    HOLD = "hold"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Explanation:
    outcome: Outcome
    words: str
    """What would be done, or why nothing is."""
    reason: str
    """A condition's reason; empty when nothing holds the rollout."""
    gates: tuple[GateVerdict, ...]
    gates_asked: bool
    """Whether the outcome depended on the gates."""
    follow: tuple[str, ...]
    """Pods that would be restarted after this, in their order."""
    afterwards: str


def explain(world: World, plan: Plan) -> Explanation:
    follow = _pods_to_follow(world, plan)
    if plan.act is not None:
        outcome, words, reason = Outcome.ACT, in_words(world, plan.act), ""
    elif plan.hold is not None:
        outcome, words, reason = Outcome.HOLD, plan.hold.message, str(plan.hold.reason)
    else:
        outcome, words, reason = Outcome.NOTHING, _nothing_to_do(world, plan), ""
    gates = ask_gates(world, plan) if world.workload is not None else ()
    unsure = next((gate for gate in gates if gate.mark is Mark.UNKNOWN and gate.reason == reason), None)
    words = words if unsure is None else unsure.message
    return Explanation(outcome, words, reason, gates, was_asked(plan), follow, _afterwards(world, plan, follow))


def in_words(world: World, act: Act) -> str:
    """The act as somebody would tell it who is about to do it."""
    if isinstance(act, DeletePod):
        return f"delete pod {act.name}: {act.why}"
    name = world.group.name
    match act.purpose:
        case Purpose.CREATE:
            return f"create StatefulSet {name} with {_pods(act.replicas)}"
        case Purpose.TAKE_TEMPLATE:
            return f"write the new template into StatefulSet {name}; no pod moves yet"
        case Purpose.SCALE:
            before = world.workload.replicas if world.workload is not None else 0
            return f"change StatefulSet {name} from {before} to {_pods(act.replicas)}"
        case Purpose.RESTART:
            return f"restart pod {name}-{act.ordinal}, so that it takes up the new version"
        case Purpose.OPEN_OUT_OF_ORDER:
            return f"let pod {name}-{act.ordinal}, which is down, come back with the new version before its turn"
        case Purpose.CLOSE_OUT_OF_ORDER:
            return "go back to restarting pods in order"
        case Purpose.PARK:
            return "hold every pod where it is, now that the rollout is over; no pod is restarted"


def _nothing_to_do(world: World, plan: Plan) -> str:
    if plan.notes:
        return "; ".join(note.message for note in plan.notes)
    if plan.memory.phase.under_way:
        return "a rollout is about to begin"
    if sum(pod.ready for pod in world.wanted_pods) < world.group.spec.replicas:
        return "nothing to roll out: every pod that there is has this version"
    return f"nothing to do: {_pods(world.group.spec.replicas)} as wanted, all of them of this version"


def _pods_to_follow(world: World, plan: Plan) -> tuple[str, ...]:
    """Pods that are still to be restarted, apart from the one that the act itself is about."""
    act, workload = plan.act, world.workload
    if workload is None or not plan.memory.phase.under_way:
        return ()
    if isinstance(act, WriteWorkload) and act.purpose is Purpose.TAKE_TEMPLATE:
        good = plan.memory.last_good_revision if plan.memory.phase.goes_back else None
        return tuple(pod.name for pod in reversed(world.wanted_pods) if pod.revision != good)
    touched = None if isinstance(act, WriteWorkload) and act.purpose is not Purpose.RESTART else _ordinal(act)
    return tuple(pod.name for pod in replaceable(world, workload) if pod.ordinal != touched)


def _ordinal(act: Act | None) -> int | None:
    return None if act is None else act.ordinal


def _afterwards(world: World, plan: Plan, follow: tuple[str, ...]) -> str:
    if not follow:
        return ""
    more = "more " if plan.act is not None and plan.act.disruptive else ""
    count = f"{len(follow)} {more}pod" + ("s are" if len(follow) > 1 else " is")
    order = ", one at a time, each" if len(follow) > 1 else ""
    return f"{count} restarted{order} after its gates: {listing(follow, 6)}{_canary_stops(world, plan)}"


def _canary_stops(world: World, plan: Plan) -> str:
    if plan.memory.phase is not RolloutPhase.PROGRESSING:
        return ""
    passed = plan.memory.canary.index if plan.memory.canary is not None and plan.memory.canary.passed else -1
    stops = [
        f"at {_pods(step.replicas)} "
        + ("until promoted" if step.hold_ms is None else f"for {format_duration(step.hold_ms)}")
        for index, step in enumerate(world.group.spec.rollout.canary)
        if index > passed
    ]
    return f"; it stops {listing(stops)}" if stops else ""


def _pods(count: int) -> str:
    return "1 pod" if count == 1 else f"{count} pods"
