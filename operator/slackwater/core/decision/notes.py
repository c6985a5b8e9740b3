"""What acts say to people, as Events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from slackwater.core.decision.acts import (
    Act,
    AlterGroupSettings,
    DeletePod,
    Purpose,
    ReleaseMembers,
    RemoveMembers,
    WriteWorkload,
)
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import count, listing
from slackwater.core.world.world import World


@dataclass(frozen=True, slots=True)
class Note:
    """An Event for people: something was done, or a refusal changed."""

    reason: Reason
    message: str
    warning: bool = False
    of_act: bool = False
    """It tells what the act does; all others tell what is remembered from now on, whatever becomes of the act."""


_WRITES: Final = {
    Purpose.DRAIN: (Reason.DRAINING, Purpose.DRAIN.value),
    Purpose.START: (Reason.DRAINING, Purpose.START.value),
    Purpose.RESTART: (Reason.RESTARTING_POD, "restarting pod with ordinal {act.ordinal}: all gates hold"),
    Purpose.HAND_OVER: (Reason.HANDING_OVER, "starting {act.name}-{act.ordinal} beside the pod that it replaces"),
    Purpose.LET_GO: (Reason.HANDED_OVER, "removing {act.name}-{act.ordinal}: its replacement has taken over"),
    Purpose.LET_GO_EARLY: (Reason.HANDED_OVER, "removing {act.name}-{act.ordinal}: its replacement is about to join"),
    Purpose.GIVE_UP: (Reason.RESTARTING_POD, "removing {act.name}-{act.ordinal} before its replacement works"),
    Purpose.TAKE_BACK: (Reason.HANDING_OVER, "removing {act.name}-{act.ordinal}, which has not taken over"),
}


def notes_of(act: Act | None) -> tuple[Note, ...]:
    match act:
        case RemoveMembers():
            return (_of_act(Reason.MEMBERS_REMOVED, f"taking members out of the group: {act.why}"),)
        case ReleaseMembers():
            return (_of_act(Reason.MEMBERS_RELEASED, act.why),)
        case AlterGroupSettings():
            values = ", ".join(f"{name}={value or 'as the brokers have it'}" for name, value in act.values.items())
            return (_of_act(Reason.SETTINGS_CHANGED, f"setting {values} for the group, without a restart"),)
        case DeletePod():
            return (_of_act(Reason.RESTARTING_POD, f"deleting pod {act.name}: {act.why}"),)
        case WriteWorkload() if act.purpose in _WRITES:
            reason, message = _WRITES[act.purpose]
            return (_of_act(reason, _several(act) or message.format(act=act)),)
    return ()


def _several(act: WriteWorkload) -> str:
    """What it says of pods that it lets go together; empty where it lets one go, or none."""
    if act.ordinal is None or not act.also:
        return ""
    return f"restarting pods with ordinals {listing(map(str, (act.ordinal, *act.also)))}: all gates hold"


def start_note(world: World, version: str) -> Note:
    kept = world.made if world.memory.last_good_revision and world.replicas else 0  # `keep_replicas`
    message = f"version {version} is to be rolled out to {count(max(world.replicas, kept), 'pod')}"
    return Note(Reason.ROLLOUT_STARTED, message)


def workload_note(purpose: Purpose, world: World) -> Note:
    if purpose is Purpose.CREATE:
        return _of_act(Reason.CREATED, f"created StatefulSet {world.group.name} with {count(world.replicas, 'pod')}")
    before = world.workload.replicas if world.workload is not None else 0
    return _of_act(Reason.SCALED, f"scaled from {before} to {count(world.replicas, 'pod')}")


def _of_act(reason: Reason, message: str) -> Note:
    return Note(reason, message, of_act=True)
