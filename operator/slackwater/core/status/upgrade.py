"""What the condition `ProtocolUpgrade` says."""

from __future__ import annotations

from slackwater.api.annotations import RETRY
from slackwater.api.conditions import ConditionStatus
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import by_command
from slackwater.core.world.memory import Upgrade
from slackwater.core.world.profile import profile_of
from slackwater.core.world.world import World

_Said = tuple[ConditionStatus, Reason, str]


def upgrade_in_words(world: World, hold: Hold | None, refusal: Hold | None) -> _Said:
    """Status, reason and message."""
    upgrade = world.memory.upgrade
    if refusal is not None:
        return ConditionStatus.FALSE, refusal.reason, refusal.message
    if upgrade is None:
        return _between_upgrades(world)
    step = f"step {upgrade.step} of {len(upgrade.path)}"
    what = f"{upgrade.behind.words} to {upgrade.here.words}, {step} of {upgrade.strategy}"
    if world.memory.phase.gave_up:
        message = f"{what} failed: {world.memory.message}; {_way_out(world, upgrade)}"
        return ConditionStatus.FALSE, Reason.ROLLOUT_FAILED, message
    waits = f"; waiting: {hold.message}" if hold is not None else ""
    return ConditionStatus.TRUE, Reason.UPGRADING, f"{what}{waits}"


def _way_out(world: World, upgrade: Upgrade) -> str:
    back = ""
    if world.group.spec.protocol.target is not None:
        back = ", or take protocol.target back"
    elif upgrade.drains:
        back = ", or set protocol.allowDowntime to true: all stop once more, and the step is undone"
    return f"{by_command(RETRY, world.group.name)} tries the step again; else apply a template that works{back}"


def _between_upgrades(world: World) -> _Said:
    """A step that was undone leaves its pods where it began, which may be on the way only to what is asked for."""
    target, has = world.group.spec.protocol.target, world.memory.protocol
    if target is None or profile_of(target) is has:
        return ConditionStatus.FALSE, Reason.PROTOCOL_AS_WANTED, ""
    what = f"{has.words} to {profile_of(target).words}"
    if world.memory.phase.gave_up:
        message = f"{what} was asked for with a version that was given up: apply a template that works"
        return ConditionStatus.FALSE, Reason.ROLLOUT_FAILED, message
    return ConditionStatus.TRUE, Reason.UPGRADING, f"{what}: about to begin"
