"""An act as somebody would tell it who is about to do it, and the ordinals that it is about. Pure."""

from __future__ import annotations

from slackwater.core.acts import (
    Act,
    AlterGroupSettings,
    DeletePod,
    Purpose,
    ReleaseMembers,
    RemoveMembers,
    WriteWorkload,
)
from slackwater.core.protocol.profile import profile_in
from slackwater.core.world import World, ordinal_of


def in_words(world: World, act: Act) -> str:
    """What would be done, and why."""
    match act:
        case WriteWorkload():
            return _write_in_words(world, act)
        case DeletePod():
            return f"delete pod {act.name}: {act.why}"
        case RemoveMembers():
            return f"take {count(len(act.members), 'member')} out of the group: {act.why}"
        case ReleaseMembers():
            return f"release {count(len(act.members), 'member')} of the group, since {act.why}"
        case AlterGroupSettings():
            values = ", ".join(f"{name} to {value or 'what the brokers have'}" for name, value in act.values.items())
            return f"set {values}, for the group and without a restart"


def ordinals_of(world: World, act: Act | None) -> frozenset[int]:
    """Those of the pods that the act itself is about; none where it is about the group as a whole."""
    match act:
        case WriteWorkload(purpose=Purpose.DRAIN):
            return frozenset(pod.ordinal for pod in world.pods)
        case WriteWorkload(ordinal=int(ordinal)) | DeletePod(ordinal=ordinal):
            return frozenset({ordinal})
        case RemoveMembers() | ReleaseMembers():
            found = (ordinal_of(member.instance_id, world.group.name) for member in act.members)
            return frozenset(ordinal for ordinal in found if ordinal is not None)
        case _:
            return frozenset()


def count(number: int, what: str) -> str:
    """`1 pod`, `3 pods`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _write_in_words(world: World, act: WriteWorkload) -> str:  # noqa: PLR0911 - one for each purpose
    name, pods = world.group.name, count(act.replicas, "pod")
    before = world.workload.replicas if world.workload is not None else 0
    match act.purpose:
        case Purpose.CREATE:
            return f"create StatefulSet {name} with {pods}"
        case Purpose.DRAIN:
            return f"stop {count(before, 'pod')}, all at once, so that the group changes its protocol with nobody in it"
        case Purpose.START:
            return f"start {pods} with the settings of {profile_in(act.template).words}"
        case Purpose.TAKE_TEMPLATE:
            return f"write the new template into StatefulSet {name}; no pod moves yet"
        case Purpose.SCALE:
            return f"change StatefulSet {name} from {before} to {pods}"
        case Purpose.RESTART:
            return f"restart pod {name}-{act.ordinal}, so that it takes up the new version"
        case Purpose.OPEN_OUT_OF_ORDER:
            return f"let pod {name}-{act.ordinal}, which is down, come back with the new version before its turn"
        case Purpose.CLOSE_OUT_OF_ORDER:
            return "go back to restarting pods in order"
        case Purpose.PARK:
            return "hold every pod where it is, now that the rollout is over; no pod is restarted"
