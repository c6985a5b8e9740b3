"""What a plan may ask the shell to do to the cluster and to the group in Kafka, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar

from slackwater.core.world.observation import MemberRef
from slackwater.core.world.workload import UpdateStrategy


class Purpose(StrEnum):
    """Why the StatefulSet is written."""

    CREATE = "create the StatefulSet"
    DRAIN = "stop every pod, so that all can change their protocol at once"
    START = "start all pods again with the other protocol"
    TAKE_TEMPLATE = "take up the new template; no pod moves yet"
    SCALE = "change the number of pods"
    RESTART = "let the next pod take up the new version"
    OPEN_OUT_OF_ORDER = "let a pod that is down come back with the new version, out of order"
    CLOSE_OUT_OF_ORDER = "go back to restarts in order"
    PARK = "hold every pod where it is"
    OPEN_BESIDE = "create the second StatefulSet, for the new version; no pod moves yet"
    HAND_OVER = "start a pod's replacement beside it"
    LET_GO = "remove a pod that has been replaced"
    LET_GO_EARLY = "remove a pod just before its replacement joins"
    GIVE_UP = "remove a pod, so that its replacement can take its place"
    TAKE_BACK = "remove a replacement that has not taken over"
    FILL = "make a pod that neither StatefulSet has"
    KEEP_CLAIMS = "have the volume claims outlive the StatefulSet"
    SET_RETENTION = "write down what becomes of the volume claims"

    @property
    def disruptive(self) -> bool:
        """It takes down a pod that may work."""
        return self in (Purpose.RESTART, Purpose.DRAIN, Purpose.GIVE_UP, Purpose.LET_GO_EARLY)

    @property
    def asks_the_gates(self) -> bool:
        """All of them have to hold; a cut-over asks only the few that make sense of a group as a whole."""
        return self in (
            Purpose.RESTART,
            Purpose.OPEN_OUT_OF_ORDER,
            Purpose.HAND_OVER,
            Purpose.GIVE_UP,
            Purpose.LET_GO_EARLY,
        )


class Cause(StrEnum):
    """Why a pod is deleted, as people read it."""

    DOWN = "it is down, and its replacement has what is asked for"
    KEPT_OUT = "it ended, waits to be let into the group again, and its replacement has what is asked for"
    NOT_READY = "it is not Ready, though its consumer works, and its replacement has what is asked for"
    INCOMPLETE = "it works in part only, and its replacement has what is asked for"
    STANDS = "it is in the group and commits nothing any more, and its replacement has what is asked for"
    KEPT = "its controller restarts no pod while another one is not Ready, and its replacement has what is asked for"
    RETRIED = "it has failed, and is to be tried again"
    FENCED = "its instance id was taken by the other process of its handover, which has ended since"
    NOT_COME = "it has not come into the group, and may have been fenced in its handover"
    TOGETHER = "it was let go together with another one, as rollout.maxUnavailable allows"
    REFUSED = "its consumer was refused while the id of its predecessor was held, and cannot join any more"
    LAST_CHANCE = "it has not joined since its process started: it may have met the id of its dead predecessor"

    @property
    def asks_the_gates(self) -> bool:
        """It is a step of a rollout. The others repair a pod that is out of the group, which can disturb nobody; or
        hasten what was let go by a write that has asked them."""
        return self in (
            Cause.DOWN,
            Cause.KEPT_OUT,
            Cause.NOT_READY,
            Cause.INCOMPLETE,
            Cause.STANDS,
            Cause.KEPT,
            Cause.RETRIED,
        )


@dataclass(frozen=True, slots=True)
class WriteWorkload:
    """One server-side apply of the whole StatefulSet. Safe to repeat: it says what should be, not what to change."""

    purpose: Purpose
    template: Mapping[str, Any]
    replicas: int
    strategy: UpdateStrategy
    partition: int
    resource_version: str
    """Of the StatefulSet that was looked at; the write is refused when it has changed since. Empty: there is none."""
    ordinal: int | None = None
    name: str = ""
    """Which StatefulSet; empty: the one that is called as the group is."""
    start: int = 0
    """Its lowest ordinal."""
    also: tuple[int, ...] = ()
    """Ordinals of the other pods that it lets go, beside `ordinal`."""

    @property
    def disruptive(self) -> bool:
        return self.purpose.disruptive

    @property
    def asks_the_gates(self) -> bool:
        return self.purpose.asks_the_gates


@dataclass(frozen=True, slots=True)
class DeleteWorkload:
    """Delete exactly this StatefulSet, as a rule with its pods; another one under the same name is left alone."""

    disruptive: ClassVar[bool] = False
    asks_the_gates: ClassVar[bool] = False

    name: str
    uid: str
    why: str
    keeps: tuple[str, ...] = ()
    """The revision of the StatefulSet that stays, and that of the last good version: they may belong to the one that
    goes, which has no pod any more, and must not go with that. Both select the same labels, so the one adopts what the
    other left as an orphan."""
    orphans: bool = False
    """Its pods stay, with their volume claims and its revisions, for one of its name that is made next."""


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete exactly this pod; another one under the same name is left alone."""

    disruptive: ClassVar[bool] = True

    name: str
    uid: str
    ordinal: int
    cause: Cause

    @property
    def asks_the_gates(self) -> bool:
        return self.cause.asks_the_gates

    @property
    def why(self) -> str:
        return self.cause.value


