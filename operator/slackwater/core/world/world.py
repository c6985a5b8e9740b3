"""Everything a decision about one ConsumerGroup may look at, as one frozen value.

The shell gathers a `World`; `plan` turns it into a decision. A world can be written to a file and read again
(`slackwater observe`, `slackwater plan --world`), so nothing here may hide state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from slackwater.api.consumer_group import Membership
from slackwater.api.resources import ConsumerGroup
from slackwater.api.timeouts import Timeouts
from slackwater.core.world.advice import Advice
from slackwater.core.world.broker import BrokerFacts
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.identity import ordinal_of
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import GroupObservation, KafkaView, Member
from slackwater.core.world.pods import Pod
from slackwater.core.world.settings import with_adopted
from slackwater.core.world.workload import Beside, Workload


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
    def timeouts(self) -> Timeouts:
        """What members are given: what the spec says itself, and what was adopted where it says nothing."""
        return with_adopted(self.group.spec.timeouts, self.memory.tuning.values)

    def remembering(self, memory: RolloutMemory) -> World:
        """The same world with another memory."""
        return replace(self, memory=memory)

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
