"""What each of the seven gates says of a world, for people. Pure: it asks the gates that the operator asks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from slackwater.core.decision.acts import (
    AlterGroupSettings,
    DeleteGroup,
    DeletePod,
    DeleteWorkload,
    LetGo,
    Purpose,
    ReleaseMembers,
    RemoveMembers,
    WriteWorkload,
)
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import seconds
from slackwater.core.members.presence import Presence, presence
from slackwater.core.rollout.candidates import known_down
from slackwater.core.rollout.gates import GATES
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import GroupObservation, Unobserved
from slackwater.core.world.world import World


class Mark(StrEnum):
    PASS = "pass"
    REFUSE = "refuse"
    UNKNOWN = "unknown"
    """The group has not been looked at for long enough to tell."""
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class GateVerdict:
    number: int
    name: str
    mark: Mark
    reason: str = ""
    message: str = ""


_NAMES: Final = tuple(gate.__name__.replace("_", " ") for gate in GATES)

_REASONS: Final = (
    (
        Reason.KAFKA_UNREACHABLE,
        Reason.COORDINATOR_UNAVAILABLE,
        Reason.NOT_AUTHORIZED,
        Reason.TOPIC_MISSING,
        Reason.OBSERVATION_INCOMPLETE,
        Reason.OBSERVATION_STALE,
        Reason.STATEFUL_SET_NOT_OBSERVED,
        Reason.CONNECTION_INVALID,
    ),
    (Reason.PAUSED,),
    (Reason.POD_MISSING, Reason.POD_NOT_READY),
    (Reason.GROUP_REBALANCING, Reason.GROUP_STABILIZING),
    (
        Reason.FOREIGN_MEMBERS,
        Reason.ZOMBIE_MEMBER,
        Reason.DUPLICATE_INSTANCE_ID,
        Reason.MEMBER_MISSING,
        Reason.MEMBER_NOT_REJOINED,
    ),
    (Reason.PARTITIONS_NOT_OWNED, Reason.MEMBER_OWNS_NOTHING, Reason.OFFSETS_NOT_MOVING),
    (Reason.LAG_UNKNOWN, Reason.LAG_ABOVE_GATE),
)
"""The reasons of each gate, in the gates' order: by them an operator's own word is put at its gate."""

_ASK_THE_GATES: Final = (
    Purpose.RESTART,
    Purpose.OPEN_OUT_OF_ORDER,
    Purpose.HAND_OVER,
    Purpose.GIVE_UP,
    Purpose.LET_GO_EARLY,
)
_BEHIND_THE_GATES: Final = (Reason.CANARY_HOLD, Reason.STEP_NOT_PROVEN)
"""Holds that come only when all gates hold."""


def ask_gates(world: World, plan: Decision) -> tuple[GateVerdict, ...]:
    """One verdict for each gate, as they stand before the plan's act; those behind a refusal are not asked."""
    world = replace(world, memory=_memory_before_the_act(world, plan))
    if isinstance(world.kafka, Unobserved):
        return _refused_at(1, Hold(world.kafka.reason, world.kafka.message))
    down = frozenset[int]() if world.workload is None else known_down(world, world.workload)
    verdicts: list[GateVerdict] = []
    for number, gate in enumerate(GATES, 1):
        hold = gate(world, world.kafka, down)
        if hold is None:
            verdicts.append(GateVerdict(number, _NAMES[number - 1], Mark.PASS))
        elif _is_only_short_of_time(world, hold):
            verdicts.append(_watched_too_briefly(world, world.kafka, number, hold))
        else:
            return (*verdicts, *_refused_at(number, hold)[number - 1 :])
    return tuple(verdicts)


def gates_by_reason(reason: str, message: str) -> tuple[GateVerdict, ...] | None:
    """What an operator's condition RolloutGated says of each gate; None when its reason is none of a gate."""
    number = next((n for n, reasons in enumerate(_REASONS, 1) if reason in reasons), None)
    return None if number is None else _refused_at(number, Hold(reason, message))


def was_asked(world: World, plan: Decision) -> bool:
    """Whether the plan depended on the gates: what disturbs no pod that works does not ask them.

    A pod is deleted without them where its process can never join any more; that is no step of a rollout.
    """
    match plan.act:
        case WriteWorkload():
            return plan.act.purpose in _ASK_THE_GATES
        case DeletePod():
            return plan.memory.step is not None and plan.memory.step.started_at == world.now
        case RemoveMembers() | ReleaseMembers() | AlterGroupSettings() | DeleteWorkload() | DeleteGroup() | LetGo():
            return False
        case None:
            return plan.hold is not None and (plan.hold.reason in _BEHIND_THE_GATES or is_gate_reason(plan.hold.reason))


def is_gate_reason(reason: str) -> bool:
    return any(reason in reasons for reasons in _REASONS)


def _memory_before_the_act(world: World, plan: Decision) -> RolloutMemory:
    """What the plan remembers, but for the restart that it is about to begin: the gates were asked before that."""
    if was_asked(world, plan) and plan.act is not None:
        return replace(plan.memory, step=world.memory.step)
    return plan.memory


def _refused_at(number: int, hold: Hold) -> tuple[GateVerdict, ...]:
    passed = tuple(GateVerdict(n, _NAMES[n - 1], Mark.PASS) for n in range(1, number))
    refused = GateVerdict(number, _NAMES[number - 1], Mark.REFUSE, str(hold.reason), hold.message)
    unasked = tuple(GateVerdict(n, _NAMES[n - 1], Mark.NOT_ASKED) for n in range(number + 1, len(GATES) + 1))
    return (*passed, refused, *unasked)


def _is_only_short_of_time(world: World, hold: Hold) -> bool:
    """The group looks as it should for as long as it was watched, which was not long enough to be sure."""
    history = world.history
    if hold.reason == Reason.GROUP_STABILIZING:
        return history.unchanged_since == history.watched_since
    if hold.reason == Reason.MEMBER_NOT_REJOINED:
        return all(presence(world, pod) is not Presence.NO for pod in world.wanted_pods)
    return False


def _watched_too_briefly(world: World, kafka: GroupObservation, number: int, hold: Hold) -> GateVerdict:
    message = f"{hold.message}; from here it cannot be told yet"
    if hold.reason == Reason.GROUP_STABILIZING:
        calm, needed = seconds(world.history.calm_for(kafka)), seconds(world.group.spec.rollout.stable_for_s)
        message = f"calm, but watched for only {calm} of {needed} (stableFor)"
    return GateVerdict(number, _NAMES[number - 1], Mark.UNKNOWN, str(hold.reason), message)
