"""A pod as a decision sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from slackwater.core.world.profile import Profile


class Run(NamedTuple):
    """One process of a pod's container: two observations with equal runs saw the same process."""

    uid: str
    started_at: float | None
    restarts: int


SCHEDULING_GATED: Final = "SchedulingGated"
UNSCHEDULABLE: Final = "Unschedulable"
"""As the scheduler says it: no node has room for the pod."""

_ANOTHER_NODES_VOLUME: Final = (
    "didn't match PersistentVolume's node affinity",
    "had volume node affinity conflict",
    "had no available volume zone",
)
"""As it says that of nodes on which the pod's volume cannot be; the second up to Kubernetes 1.33."""


class NotMade(NamedTuple):
    """Why the StatefulSet controller could not make a pod, as the API server answered it."""

    message: str
    at: float
    """When it tried last."""


class Sidecar(NamedTuple):
    """A container beside the consumer's that has ended and runs again."""

    name: str
    ran_s: float
    """How long the run lasted that ended last."""
    since: float
    """When the one that runs started."""


@dataclass(frozen=True, slots=True)
class Pod:
    name: str
    ordinal: int
    uid: str
    revision: str
    created_at: float
    ready: bool
    """Apart from the readiness gate `slackwater.dev/rejoined`, which follows from what is decided about it."""
    ready_changed_at: float | None = None
    started_at: float | None = None
    """When the consumer's container last started, in whole seconds; None while it does not run."""
    told_running_at: float | None = None
    """When a watch first told that this container runs, by our own clock; None where no watch has told yet."""
    scheduled_at: float | None = None
    """When a node was found for it; None while none is, and where that is not known."""
    up_since: float | None = None
    """When its startup probe was seen to have succeeded, by our own clock; None where nobody saw that."""
    starting: bool = False
    """Its consumer's container runs, and has a startup probe that has not succeeded yet."""
    rejoined: bool | None = None
    """What its readiness gate `slackwater.dev/rejoined` says; None where it has none."""
    restarts: int = 0
    waiting: str = ""
    """The kubelet's or the scheduler's reason, for example `CrashLoopBackOff`, `ImagePullBackOff`, `Unschedulable`."""
    waiting_message: str = ""
    terminating: bool = False
    address: str = ""
    node_address: str = ""
    """Of the node that it is on, which brokers may see instead of its own."""
    ended_at: float | None = None
    """When the consumer's container last ended; None when it never has."""
    last_run_started_at: float | None = None
    """When the run that ended then had started."""
    sidecars: tuple[Sidecar, ...] = ()
    """Those that have ended and run again."""
    protocol: Profile = Profile.OWN_CHOICE
    """The profile that it was made with."""
    template_hash: str = ""
    """Of the template that it was made from; empty where no slackwater made that."""
    workload: str = ""
    """Name of the StatefulSet that controls it."""

    @property
    def runs_since(self) -> float | None:
        """When its container last started: by the kubelet's clock, or by ours where that was sooner.

        A kubelet whose clock is ahead dates a start too late. A watch may report it late, and never too early: by then
        the process ran.
        """
        if self.started_at is None or self.told_running_at is None:
            return self.started_at
        return min(self.started_at, self.told_running_at)

    @property
    def last_run_s(self) -> float | None:
        """How long the run lasted that ended last; None where none has, and where that is not known."""
        if self.ended_at is None or self.last_run_started_at is None:
            return None
        return max(0.0, self.ended_at - self.last_run_started_at)

    @property
    def waits_for_its_volumes_node(self) -> bool:
        """The scheduler says that nodes with room are not where the pod's volume can be."""
        return self.waiting == UNSCHEDULABLE and any(words in self.waiting_message for words in _ANOTHER_NODES_VOLUME)

    @property
    def has_run(self) -> bool:
        """Its consumer's process has started once, and may have joined."""
        return self.ready or self.started_at is not None or self.ended_at is not None or self.restarts > 0

    @property
    def run(self) -> Run:
        """The process that runs in it now, or the pause after the one before."""
        return Run(self.uid, self.started_at, self.restarts)
