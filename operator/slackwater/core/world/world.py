"""Everything a decision about one ConsumerGroup may look at, as one frozen value.

The shell gathers a `World`; `plan` turns it into a decision. A world can be written to a file and read again
(`slackwater observe`, `slackwater plan --world`), so nothing here may hide state: what the properties say follows from
the fields. Some are asked for each pod and each member; they are found once, which is why the class has no slots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from slackwater.api.consumer_group import Membership
from slackwater.api.kafka_connection import Prefixes
from slackwater.api.resources import ConsumerGroup
from slackwater.api.rollout import Stop
from slackwater.api.timeouts import Timeouts
from slackwater.core.world.advice import Advice
from slackwater.core.world.answers import Answering
from slackwater.core.world.broker import BrokerFacts
from slackwater.core.world.claims import Claim
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.identity import by_ordinal, ordinal_of
from slackwater.core.world.made_with import ADOPTED, MadeWith, asked_for
from slackwater.core.world.memory import Release, RolloutMemory
from slackwater.core.world.observation import GroupObservation, KafkaView, Member, Places
from slackwater.core.world.placing import Placed, Placing
from slackwater.core.world.pods import NotMade, Pod
from slackwater.core.world.settings import with_adopted
from slackwater.core.world.turn import Turn
from slackwater.core.world.two_sets import Beside, Direction, arranged, direction_of
from slackwater.core.world.workload import Workload


@dataclass(frozen=True)
class World(Answering):
    now: float
    group: ConsumerGroup
    kafka: KafkaView
    history: GroupHistory = field(default_factory=GroupHistory)
    sets: tuple[Workload, ...] = ()
    """The group's StatefulSets: none, one, or two in a warm rollout. Or one of somebody else that is in the way."""
    all_pods: tuple[Pod, ...] = ()
    """Every pod that they control. While there are two of them, both may have one for an ordinal: see `pods`."""
    names_taken: Mapping[str, str] = field(default_factory=dict)
    """Names of ours that StatefulSets of somebody else have → that controller's kind and name, or nothing."""
    not_made: Mapping[str, NotMade] = field(default_factory=dict)
    """By its name, why a pod that is missing could not be made, where Kubernetes says so."""
    loose: frozenset[int] = frozenset()
    """Ordinals of pods that are named as ours and that the StatefulSet does not control, or not yet: they may run."""
    orphans: frozenset[str] = frozenset()
    """Names of pods that are named as ours, live on and have no controller: their StatefulSet went without them."""
    memory: RolloutMemory = field(default_factory=RolloutMemory)
    bootstrap_servers: str | None = None
    """From the connection; None when there is none."""
    allowed_groups: Prefixes = ()
    last_good_template: Mapping[str, Any] | None = None
    """The pod template of `memory.last_good_revision`, where the shell could read it."""
    broker: BrokerFacts | None = None
    """What the brokers can do and allow; None while that is not known."""
    advice: Advice | None = None
    """The newest recommendation for this group that could be read."""
    cluster_id: str | None = None
    """The Kafka cluster's, as the brokers say it; None while none has said it, empty where they have none."""
    claims: tuple[Claim, ...] = ()
    """Other ConsumerGroups that have, or may have, the same group in Kafka; none of them is being deleted."""
    turn: Turn = field(default_factory=Turn)
    """What ConsumerFleets say of its turn to move."""
    defaults_refused: str = ""
    """Why not all that ConsumerFleets give holds for the group; empty: it does."""

    def remembering(self, memory: RolloutMemory) -> World:
        """The same world with another memory; where it is no other, what was asked once need not be asked again."""
        return self if memory is self.memory or memory == self.memory else replace(self, memory=memory)

    @cached_property
    def asked_for(self) -> MadeWith:
        """What pods are made with that get the template which is asked for."""
        return asked_for(self.group)

    @cached_property
    def has_static(self) -> bool:
        """Whether pods are, were or will be static members, as far as is known."""
        return self.asked_for.is_static or any(each.is_static for each in self.memory.made_with.values())

    @cached_property
    def timeouts(self) -> Timeouts:
        """What members are given: what the spec says itself, and what was adopted where it says nothing."""
        return with_adopted(self.group.spec.timeouts, self.memory.tuning.values)

    @cached_property
    def replicas(self) -> int:
        """How many pods there are to be now: during a rollout those that it goes on with, whatever the spec says."""
        return self.memory.replicas_of(self.group.spec.replicas)

    @cached_property
    def canary(self) -> tuple[Stop, ...]:
        """Where the rollout is to stop, of as many pods as there are to be; while it stands there, a share of more pods
        is what it was: those that are added end no hold."""
        held = self.memory.canary
        begun_with = held.of if held is not None and not held.passed and not held.lost else None
        return self.group.spec.rollout.stops(min(begun_with or self.replicas, self.replicas))

    @cached_property
    def beside(self) -> Beside | None:
        """Both StatefulSets and who is where; only while there are two."""
        return arranged(self.sets, self.all_pods, self.memory, self.group.name)

    @cached_property
    def way(self) -> Direction | None:
        """From which StatefulSet to which the pods go; only while there are two."""
        hash_to_run = "" if self.memory.phase.goes_back else self.memory.target_hash
        return None if self.beside is None else direction_of(self.beside, hash_to_run, self.memory)

    @property
    def workload(self) -> Workload | None:
        """The StatefulSet that all pods are to be in; None while there is none. Beside another one it has a part of the
        ordinals: how many there are in both is `made`."""
        found = self.sets[0] if self.sets else None
        return found if self.way is None else self.way.to

    @property
    def foreign(self) -> Workload | None:
        """The StatefulSet, where it is not the group's own: nothing is known of its pods."""
        found = self.workload
        return None if found is None or found.owner_uid == self.group.metadata.uid else found

    @property
    def settled(self) -> bool:
        """The StatefulSet controller has read the last change of each of them."""
        return all(each.settled for each in self.sets)

    @cached_property
    def made(self) -> int:
        """The first ordinal above those that the StatefulSets make pods for."""
        return max((each.end for each in self.sets), default=0)

    @property
    def seen(self) -> GroupObservation | None:
        """What Kafka said; None when it could not be asked."""
        return self.kafka if isinstance(self.kafka, GroupObservation) else None

    @property
    def members(self) -> tuple[Member, ...]:
        """Everybody in the group, as far as is known."""
        return self.seen.members if self.seen is not None else ()

    @cached_property
    def pods(self) -> tuple[Pod, ...]:
        """By ordinal, and at most one for each: the one that holds it."""
        holding = self.all_pods if self.beside is None else self.beside.holding
        return tuple(sorted(holding, key=lambda pod: pod.ordinal))

    @property
    def to_hand_over(self) -> tuple[Pod, ...]:
        """The pods that are still to be replaced by those of the other StatefulSet, in their order."""
        if (way := self.way) is None:
            return ()
        left = [pod for pod in self.pods if pod.workload == way.off.name]
        return tuple(left if way.forward else reversed(left))

    @cached_property
    def outdated(self) -> tuple[Pod, ...]:
        """Pods of another revision than the StatefulSet's newest, by ordinal; empty while that is not known."""
        if (workload := self.workload) is None:
            return ()
        return tuple(pod for pod in self.wanted_pods if pod.revision != workload.update_revision)

    @cached_property
    def wanted_pods(self) -> tuple[Pod, ...]:
        """Pods whose ordinal is below `replicas`, by ordinal. Ordinals are integers: "a-10" is not below "a-2"."""
        return tuple(pod for pod in self.pods if pod.ordinal < self.replicas)

    def pod(self, ordinal: int) -> Pod | None:
        """The one that holds the ordinal."""
        return self._pods.get(ordinal)

    def pod_name(self, ordinal: int) -> str:
        """The name of the pod that there is, or of the one that there should be."""
        pod = self.pod(ordinal)
        of = next((each for each in self.sets if ordinal in each.ordinals), self.workload or self.group)
        return pod.name if pod is not None else f"{of.name}-{ordinal}"

    def why_not_made(self, ordinal: int) -> str:
        """What Kubernetes said since the last restart; empty where it said nothing, or the pod is there."""
        said = self.not_made.get(self.pod_name(ordinal)) if self.pod(ordinal) is None else None
        step = self.memory.step
        before = step is not None and ordinal in step.ordinals and said is not None and said.at < int(step.started_at)
        return "" if said is None or before else said.message

    def made_with(self, pod: Pod) -> MadeWith:
        """What the pod is judged by; where its version is not known, what the spec says now.

        Of an older one that was forgotten with the status, one member is all that can be asked for, and a static one
        where the group lists one of its ordinal.
        """
        known = self.memory.made_with.get(pod.template_hash or ADOPTED)
        if known is not None or pod.template_hash in self._current:
            return known or self.asked_for
        membership = Membership.STATIC if self.members_at(pod.ordinal) else self.asked_for.membership
        return replace(self.asked_for, membership=membership, members_per_pod=1)

    def members_of(self, pod: Pod) -> tuple[Member, ...]:
        """The members that run in this pod: by instance id when static, else by address or client id.

        What the group tells of a static member that was replaced is its first holder's address (F41).
        """
        if self.made_with(pod).is_static:
            return self.members_at(pod.ordinal)
        return tuple(m for m in self._members_in(pod) if self.ordinal_of(m.instance_id) in (None, pod.ordinal))

    def nameless_members_of(self, pod: Pod) -> tuple[Member, ...]:
        """The dynamic members of this pod: all of them, or those that should have had an instance id."""
        return tuple(member for member in self._members_in(pod) if member.instance_id is None)

    def members_at(self, ordinal: int) -> tuple[Member, ...]:
        """The static members with an instance id of this ordinal, whoever runs them."""
        return self._places.by_ordinal.get(ordinal, ()) if self._places is not None else ()

    def ordinal_of(self, instance_id: str | None) -> int | None:
        """The ordinal in an instance id of ours; None for any other."""
        places = self._places
        known = places.ordinals.get(instance_id) if places is not None and instance_id is not None else None
        return known if known is not None else ordinal_of(instance_id, self.group.name)

    def departures_at(self, ordinal: int) -> Mapping[str, float]:
        """When members with an instance id of this ordinal that are gone were first seen missing."""
        return self._departures.get(ordinal, {})

    def released_at(self, ordinal: int) -> Mapping[str, Release]:
        """Dead members with an instance id of this ordinal that were released, as far as is remembered."""
        return self._released.get(ordinal, {})

    @cached_property
    def addresses(self) -> frozenset[str]:
        """Those of all pods, of which two may have one ordinal."""
        return frozenset(pod.address for pod in self.all_pods if pod.address)

    def is_in_a_pod(self, member: Member) -> bool:
        """At the address of one, or by its client id where brokers do not see that pod's address."""
        return member.address in self.addresses or member.member_id in self._placed.by_client_id

    def _members_in(self, pod: Pod) -> tuple[Member, ...]:
        return self._placed.by_pod.get(pod.name, ())

    @cached_property
    def _placed(self) -> Placed:
        if self._places is None:
            return Placed({}, frozenset())
        made_with = {pod.name: self.made_with(pod) for pod in self.all_pods}
        dynamic = {name: made.members_per_pod for name, made in made_with.items() if not made.is_static}
        strange = [member for member in self.members if self.ordinal_of(member.instance_id) is None]
        return Placing(self.all_pods, self._places.by_address, strange, dynamic, self.history.predates).place()

    @cached_property
    def _current(self) -> frozenset[str]:
        """Template hashes of what is rolled out, and of pods that no slackwater has made."""
        return frozenset({"", self.memory.target_hash})

    @cached_property
    def _places(self) -> Places | None:
        return self.seen.places(self.group.name) if self.seen is not None else None

    @cached_property
    def _pods(self) -> Mapping[int, Pod]:
        return {pod.ordinal: pod for pod in reversed(self.pods)}  # of several, the first

    @cached_property
    def _departures(self) -> Mapping[int, Mapping[str, float]]:
        return by_ordinal(self.history.departures, self.ordinal_of)

    @cached_property
    def _released(self) -> Mapping[int, Mapping[str, Release]]:
        return by_ordinal(self.memory.released, self.ordinal_of)
