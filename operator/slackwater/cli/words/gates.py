"""What each gate says of a world, for people. Pure: it asks the gates that the operator asks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from slackwater.core.decision.acts import DeletePod
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import GateName, Hold, Reason
from slackwater.core.decision.words import seconds
from slackwater.core.members.presence import Presence, presence
from slackwater.core.rollout.candidates import known_down, out_of_the_group
from slackwater.core.rollout.gates import GATES, Gate, gates_asked, gates_of_who_is_out
from slackwater.core.rollout.way_back import the_pod_before_is_back
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import GroupObservation, Unobserved
from slackwater.core.world.world import World

_NAMES: Final[Mapping[Gate, GateName]] = {
    **dict(zip(GATES, GateName, strict=True)),
    the_pod_before_is_back: GateName.MEMBERS_ARE_OURS,
}


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


def ask_gates(world: World, plan: Decision) -> tuple[GateVerdict, ...]:
    """One verdict for each gate, as they stand before the plan's act; those behind a refusal are not asked."""
    world = replace(world, memory=_memory_before_the_act(world, plan))
    if isinstance(world.kafka, Unobserved):
        return _refused_at(GateName.OBSERVATION_IS_FRESH, Hold(world.kafka.reason, world.kafka.message))
    down = frozenset[int]() if world.workload is None else known_down(world, world.workload)
    is_out = world.workload is not None and world.beside is None and bool(out_of_the_group(world, world.workload))
    verdicts: dict[GateName, GateVerdict] = {}
    gates = gates_of_who_is_out(world) if is_out else gates_asked(world)
    if gates is GATES and (blind := world.kafka.blind_to) is not None:
        return _refused_at(GateName.OBSERVATION_IS_FRESH, Hold(blind.reason, blind.message))
    for gate in gates:
        name, hold = _NAMES[gate], gate(world, world.kafka, down)
        if hold is None:
            verdicts[name] = _verdict(name, Mark.PASS)
        elif _is_only_short_of_time(world, hold):
            verdicts[name] = _watched_too_briefly(world, world.kafka, name, hold)
        else:
            verdicts[name] = _verdict(name, Mark.REFUSE, hold)
            break
    return tuple(verdicts.get(name) or _verdict(name, Mark.NOT_ASKED) for name in GateName)


def gates_by_reason(world: World, reason: Reason | None, message: str) -> tuple[GateVerdict, ...] | None:
    """What an operator's condition RolloutGated says of each gate; None when its reason is none of a gate."""
    if reason is None or reason.gate is None:
        return None
    asked = {_NAMES[gate] for gate in gates_asked(world)}
    return _refused_at(reason.gate, Hold(reason, message), asked)


def was_asked(plan: Decision) -> bool:
    """Whether the plan depended on the gates: what disturbs no pod that works does not ask them.

    A pod is deleted without them where its process can never join any more; that is no step of a rollout.
    """
    if plan.act is not None:
        return plan.act.asks_the_gates
    return plan.hold is not None and (plan.hold.reason.behind_the_gates or plan.hold.reason.gate is not None)


def _memory_before_the_act(world: World, plan: Decision) -> RolloutMemory:
    """What the plan remembers, but for the restart or handover that it is about to begin: the gates come before it."""
    if isinstance(plan.act, DeletePod) or (plan.act is not None and plan.act.asks_the_gates):
        return replace(plan.memory, step=world.memory.step, handover=world.memory.handover)
    return plan.memory


def _verdict(name: GateName, mark: Mark, hold: Hold | None = None) -> GateVerdict:
    reason, message = (hold.reason.value, hold.message) if hold is not None else ("", "")
    return GateVerdict(name.number, name.value, mark, reason, message)


def _refused_at(
    refusing: GateName, hold: Hold, asked: Collection[GateName] = tuple(GateName)
) -> tuple[GateVerdict, ...]:
    """Every gate before it that is asked passes, and none behind it is asked."""

    def mark(name: GateName) -> Mark:
        return Mark.PASS if name in asked and name.number < refusing.number else Mark.NOT_ASKED

    refused = _verdict(refusing, Mark.REFUSE, hold)
    return tuple(refused if name is refusing else _verdict(name, mark(name)) for name in GateName)


def _is_only_short_of_time(world: World, hold: Hold) -> bool:
    """The group looks as it should for as long as it was watched, which was not long enough to be sure."""
    if hold.reason is Reason.GROUP_STABILIZING:
        return world.history.unchanged_from_the_first
    if hold.reason is Reason.MEMBER_NOT_REJOINED:
        return all(presence(world, pod) is not Presence.NO for pod in world.wanted_pods)
    return False


def _watched_too_briefly(world: World, kafka: GroupObservation, name: GateName, hold: Hold) -> GateVerdict:
    message = f"{hold.message}; from here it cannot be told yet"
    if hold.reason is Reason.GROUP_STABILIZING:
        calm, needed = seconds(world.history.calm_for(kafka)), seconds(world.group.spec.rollout.stable_for_s)
        message = f"calm, but watched for only {calm} of {needed} (stableFor)"
    return _verdict(name, Mark.UNKNOWN, replace(hold, message=message))
