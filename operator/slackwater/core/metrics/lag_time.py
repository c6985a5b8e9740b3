"""Lag in seconds: how long ago the end of a partition's log was at what the group has committed now.

A fold over observations keeps, for each partition, a few points (when, end of the log). Between two points the log is
taken to have grown evenly, as kafka-lag-exporter and others do it. Points grow sparse with age: the answer's
error stays a share of the answer. What was committed before the first point is of an age that nobody knows here.

Moments are seconds since the epoch on the operator's clock. A lag that never goes, as transaction markers leave it
(F20), becomes ever older: it says something only where the lag in records grows as well.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from slackwater.core.world.observation import GroupObservation, TopicPartition

POINTS_KEPT: Final = 16
"""For each partition. After a month of looks every 15 s none of them is three times as old as the next."""

Points = tuple[float, ...]
"""A moment, the end of the log then, the next moment and so on; the oldest first. The ends never go down."""


@dataclass(frozen=True, slots=True)
class LogEnds:
    """How the logs of a group's partitions grew."""

    observed_at: float | None = None
    packed: Mapping[TopicPartition, bytes] = field(default_factory=dict)
    """The points, 8 bytes for each number. As tuples they are two kilobytes a partition, and most of what is kept of a
    group; bytes are a sixth of that, and nothing in which Python looks for garbage."""

    def points(self, partition: TopicPartition) -> Points:
        """None of one that was never seen."""
        return _unpacked(self.packed.get(partition, b""))


def follow_log_ends(ends: LogEnds, kafka: GroupObservation) -> LogEnds:
    """Fold one more observation in. One that is not newer than the last changes nothing."""
    if ends.observed_at is not None and kafka.observed_at <= ends.observed_at:
        return ends
    packed = {partition: ends.packed[partition] for partition in kafka.offsets if partition in ends.packed}
    for partition, offsets in kafka.offsets.items():
        if offsets.end is not None:
            points = _with(_unpacked(packed.get(partition, b"")), kafka.observed_at, offsets.end)
            packed[partition] = struct.pack(f"{len(points)}d", *points)
    return LogEnds(kafka.observed_at, packed)


def group_lag_s(ends: LogEnds, kafka: GroupObservation) -> float | None:
    """The longest of all partitions, at the moment of the observation; None where it is not known for one of them.

    Partitions in which nothing was ever committed have no age, and are left out.
    """
    lags = [
        partition_lag_s(ends.points(partition), offsets.committed, kafka.observed_at)
        for partition, offsets in kafka.offsets.items()
        if offsets.committed is not None
    ]
    known = [lag for lag in lags if lag is not None]
    return max(known) if known and len(known) == len(lags) else None


def partition_lag_s(points: Points, committed: int, at: float) -> float | None:
    """Seconds, at the moment `at`; None where the committed offset is older than every point."""
    log_ends = points[1::2]
    before = bisect_right(log_ends, committed) - 1
    if before < 0:
        return None
    if before == len(log_ends) - 1:
        return 0.0
    since, start, until, end = points[2 * before : 2 * before + 4]
    return max(0.0, at - since - (until - since) * (committed - start) / (end - start))


def _unpacked(packed: bytes) -> Points:
    return struct.unpack(f"{len(packed) // 8}d", packed)


def _with(points: Points, at: float, end: int) -> Points:
    newest = (at, float(end))
    if points and end < points[-1]:
        return newest  # another log: the topic was made again, or its end was lost
    stands_still = len(points) > 2 and points[-3] == points[-1] == end
    return _thinned((*(points[:-2] if stands_still else points), *newest))


def _thinned(points: Points) -> Points:
    """Without the point whose absence says least: that leaves the smallest gap, as a share of how old the gap is."""
    moments = points[::2]
    if len(moments) <= POINTS_KEPT:
        return points
    now = moments[-1]
    gaps = [(after - before) / (now - before) for before, after in zip(moments, moments[2:], strict=False)]
    least = 2 * (gaps.index(min(gaps)) + 1)
    return points[:least] + points[least + 2 :]
