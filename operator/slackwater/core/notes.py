"""What acts say to people, as Events."""

from __future__ import annotations

from slackwater.core.acts import (
    Act,
    AlterGroupSettings,
    DeletePod,
    Note,
    Purpose,
    ReleaseMembers,
    RemoveMembers,
    WriteWorkload,
)
from slackwater.core.manifests import Template
from slackwater.core.reasons import Reason
from slackwater.core.world import World


def notes_of(act: Act | None) -> tuple[Note, ...]:
    match act:
        case RemoveMembers():
            return (Note(Reason.MEMBERS_REMOVED, f"taking members out of the group: {act.why}"),)
        case ReleaseMembers():
            return (Note(Reason.MEMBERS_RELEASED, act.why),)
        case AlterGroupSettings():
            values = ", ".join(f"{name}={value or 'as the brokers have it'}" for name, value in act.values.items())
            return (Note(Reason.SETTINGS_CHANGED, f"setting {values} for the group, without a restart"),)
        case DeletePod():
            return (Note(Reason.RESTARTING_POD, f"deleting pod {act.name}: {act.why}"),)
        case WriteWorkload(purpose=Purpose.DRAIN | Purpose.START):
            return (Note(Reason.DRAINING, act.purpose.value),)
        case WriteWorkload(purpose=Purpose.RESTART):
            return (Note(Reason.RESTARTING_POD, f"restarting pod with ordinal {act.ordinal}: all gates hold"),)
    return ()


def start_note(world: World, wanted: Template) -> Note:
    message = f"version {wanted.hash} is to be rolled out to {world.group.spec.replicas} pods"
    return Note(Reason.ROLLOUT_STARTED, message)


def workload_note(purpose: Purpose, world: World) -> Note:
    if purpose is Purpose.CREATE:
        return Note(Reason.CREATED, f"created StatefulSet {world.group.name} with {world.group.spec.replicas} pods")
    before = world.workload.replicas if world.workload is not None else 0
    return Note(Reason.SCALED, f"scaled from {before} to {world.group.spec.replicas} pods")
