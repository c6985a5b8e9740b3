"""A member's process while it runs, and the time between two of them, as values; what follows is in `restarts`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from slackwater.api.telemetry.words import RestartMode, RestartReason
from slackwater.core.members.clocks import CLOCKS_DIFFER_S
from slackwater.core.telemetry.holdings import Holding
from slackwater.core.world.observation import TopicPartition
from slackwater.core.world.pods import Pod

ROUNDING_S: Final = 1.0
"""The kubelet tells times in whole seconds, rounded down."""


@dataclass(frozen=True, slots=True)
class Episode:
    """A member's process ended, and nobody has its place yet."""

    id: str
    place: str
    ordinal: int
    instance_id: str | None
    pod: str
    reason: RestartReason
    mode: RestartMode
    member_ids: frozenset[str]
    """Of the members that ended."""
    partitions: frozenset[TopicPartition] | None = None
    pod_uid: str = ""
    """Of the pod that they ran in; empty while that is not known."""
    ran_since: float | None = None
    """When their process had started."""
    revision: str = ""
    last_seen_at: float | None = None
    stopped_at: float | None = None
    started_at: float | None = None
    ready_at: float | None = None
    rejoined_at: float | None = None
    evicted: bool | None = None
    unwatched: bool = False
    """There were times meanwhile in which Kafka was not seen."""
    spec_generation: int | None = None
    """Of the group's spec when it ended."""
    told: int = -1
    """The period of time in which it was last told that the member is away."""

    def is_of_another_run(self, pod: Pod) -> bool:
        """Whether what runs in the pod is not what ended."""
        return pod.started_at is not None and (pod.uid, pod.started_at) != (self.pod_uid, self.ran_since)

    def in_order(self) -> Episode:
        """What several clocks said, as far as it fits together: what contradicts what came before is not known.

        In a warm handover the successor is there before its predecessor goes (F37).
        """
        if self.mode is RestartMode.WARM_HANDOVER:
            return self
        last_seen, stopped, started, ready, rejoined = (
            self.last_seen_at,
            self.stopped_at,
            self.started_at,
            self.ready_at,
            self.rejoined_at,
        )
        if stopped is not None:
            last_seen = stopped if last_seen is None else min(last_seen, stopped)
        if last_seen is not None and started is not None and started < last_seen:
            if stopped is None and last_seen - started <= CLOCKS_DIFFER_S:
                last_seen = started
            else:
                started = None
        if last_seen is not None and rejoined is not None and rejoined < last_seen:
            rejoined = None
        if started is not None and rejoined is not None and rejoined < started:
            started = None
        earliest = max((at for at in (last_seen, stopped, started) if at is not None), default=0.0)
        ready = None if ready is not None and ready < earliest else ready
        return replace(
            self, last_seen_at=last_seen, started_at=started, ready_at=ready, rejoined_at=rejoined, stopped_at=stopped
        )


@dataclass(frozen=True, slots=True)
class Life:
    """A member's process that is known to have worked in the group, and to run."""

    place: str
    ordinal: int
    instance_id: str | None
    pod: str
    pod_uid: str
    started_at: float
    restarts: int
    revision: str
    running_at: float
    """The last look at which it ran."""
    member_ids: frozenset[str]
    partitions: frozenset[TopicPartition]
    joined_at: float | None = None
    """When these members were first seen; None: not known."""
    before: frozenset[str] = frozenset()
    """The members before these."""
    closed: Episode | None = None
    """What it ended, as long as its pod has not been Ready since."""

    def runs_in(self, pod: Pod | None) -> bool:
        """Whether the pod still runs this very process."""
        return pod is not None and (pod.uid, pod.started_at, pod.restarts) == (
            self.pod_uid,
            self.started_at,
            self.restarts,
        )

    def members_at(self, moment: float) -> frozenset[str]:
        """Its members then: a successor's may have been seen in Kafka before the cluster told of its process."""
        is_successor = self.before and self.joined_at is not None and self.joined_at > moment + ROUNDING_S
        return self.before if is_successor else self.member_ids


def life_of(holding: Holding, pod: Pod, started_at: float, now: float, closed: Episode | None = None) -> Life:
    """`started_at`: of the process that runs in the pod."""
    return Life(
        place=holding.place,
        ordinal=holding.ordinal,
        instance_id=holding.instance_id,
        pod=pod.name,
        pod_uid=pod.uid,
        started_at=started_at,
        restarts=pod.restarts,
        revision=pod.revision,
        running_at=now,
        member_ids=holding.member_ids,
        partitions=holding.partitions,
        joined_at=holding.joined_by(holding.member_ids),
        closed=closed,
    )
