"""What is left of a group that is being deleted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from slackwater.core.decision.acts import Act, DeleteGroup, DeleteWorkload, RemoveMembers
from slackwater.core.world.workload import Workload


@dataclass(frozen=True, slots=True)
class Remains:
    """What is left of a group beside what its world shows. `after` an act there is less."""

    sets: tuple[Workload, ...] = ()
    """The StatefulSets under the group's names, whoever owns them."""
    labelled: frozenset[str] = frozenset()
    """Names of those that carry the group's label."""
    pods: bool = False
    """Pods are there that end by themselves, as their StatefulSet does."""
    alone: frozenset[str] = frozenset()
    """Names of those that no StatefulSet has any more, and that nobody has deleted."""
    ran: bool = False
    """Some pod that is there has run."""
    end_by: Mapping[str, float] = field(default_factory=dict)
    """When those pods that are ending have to have ended, their grace over; by their names."""
    members: bool = True
    """Members of ours may be in the group in Kafka."""
    group: bool = True
    """The group in Kafka may be there."""
    refused: str = ""
    """Why the operator may not look at them: its rights went with the namespace, or were withdrawn."""
    refused_since: float = 0.0
    """At each look since then."""
    seen_to_end: bool = True
    """This process has seen pods of it end. Else its members may be those of another Kubernetes cluster's pods."""
    ours: Mapping[str, str] = field(default_factory=dict)
    """Instance id → the last member that this process saw there of the pod. Another one is another process': in another
    Kubernetes cluster, perhaps."""
    kafkas_turn_since: float | None = None
    """Since when nothing of it has been left in the cluster, as far as this process has seen."""
    fresh: bool = True
    """No StatefulSet of ours was deleted since the look."""

    def after(self, act: Act) -> Remains:
        """What is left once the act is done. What a look showed before it is history."""
        match act:
            case DeleteWorkload():
                left = tuple(each for each in self.sets if each.uid != act.uid)
                return replace(self, sets=left, pods=True, fresh=False)
            case RemoveMembers():
                return replace(self, members=False)
            case DeleteGroup():
                return replace(self, group=False)
            case _:
                return self
