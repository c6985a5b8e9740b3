"""Lag in seconds: how long ago the end of a partition's log was at what the group has committed now.

A fold over observations keeps, for each partition, a few points (when, end of the log). Between two points the log is
taken to have grown evenly, as kafka-lag-exporter and others do it. Points grow sparse with age: the answer's
error stays a share of the answer. What was committed before the first point is of an age that nobody knows here.

Moments are seconds since the epoch on the operator's clock. A lag that never goes, as transaction markers leave it
(F20), becomes ever older: it says something only where the lag in records grows as well.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from slackwater.core.world.observation import GroupObservation, TopicPartition

POINTS_KEPT: Final = 16
"""For each partition: a kilobyte. After a month of looks every 15 s none of them is three times as old as the next."""

Point = tuple[float, int]
Points = tuple[Point, ...]
"""The oldest first; the offsets never go down."""


@dataclass(frozen=True, slots=True)
class LogEnds:
    """How the logs of a group's partitions grew."""

    observed_at: float | None = None
    points: Mapping[TopicPartition, Points] = field(default_factory=dict)


def follow_log_ends(ends: LogEnds, kafka: GroupObservation) -> LogEnds:
    """Fold one more observation in. One that is not newer than the last changes nothing."""
    if ends.observed_at is not None and kafka.observed_at <= ends.observed_at:
        return ends
    points = dict(ends.points)
    for partition, offsets in kafka.offsets.items():
        if offsets.end is not None:
            points[partition] = _with(points.get(partition, ()), (kafka.observed_at, offsets.end))
    return LogEnds(
        kafka.observed_at, {partition: points[partition] for partition in kafka.offsets if partition in points}
    )


def group_lag_s(ends: LogEnds, kafka: GroupObservation) -> float | None:
    """The longest of all partitions, at the moment of the observation; None where it is not known for one of them.

    Partitions in which nothing was ever committed have no age, and are left out.
    """
    lags = [
        partition_lag_s(ends.points.get(partition, ()), offsets.committed, kafka.observed_at)
        for partition, offsets in kafka.offsets.items()
        if offsets.committed is not None
    ]
    known = [lag for lag in lags if lag is not None]
    return max(known) if known and len(known) == len(lags) else None


def partition_lag_s(points: Points, committed: int, at: float) -> float | None:
    """Seconds, at the moment `at`; None where the committed offset is older than every point."""
    before = bisect_right(points, committed, key=lambda point: point[1]) - 1
    if before < 0:
        return None
    if before == len(points) - 1:
        return 0.0
    (since, start), (until, end) = points[before], points[before + 1]
    return max(0.0, at - since - (until - since) * (committed - start) / (end - start))


def _with(points: Points, newest: Point) -> Points:
    if points and newest[1] < points[-1][1]:
        return (newest,)  # another log: the topic was made again, or its end was lost
    stands_still = len(points) > 1 and points[-2][1] == points[-1][1] == newest[1]
    return _thinned((*(points[:-1] if stands_still else points), newest))


def _thinned(points: Points) -> Points:
    """Without the point whose absence says least: that leaves the smallest gap, as a share of how old the gap is."""
    if len(points) <= POINTS_KEPT:
        return points
    now = points[-1][0]
    gaps = [(after[0] - before[0]) / (now - before[0]) for before, after in zip(points, points[2:], strict=False)]
    least = gaps.index(min(gaps)) + 1
    return points[:least] + points[least + 1 :]
