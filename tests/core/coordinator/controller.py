"""What the StatefulSet controller does in one pass (Kubernetes 1.36, podManagementPolicy Parallel), as pure functions.

As its `updateStatefulSet`: make what is missing, delete what is too much, then delete at most one pod of another
revision, from the highest ordinal down to the partition, waiting for each that is not Ready on the way. Both worlds use
it: the one that is explored event by event, and the one that is simulated in time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Seen(NamedTuple):
    """A pod as the controller sees it."""

    revision: str
    ready: bool
    terminating: bool


Pods = Mapping[int, Seen]
"""By ordinal."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The object, with the revisions that its status names."""

    ordinals: range
    partition: int
    on_delete: bool
    current: str
    update: str

    def revision_of(self, ordinal: int) -> str:
        """What a pod is made with: below the partition, the revision before."""
        held = not self.on_delete and ordinal < self.ordinals.start + self.partition
        return self.current if held else self.update

    def missing(self, pods: Pods) -> list[int]:
        return [ordinal for ordinal in self.ordinals if ordinal not in pods]

    def surplus(self, pods: Pods) -> list[int]:
        return [o for o, pod in pods.items() if o not in self.ordinals and not pod.terminating]

    def to_replace(self, pods: Pods) -> int | None:
        """The one pod that is deleted to be made with the newest revision; None while another one is waited for."""
        for ordinal in () if self.on_delete else reversed(self.ordinals[self.partition :]):
            pod = pods[ordinal]
            if pod.revision != self.update and not pod.terminating:
                return ordinal
            if not pod.ready or pod.terminating:
                return None
        return None

    def is_complete(self, pods: Pods) -> bool:
        """Every pod runs the newest revision, which becomes the current one."""
        done = [pod for pod in pods.values() if pod.ready and not pod.terminating and pod.revision == self.update]
        return not self.on_delete and len(done) == len(pods) == len(self.ordinals)
