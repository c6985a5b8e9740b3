"""How a pod's consumers poll: `poll_observed` events, from what they publish themselves."""

from __future__ import annotations

from dataclasses import dataclass

from slackwater.api.consumer_group import Membership
from slackwater.api.resources import ConsumerGroup
from slackwater.api.telemetry.bodies import PollObserved
from slackwater.api.telemetry.events import PollObservedEvent
from slackwater.api.telemetry.words import EventType, PollSource
from slackwater.core.telemetry.envelopes import envelope
from slackwater.core.world.identity import instance_id
from slackwater.core.world.pods import Pod


@dataclass(frozen=True, slots=True)
class PollReading:
    """Of all consumers of one pod; None: not published."""

    source: PollSource
    window_s: float
    """How far back it looks."""
    time_between_poll_avg_ms: float | None = None
    time_between_poll_max_ms: float | None = None
    records_per_poll_avg: float | None = None
    poll_idle_ratio_avg: float | None = None

    @property
    def says_something(self) -> bool:
        known = (self.time_between_poll_avg_ms, self.time_between_poll_max_ms, self.records_per_poll_avg)
        return any(value is not None for value in known) or self.poll_idle_ratio_avg is not None


def poll_observed(group: ConsumerGroup, pod: Pod, reading: PollReading, at: float, cluster: str) -> PollObservedEvent:
    """`at`: when the pod was asked, in seconds since the epoch."""
    alone = group.spec.membership is Membership.STATIC and group.spec.members_per_pod == 1
    body = PollObserved(
        pod=pod.name,
        instance_id=instance_id(group.name, pod.ordinal) if alone else None,
        window_s=reading.window_s,
        time_between_poll_avg_ms=reading.time_between_poll_avg_ms,
        time_between_poll_max_ms=reading.time_between_poll_max_ms,
        records_per_poll_avg=reading.records_per_poll_avg,
        poll_idle_ratio_avg=reading.poll_idle_ratio_avg,
        source=reading.source,
    )
    return PollObservedEvent(
        **envelope(group, at, cluster, "poll_observed", pod.uid, at), type=EventType.POLL_OBSERVED, poll_observed=body
    )