@dataclass(frozen=True, slots=True)
class RemoveMembers:
    """Take dead static members out of the group. Who has taken an id over since has another member id, and stays."""

    disruptive: ClassVar[bool] = False
    asks_the_gates: ClassVar[bool] = False

    members: tuple[MemberRef, ...]
    why: str


@dataclass(frozen=True, slots=True)
class ReleaseMembers:
    """Give the instance ids of dead static members of a KIP-848 group free, for their successors to join (F13)."""

    disruptive: ClassVar[bool] = False
    asks_the_gates: ClassVar[bool] = False

    members: tuple[MemberRef, ...]
    why: str


@dataclass(frozen=True, slots=True)
class AlterGroupSettings:
    """Set the group's own settings in Kafka; no pod restarts for them (F23)."""

    disruptive: ClassVar[bool] = False
    asks_the_gates: ClassVar[bool] = False

    values: Mapping[str, str | None]
    """None: back to what the brokers have for all groups."""


@dataclass(frozen=True, slots=True)
class DeleteGroup:
    """Delete the empty group in Kafka, with its offsets."""

    disruptive: ClassVar[bool] = False
    asks_the_gates: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class LetGo:
    """Take our finalizer off a ConsumerGroup that is being deleted; without another one it is gone then."""

    disruptive: ClassVar[bool] = False
    asks_the_gates: ClassVar[bool] = False

    why: str


Act = (
    WriteWorkload
    | DeleteWorkload
    | DeletePod
    | RemoveMembers
    | ReleaseMembers
    | AlterGroupSettings
    | DeleteGroup
    | LetGo
)


def without_version(act: Act) -> Act:
    """What it does to which pods, whatever version of the StatefulSet was looked at."""
    return replace(act, resource_version="") if isinstance(act, WriteWorkload) else act


def kind_of(act: Act) -> str:
    """In a word or two, for logs and metrics: a closed set."""
    match act:
        case WriteWorkload():
            return act.purpose.value
        case DeleteWorkload():
            return "orphan pods" if act.orphans else "delete statefulset"
        case DeletePod():
            return "delete pod"
        case RemoveMembers():
            return "remove members"
        case ReleaseMembers():
            return "release members"
        case AlterGroupSettings():
            return "alter group settings"
        case DeleteGroup():
            return "delete group"
        case LetGo():
            return "let go"
