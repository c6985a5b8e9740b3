"""Everything a decision about one ConsumerGroup may look at, as one frozen value.

The shell gathers a `World`; `plan` turns it into a decision. A world can be written to a file and read again
(`slackwater observe`, `slackwater plan --world`), so nothing here may hide state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from slackwater.api.consumer_group import Membership
from slackwater.api.resources import ConsumerGroup
from slackwater.core.broker import BrokerFacts
from slackwater.core.history import GroupHistory
from slackwater.core.memory import RolloutMemory
from slackwater.core.observation import GroupObservation, KafkaView, Member
from slackwater.core.protocol.profile import Profile
from slackwater.core.tuning.advice import Advice


class UpdateStrategy(StrEnum):
    """Kubernetes' own words for a StatefulSet's update strategy."""

    ROLLING_UPDATE = "RollingUpdate"
    ON_DELETE = "OnDelete"


@dataclass(frozen=True, slots=True)
class Workload:
    """The group's StatefulSet."""

    name: str
    uid: str
    resource_version: str
    generation: int
    observed_generation: int
    replicas: int
    partition: int
    """Pods with a lower ordinal stay where they are; read as 0 under `OnDelete`."""
    strategy: UpdateStrategy
    current_revision: str
    update_revision: str
    template_hash: str
    """What the operator last rendered into it; empty when somebody else's template stands there."""
    owner_uid: str
    """uid of the controller that owns it; empty when nobody does."""
    owner: str = ""
    """Kind and name of that controller."""
    template: Mapping[str, Any] = field(default_factory=dict)
    """The pod template that stands in it."""
    as_written: bool = True
    """False when its spec may have been changed by somebody else since the operator wrote it."""
    start: int = 0
    """Its lowest ordinal; `replicas` counts from there."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """What nobody can change any more in its spec; an adopted one may have it otherwise than we would."""
    created_at: float = 0.0

    @property
    def in_order(self) -> bool:
        """OrderedReady, as an adopted one may be: it makes no pod while one with a lower ordinal is not Ready."""
        return self.fixed.get("podManagementPolicy") == "OrderedReady"

    @property
    def end(self) -> int:
        """The first ordinal above its own."""
        return self.start + self.replicas

    @property
    def ordinals(self) -> range:
        return range(self.start, self.end)

    @property
    def settled(self) -> bool:
        """The StatefulSet controller has read the last change, so that `update_revision` means today's template."""
        return self.observed_generation >= self.generation


@dataclass(frozen=True, slots=True)
class Pod:
    name: str
    ordinal: int
    uid: str
    revision: str
    created_at: float
    ready: bool
    ready_changed_at: float | None = None
    started_at: float | None = None
    """When the consumer's container last started, in whole seconds; None while it does not run."""
    told_running_at: float | None = None
    """When a watch first told that this container runs, by our own clock; None where no watch has told yet."""
    restarts: int = 0
    waiting: str = ""
    """The kubelet's or the scheduler's reason, for example `CrashLoopBackOff`, `ImagePullBackOff`, `Unschedulable`."""
    waiting_message: str = ""
    terminating: bool = False
    address: str = ""
    ended_at: float | None = None
    """When the consumer's container last ended; None when it never has."""
    last_run_started_at: float | None = None
    """When the run that ended then had started."""
    protocol: Profile = Profile.OWN_CHOICE
    """The profile that it was made with."""
    workload: str = ""
    """Name of the StatefulSet that controls it."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Two StatefulSets over one range of ordinals, while a warm rollout is under way: `in_use` is the older one."""

    in_use: Workload
    newcomer: Workload
    arriving: tuple[Pod, ...] = ()
    """Pods beside the one that holds their ordinal, to take its place."""
    leaving: tuple[Pod, ...] = ()
    """Pods whose ordinal their own StatefulSet has given up, and that have not ended yet."""

    @property
    def sets(self) -> tuple[Workload, Workload]:
        return self.in_use, self.newcomer

    def other(self, name: str) -> Workload:
        return self.newcomer if name == self.in_use.name else self.in_use

    def named(self, name: str) -> Workload:
        return self.in_use if name == self.in_use.name else self.newcomer


@dataclass(frozen=True, slots=True)
class World:
    now: float
    group: ConsumerGroup
    kafka: KafkaView
    history: GroupHistory = field(default_factory=GroupHistory)
    workload: Workload | None = None
    """While there are two StatefulSets, both in one: what the group's pods are to be in the end."""
    pods: tuple[Pod, ...] = ()
    """At most one for each ordinal: the one that holds it."""
    beside: Beside | None = None
    """Only while there are two StatefulSets."""
    names_taken: Mapping[str, str] = field(default_factory=dict)
    """Names of ours that StatefulSets of somebody else have → that controller's kind and name, or nothing."""
    loose: frozenset[int] = frozenset()
    """Ordinals of pods that are named as ours and that the StatefulSet does not control, or not yet: they may run."""
    memory: RolloutMemory = field(default_factory=RolloutMemory)
    bootstrap_servers: str | None = None
    """From the KafkaConnection; None when there is no such connection."""
    last_good_template: Mapping[str, Any] | None = None
    """The pod template of `memory.last_good_revision`, where the shell could read it."""
    broker: BrokerFacts | None = None
    """What the brokers can do and allow; None while that is not known."""
    advice: Advice | None = None
    """The newest recommendation for this group; None where there is none, or none that could be read."""

    @property
    def replicas(self) -> int:
        """How many pods there are to be now: during a rollout those that it goes on with, whatever the spec says."""
        return self.memory.replicas_of(self.group.spec.replicas)

    @property
    def outdated(self) -> tuple[Pod, ...]:
        """Pods of another revision than the StatefulSet's newest, by ordinal; empty while that is not known."""
        if self.workload is None:
            return ()
        return tuple(pod for pod in self.wanted_pods if pod.revision != self.workload.update_revision)

    @property
    def wanted_pods(self) -> tuple[Pod, ...]:
        """Pods whose ordinal is below `replicas`, by ordinal. Ordinals are integers: "a-10" is not below "a-2"."""
        wanted = [pod for pod in self.pods if pod.ordinal < self.replicas]
        return tuple(sorted(wanted, key=lambda pod: pod.ordinal))

    def pod(self, ordinal: int) -> Pod | None:
        return next((pod for pod in self.pods if pod.ordinal == ordinal), None)

    def pod_name(self, ordinal: int) -> str:
        """Of the pod that there is, or of the one that there should be."""
        pod = self.pod(ordinal)
        return pod.name if pod is not None else f"{self.workload.name if self.workload else self.group.name}-{ordinal}"

    def members_of(self, pod: Pod) -> tuple[Member, ...]:
        """The members that run in this pod: by instance id when static, by address when dynamic."""
        if not isinstance(self.kafka, GroupObservation):
            return ()
        if self.group.spec.membership is Membership.STATIC:
            return tuple(m for m in self.kafka.members if ordinal_of(m.instance_id, self.group.name) == pod.ordinal)
        return tuple(m for m in self.kafka.members if pod.address and m.host.lstrip("/") == pod.address)


def ordinal_of(instance_id: str | None, name: str) -> int | None:
    """The ordinal in `<name>-<ordinal>` or `<name>-<ordinal>-<thread>` (F9); None for an id that is not ours."""
    if instance_id is None or not instance_id.startswith(f"{name}-"):
        return None
    ordinal, dash, thread = instance_id.removeprefix(f"{name}-").partition("-")
    if dash and not thread.isdecimal():
        return None
    return int(ordinal) if ordinal.isdecimal() and str(int(ordinal)) == ordinal else None
