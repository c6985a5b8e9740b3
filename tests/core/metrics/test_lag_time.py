"""Lag in seconds, from the ends of the log that were seen before."""

from __future__ import annotations

import gc
import sys
from itertools import pairwise

import pytest

from slackwater.core.metrics.lag_time import POINTS_KEPT, LogEnds, follow_log_ends, group_lag_s, partition_lag_s
from slackwater.core.world.observation import GroupObservation, PartitionOffsets
from tests.core.factories import NOW, observation, tp

POINTS = (0.0, 100.0, 10.0, 200.0, 30.0, 200.0, 40.0, 250.0)


@pytest.mark.parametrize(
    ("committed", "lag_s"),
    [
        (99, None),  # older than every point
        (100, 60.0),
        (150, 55.0),  # half of what came between two looks
        (200, 30.0),  # the next record came after the last look that saw this end
        (249, 20.2),
        (250, 0.0),
        (260, 0.0),  # committed after the end was read
    ],
)
def test_the_age_of_what_is_committed_lies_between_the_looks_around_it(committed: int, lag_s: float | None) -> None:
    assert partition_lag_s(POINTS, committed, 60.0) == (pytest.approx(lag_s) if lag_s is not None else None)


def test_of_a_log_that_nobody_saw_nothing_is_known() -> None:
    assert partition_lag_s((), 5, NOW) is None


def look(at: float, *offsets: tuple[int | None, int | None]) -> GroupObservation:
    """At so many seconds, (committed, end) of each partition."""
    seen = {tp(number): PartitionOffsets(*pair) for number, pair in enumerate(offsets)}
    return observation(at=NOW + at, offsets=seen)


def lag_after(*looks: GroupObservation) -> float | None:
    ends = LogEnds()
    for seen in looks:
        ends = follow_log_ends(ends, seen)
    return group_lag_s(ends, looks[-1])


def test_a_group_is_as_late_as_its_latest_partition() -> None:
    assert lag_after(look(0, (100, 100), (100, 100)), look(10, (150, 200), (190, 200))) == 5.0


def test_a_group_that_has_read_everything_is_not_late() -> None:
    assert lag_after(look(0, (100, 100), (0, 0))) == 0.0


def test_one_partition_of_unknown_age_makes_the_whole_unknown() -> None:
    assert lag_after(look(0, (50, 100), (100, 100))) is None
    assert lag_after(look(0, (100, None), (100, 100))) is None


def test_what_was_never_committed_has_no_age() -> None:
    assert lag_after(look(0, (None, 100), (100, 100))) == 0.0
    assert lag_after(look(0, (None, 100))) is None


def test_a_group_that_stands_still_grows_late_by_the_clock() -> None:
    looks = [look(15.0 * n, (100, 100 + 75 * n)) for n in range(400)]
    assert lag_after(*looks) == pytest.approx(15.0 * 399)


def test_a_look_that_comes_again_changes_nothing() -> None:
    ends = follow_log_ends(LogEnds(), look(0, (0, 100)))
    assert follow_log_ends(ends, look(0, (0, 999))) is ends


def test_a_topic_that_was_made_again_is_another_log() -> None:
    assert lag_after(look(0, (90, 100)), look(10, (0, 5))) is None


def test_partitions_that_are_gone_are_forgotten() -> None:
    ends = follow_log_ends(LogEnds(), look(0, (0, 1), (0, 1)))
    assert set(follow_log_ends(ends, look(1, (0, 1))).packed) == {tp(0)}


def test_few_points_reach_back_a_day_and_the_error_is_a_share_of_the_answer() -> None:
    """Records come in bursts, every hour for ten minutes."""
    ends, end, now = LogEnds(), 0, NOW
    for n in range(24 * 240):
        end, now = end + (100 if n % 240 < 40 else 0), NOW + 15.0 * n
        ends = follow_log_ends(ends, look(15.0 * n, (0, end)))
    points = ends.points(tp(0))
    assert len(points) == 2 * POINTS_KEPT
    assert points[:2] == (NOW, 100)
    older = [now - at for at in points[2:-2:2]]
    assert max(a / b for a, b in pairwise(older)) < 3


def test_what_is_kept_of_a_partition_is_small_and_nothing_in_which_garbage_is_looked_for() -> None:
    ends = LogEnds()
    for n in range(40):
        ends = follow_log_ends(ends, look(15.0 * n, (0, 100 + n)))
    (packed,) = ends.packed.values()
    assert sys.getsizeof(packed) < 300
    assert not gc.is_tracked(packed)
