"""A plan in words: what would be done now, why, what the gates say, and what would follow. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from slackwater.api.annotations import RETRY
from slackwater.api.durations import format_duration
from slackwater.cli.words.acts import in_words, ordinals_of
from slackwater.cli.words.gates import GateVerdict, Mark, ask_gates, was_asked
from slackwater.cli.words.protocol import cutover_ahead
from slackwater.cli.words.readiness import surplus, unready
from slackwater.core.decision.acts import DeletePod, Purpose, RemoveMembers, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import by_command, count, listing
from slackwater.core.rollout.candidates import replaceable
from slackwater.core.rollout.together import a_pod_has_it, most_away
from slackwater.core.world.behind import behind
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World


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
    unsure: bool = False
    """It is a hold only because the group was not looked at for long enough from here."""
    unready: str = ""
    """Where there is nothing to do: the reason for which the group is not Ready, or not known to be."""


def explain(world: World, plan: Decision) -> Explanation:
    follow, lacks = _pods_to_follow(world, plan), None
    if plan.act is not None:
        outcome, words, reason = Outcome.ACT, in_words(world, plan.act), ""
    elif plan.hold is not None:
        outcome, words, reason = Outcome.HOLD, plan.hold.message, plan.hold.reason.value
    else:
        lacks = unready(world) if _is_at_rest(plan) else None
        words = lacks.words if lacks is not None else _nothing_to_do(world, plan)
        outcome, reason = Outcome.NOTHING, ""
    goes_on = world.workload is not None and world.foreign is None and not world.group.metadata.is_being_deleted
    gates = ask_gates(world, plan) if goes_on else ()
    unsure = next((gate for gate in gates if gate.mark is Mark.UNKNOWN and gate.reason == reason), None)
    words = words if unsure is None else unsure.message
    afterwards = _afterwards(world, plan, follow)
    asked, lack = was_asked(plan), "" if lacks is None else lacks.reason
    return Explanation(outcome, words, reason, gates, asked, follow, afterwards, unsure is not None, lack)


def _is_at_rest(plan: Decision) -> bool:
    return not plan.notes and plan.memory.phase.at_rest


def _nothing_to_do(world: World, plan: Decision) -> str:
    if plan.notes:
        return "; ".join(note.message for note in plan.notes)
    if plan.memory.phase.under_way:
        return "a rollout is about to begin"
    if plan.memory.phase.gave_up:
        return (
            "every pod has the last good version. What the spec asks for was given up:"
            f" apply one that works; {by_command(RETRY, world.group.name)} tries it again"
        )
    if plan.refusal is not None:
        return "nothing to do, for the group keeps the protocol that it has"
    if sum(pod.ready for pod in world.wanted_pods) < world.replicas:
        return "nothing to roll out: every pod that there is has this version"
    more, alone = (" more", f"; {left}") if (left := surplus(world)) else ("", "")
    return f"nothing{more} to do: {count(world.replicas, 'pod')} as wanted, all of them of this version{alone}"


def _pods_to_follow(world: World, plan: Decision) -> tuple[str, ...]:
    """Pods that are still to be restarted or handed over, apart from the one that the act itself is about."""
    act, workload = plan.act, world.workload
    if workload is None or not plan.memory.phase.under_way or world.group.metadata.is_being_deleted:
        return ()
    if world.beside is not None:
        in_hand = ordinals_of(world, act) | {pod.ordinal for pod in world.beside.arriving}
        return tuple(pod.name for pod in world.to_hand_over if pod.ordinal not in in_hand)
    if isinstance(act, WriteWorkload) and act.purpose is Purpose.OPEN_BESIDE:
        return tuple(pod.name for pod in world.wanted_pods)
    if isinstance(act, WriteWorkload) and act.purpose is Purpose.TAKE_TEMPLATE:
        good = plan.memory.last_good_revision if plan.memory.phase.goes_back else None
        return tuple(pod.name for pod in reversed(world.wanted_pods) if pod.revision != good)
    if act is None and plan.memory.phase.goes_back:
        return tuple(pod.name for pod in reversed(behind(world.remembering(plan.memory))))
    opens = isinstance(act, WriteWorkload) and act.purpose is not Purpose.RESTART
    touched = frozenset[int]() if opens else ordinals_of(world, act)
    return tuple(pod.name for pod in replaceable(world, workload) if pod.ordinal not in touched)


def _afterwards(world: World, plan: Decision, follow: tuple[str, ...]) -> str:
    if (profile := cutover_ahead(world, plan)) is not None:
        return _after_the_stop(world, plan, profile)
    if not follow:
        return ""
    more = "more " if plan.act is not None and plan.act.disruptive else ""
    pods = f"{len(follow)} {more}pod" + ("s are" if len(follow) > 1 else " is")
    order = f", {_at_a_time(world, plan)}, each" if len(follow) > 1 else ""
    how = "handed over" if _is_warm(world, plan) else "restarted"
    stops = f"{_canary_stops(world, plan)}{_further_steps(plan)}"
    return f"{pods} {how}{order} after its gates: {listing(follow, 6)}{stops}"


def _at_a_time(world: World, plan: Decision) -> str:
    """The first pod of a version goes alone."""
    workload = world.workload
    in_place = workload is not None and not _is_warm(world, plan)
    most = most_away(world.remembering(plan.memory), workload) if workload is not None and in_place else 1
    if most == 1:
        return "one at a time"
    act = plan.act
    goes_now = isinstance(act, DeletePod) or (isinstance(act, WriteWorkload) and act.purpose is Purpose.RESTART)
    begun = goes_now or (workload is not None and a_pod_has_it(world.remembering(plan.memory), workload))
    return f"up to {most} at a time" if begun else f"the first one alone, then up to {most} at a time"


def _is_warm(world: World, plan: Decision) -> bool:
    opens = isinstance(plan.act, WriteWorkload) and plan.act.purpose is Purpose.OPEN_BESIDE
    return world.beside is not None or opens


def _after_the_stop(world: World, plan: Decision, profile: Profile) -> str:
    starts = f"{count(world.replicas, 'pod')} start with the settings of {profile.words}"
    if isinstance(plan.act, WriteWorkload) and plan.act.purpose is Purpose.START:
        return ""
    if isinstance(plan.act, RemoveMembers):
        return f"once the group is empty, {starts}"
    return f"once all pods have ended, their members are taken out of the group, and {starts}"


def _further_steps(plan: Decision) -> str:
    upgrade = plan.memory.upgrade
    if upgrade is None or plan.memory.phase is not RolloutPhase.PROGRESSING or upgrade.step == len(upgrade.path):
        return ""
    return f"; then all of them once more, with the settings of {upgrade.path[upgrade.step].words}"


def _canary_stops(world: World, plan: Decision) -> str:
    """Where it is to stop. It stands at a step already where nothing but that step holds it."""
    if plan.memory.phase is not RolloutPhase.PROGRESSING:
        return ""
    canary, steps = plan.memory.canary, world.canary
    stands = plan.hold is not None and plan.hold.reason is Reason.CANARY_HOLD
    is_there = canary is not None and (canary.passed or (stands and not canary.lost))
    reached = canary.size_in(steps) if canary is not None and is_there else 0
    stops = [
        f"at {count(step.replicas, 'pod')} "
        + ("until promoted" if step.hold_ms is None else f"for {format_duration(step.hold_ms)}")
        for step in steps
        if step.replicas > reached
    ]
    return f"; it stops {listing(stops)}" if stops else ""
