"""An act as somebody would tell it who is about to do it, and the ordinals that it is about. Pure."""

from __future__ import annotations

from typing import Final

from slackwater.core.decision.acts import (
    Act,
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
from slackwater.core.decision.words import count, listing
from slackwater.core.world.profile import profile_in
from slackwater.core.world.world import World


def in_words(world: World, act: Act) -> str:
    """What would be done, and why."""
    match act:
        case WriteWorkload():
            return _write_in_words(world, act)
        case DeletePod():
            return f"delete pod {act.name}: {act.why}"
        case DeleteWorkload():
            return f"delete StatefulSet {act.name}{' without its pods' if act.orphans else ''}: {act.why}"
        case RemoveMembers():
            return f"take {count(len(act.members), 'member')} out of the group: {act.why}"
        case ReleaseMembers():
            return f"release {count(len(act.members), 'member')} of the group, since {act.why}"
        case AlterGroupSettings():
            values = ", ".join(f"{name} to {value or 'what the brokers have'}" for name, value in act.values.items())
            return f"set {values}, for the group and without a restart"
        case DeleteGroup():
            return "delete the group in Kafka, with its offsets"
        case LetGo():
            return f"let the ConsumerGroup go: {act.why}"


def ordinals_of(world: World, act: Act | None) -> frozenset[int]:
    """Those of the pods that the act itself is about; none where it is about the group as a whole."""
    match act:
        case WriteWorkload(purpose=Purpose.DRAIN):
            return frozenset(pod.ordinal for pod in world.pods)
        case WriteWorkload(ordinal=int(ordinal)):
            return frozenset({ordinal, *act.also})
        case DeletePod():
            return frozenset({act.ordinal})
        case RemoveMembers() | ReleaseMembers():
            found = (world.ordinal_of(member.instance_id) for member in act.members)
            return frozenset(ordinal for ordinal in found if ordinal is not None)
        case _:
            return frozenset()


def _write_in_words(world: World, act: WriteWorkload) -> str:
    before = world.made
    if act.ordinal is not None and act.also:
        names = listing(f"{act.name or world.group.name}-{ordinal}" for ordinal in (act.ordinal, *act.also))
        return f"restart pods {names} together, so that they take up the new version"
    return _WRITES[act.purpose].format(
        name=act.name or world.group.name,
        ordinal=act.ordinal,
        pods=count(act.replicas, "pod"),
        before=before,
        pods_before=count(before, "pod"),
        protocol=profile_in(act.template).words,
    )


_WRITES: Final = {
    Purpose.CREATE: "create StatefulSet {name} with {pods}",
    Purpose.DRAIN: "stop {pods_before}, all at once, so that the group changes its protocol with nobody in it",
    Purpose.START: "start {pods} with the settings of {protocol}",
    Purpose.TAKE_TEMPLATE: "write the new template into StatefulSet {name}; no pod moves yet",
    Purpose.SCALE: "change StatefulSet {name} from {before} to {pods}",
    Purpose.RESTART: "restart pod {name}-{ordinal}, so that it takes up the new version",
    Purpose.OPEN_OUT_OF_ORDER: "let pod {name}-{ordinal}, which is down, come back new before its turn",
    Purpose.CLOSE_OUT_OF_ORDER: "go back to restarting pods in order",
    Purpose.PARK: "hold every pod where it is, now that the rollout is over; no pod is restarted",
    Purpose.OPEN_BESIDE: "create StatefulSet {name} for the new version, with no pod yet",
    Purpose.HAND_OVER: "start pod {name}-{ordinal} beside the one that it is to replace",
    Purpose.LET_GO: "remove pod {name}-{ordinal}, whose replacement has taken over",
    Purpose.LET_GO_EARLY: "remove pod {name}-{ordinal}, whose replacement is about to join",
    Purpose.GIVE_UP: "remove pod {name}-{ordinal}, so that its replacement can take its place",
    Purpose.TAKE_BACK: "remove pod {name}-{ordinal}, which has not taken over",
    Purpose.FILL: "make pod {name}-{ordinal}, which is missing",
    Purpose.KEEP_CLAIMS: "have the volume claims of StatefulSet {name} outlive it; no pod moves",
    Purpose.SET_RETENTION: "write into StatefulSet {name} what becomes of its volume claims; no pod moves",
}
