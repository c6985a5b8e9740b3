"""Who is in a group over time, read from the records: when a pod's consumer was back, and who was touched meanwhile."""

from __future__ import annotations

import time
from dataclasses import dataclass

from slackwater.core.members.clocks import CLOCKS_DIFFER_S
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.kafka import Lookout, Sighting
from tests.e2e.stage.progress import pods_of
from tests.e2e.stage.recorder import Recorder
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for


def wait_known(stage: Stage, *names: str) -> None:
    """Until the operator has seen all members, long enough before a process starts that takes their place: the node
    gives that moment in whole seconds, by a clock of its own. Who dies earlier is not known to be dead."""
    for name in names:
        stage.cluster.wait_complete(name)
    known_at = time.time()
    wait_for("the next seconds", lambda: time.time() - known_at > CLOCKS_DIFFER_S + 1)


@dataclass(frozen=True, slots=True)
class Watched:
    """A group under observation. Times are seconds since the epoch."""

    name: str
    lookout: Lookout
    recorder: Recorder

    @property
    def now(self) -> Sighting:
        return self.lookout.sightings()[-1]

    def owned_again(self, pod: str, before: Sighting, since: float) -> float | None:
        """When another member than before held the pod's instance id and owned what that one had owned."""
        wanted = partitions_of(before, pod)
        for seen in self.lookout.sightings(since):
            if seen.members.get(pod, before.members[pod]) != before.members[pod] and partitions_of(seen, pod) >= wanted:
                return seen.seen_at
        return None

    def wait_owned_again(self, pod: str, before: Sighting, since: float, deadline_s: float = 90.0) -> float:
        what = f"{pod} to be back with its partitions"
        return wait_for(what, lambda: self.owned_again(pod, before, since), deadline_s, lambda: self.now)

    def wait_whole(self, count: int, partitions: int, deadline_s: float = 90.0) -> Sighting:
        """Until exactly the lowest ordinals are members, and own all partitions."""
        wanted = {f"{self.name}-{ordinal}" for ordinal in range(count)}

        def look() -> Sighting | None:
            seen = self.now
            settled = seen.state == "STABLE" and seen.owned == partitions
            return seen if settled and set(seen.members) == {owner for _, owner in seen.owners} == wanted else None

        return wait_for(f"{count} members of {self.name} that own all", look, deadline_s, lambda: self.now)

    def owned_by_only(self, pods: frozenset[str], partitions: int, since: float) -> float | None:
        """When these pods, and nobody else, owned all partitions."""
        for seen in self.lookout.sightings(since):
            if seen.owned == partitions and {owner for _, owner in seen.owners} <= pods and set(seen.members) == pods:
                return seen.seen_at
        return None

    def started_again(self, pod: str, since: float) -> float | None:
        """When the first container of this pod started that came after."""
        starts = [at for record in self._versions(pod, since) if (at := started_at(record)) is not None]
        return min((at for at in starts if at >= int(since)), default=None)

    def wait_started_again(self, pod: str, since: float, deadline_s: float = 60.0) -> float:
        """Kafka may tell of a consumer before the node tells of the container in which it runs."""
        return wait_for(f"a new container of {pod}", lambda: self.started_again(pod, since), deadline_s)

    def wait_gone(self, pod: str, since: float, deadline_s: float = 60.0) -> float:
        """When its object was gone: that may come after the group is whole without it."""
        return wait_for(f"the end of {pod}", lambda: self.gone_at(pod, since), deadline_s)

    def gone_at(self, pod: str, since: float) -> float | None:
        found = (
            r.seen_at for r in pods_of(self.recorder.records("pods", since), self.name) if r.name == pod and r.deleted
        )
        return next(found, None)

    def uids(self, pod: str, since: float) -> set[str]:
        """The pods that went by this name."""
        return {str(obj["metadata"]["uid"]) for obj in self._versions(pod, since)}

    def touched(self, pods: frozenset[str], before: Sighting, since: float) -> list[Sighting]:
        """Sightings in which one of these was another member than before, or had lost a partition."""
        had = {pod: (before.members[pod], partitions_of(before, pod)) for pod in pods}
        return [
            seen
            for seen in self.lookout.sightings(since)
            if any(
                seen.members.get(p) != member or not partitions_of(seen, p) >= had_ for p, (member, had_) in had.items()
            )
        ]

    def touched_ids(self, pods: frozenset[str], before: Sighting, since: float) -> list[Sighting]:
        """Sightings in which one of these was another member than before; what it owned may have changed."""
        had = {pod: before.members[pod] for pod in pods}
        return [s for s in self.lookout.sightings(since) if any(s.members.get(pod) != m for pod, m in had.items())]

    def _versions(self, pod: str, since: float) -> list[Json]:
        return [
            r.obj for r in pods_of(self.recorder.records("pods", since), self.name) if r.name == pod and not r.deleted
        ]


def partitions_of(seen: Sighting, pod: str) -> frozenset[int]:
    return frozenset(partition for partition, owner in seen.owners if owner == pod)


def started_at(pod: Json) -> float | None:
    """Of the container that runs; to the second."""
    for status in pod["status"].get("containerStatuses", ()):
        if running := status.get("state", {}).get("running"):
            return time.mktime(time.strptime(running["startedAt"], "%Y-%m-%dT%H:%M:%SZ")) - time.timezone
    return None


def restarts(pod: Json) -> int:
    return sum(status.get("restartCount", 0) for status in pod["status"].get("containerStatuses", ()))
