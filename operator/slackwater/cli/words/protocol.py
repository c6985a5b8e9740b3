"""How a group rebalances, where it is being taken, and why it is not: in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from rich.text import Text

from slackwater.api.conditions import ConditionType
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import count
from slackwater.core.status.compose import protocol_status
from slackwater.core.world.memory import RolloutPhase, Upgrade
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.profile import Profile, profile_in
from slackwater.core.world.world import World

_OUTCOMES: Final[Mapping[RolloutPhase, str]] = {
    RolloutPhase.FAILED: ", has stopped",
    RolloutPhase.ROLLING_BACK: ", is being taken back",
    RolloutPhase.ROLLED_BACK: ", was taken back",
}


def protocol_line(world: World, plan: Decision) -> Text:
    """One line for a table: what the group has, or the way that it is on; and a refusal with its way out."""
    line = Text(protocol_in_words(world, plan))
    if refusal := refused(world, plan):
        target = world.group.spec.protocol.target
        line.append(f"; not taken to {target.value}. " if target is not None else ". ")
        line.append(f"{refusal.reason}: ", "bold yellow").append(refusal.message)
    return line


def protocol_in_words(world: World, plan: Decision) -> str:
    """What the group has; on the way to another protocol, from where to where, and how far it is."""
    if plan.memory.upgrade is not None:
        return _upgrade_in_words(world, plan.memory.phase, plan.memory.upgrade)
    current = str(_reported(world, plan).get("current") or "")
    if plan.memory.protocol is not Profile.OWN_CHOICE:
        return current or plan.memory.protocol.words
    return f"{current}, as the consumers chose" if current else Profile.OWN_CHOICE.words


class Refusal(NamedTuple):
    reason: str
    """As the operator says it, which may be of a later version than we are."""
    message: str
    recheck_s: float = 5.0


def refused(world: World, plan: Decision) -> Refusal | None:
    """Why the target is not gone to; where the operator sees more than we, it has the word."""
    if plan.memory.upgrade is not None:
        return None
    if not isinstance(world.kafka, Unobserved):
        refusal = plan.refusal if plan.refusal != plan.hold else None
        return None if refusal is None else Refusal(refusal.reason.value, refusal.message, refusal.recheck_s)
    conditions = world.group.status.get("conditions")
    for told in conditions if isinstance(conditions, list) else ():
        if isinstance(told, Mapping) and is_refusal(told):
            return Refusal(str(told.get("reason")), str(told.get("message")))
    return None


def is_refusal(condition: Mapping[str, object]) -> bool:
    """Whether an operator's condition says that the group is not taken to the protocol asked for."""
    says_no = condition.get("type") == ConditionType.PROTOCOL_UPGRADE and condition.get("status") == "False"
    return says_no and condition.get("reason") != Reason.PROTOCOL_AS_WANTED


def cutover_ahead(world: World, plan: Decision) -> Profile | None:
    """The profile that all pods are yet to start with after a stop; None when no cut-over is ahead."""
    upgrade = plan.memory.upgrade
    if upgrade is None or not upgrade.drains or world.workload is None:
        return None
    wanted = upgrade.behind if plan.memory.phase.goes_back else upgrade.here
    return wanted if profile_in(world.workload.template) is not wanted else None


def _reported(world: World, plan: Decision) -> Mapping[str, object]:
    """Where the operator sees more than we, what it has reported."""
    told = world.group.status.get("protocol")
    if isinstance(world.kafka, Unobserved) and isinstance(told, Mapping):
        return told
    return protocol_status(replace(world, memory=plan.memory), plan)


def _upgrade_in_words(world: World, phase: RolloutPhase, upgrade: Upgrade) -> str:
    way = f"{upgrade.origin.words} to {upgrade.target.words} by {upgrade.strategy}"
    way += f", step {upgrade.step} of {len(upgrade.path)}"
    if upgrade.returning:
        way = f"back to {upgrade.target.words}, since the target changed in the middle of a step"
    arrived = sum(pod.protocol is upgrade.here for pod in world.wanted_pods)
    have = (
        f"{arrived} of {count(world.replicas, 'pod')} {'has' if world.replicas == 1 else 'have'} {upgrade.here.words}"
    )
    return f"{way}{_OUTCOMES.get(phase, '')}: {have}"
