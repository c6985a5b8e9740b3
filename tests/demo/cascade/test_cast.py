"""Groups and bystanders are spread over the coordinators, whatever brokers lead."""

from __future__ import annotations

from collections import Counter

import pytest

from demo.cascade.cast import PREFIX, cast
from sandbox.workload.group_records import partition_of
from tests.demo.cascade.samples import LEADERS


def test_each_broker_coordinates_four_groups_and_a_bystander_at_least() -> None:
    found = cast("quarter", 1, LEADERS)
    assert Counter(each.coordinator for each in found.groups) == {1: 4, 2: 4, 3: 4}
    assert Counter(each.coordinator for each in found.bystanders) == {1: 2, 2: 1, 3: 1}
    assert all(LEADERS[partition_of(each.group_id, 8)] == each.coordinator for each in found.actors)


def test_each_topic_is_read_by_two_groups() -> None:
    found = cast("quarter", 1, LEADERS)
    assert Counter(each.topic for each in found.groups) == dict.fromkeys(found.topics, 2)
    assert {each.topic for each in found.bystanders} <= set(found.topics)


def test_runs_share_nothing_on_the_brokers() -> None:
    runs = [cast(mode, run, LEADERS) for mode in ("quarter", "no-fleet") for run in (1, 2)]
    names = [name for each in runs for name in (*each.topics, *(a.group_id for a in each.actors))]
    assert len(set(names)) == len(names)
    assert all(name.startswith(PREFIX) for name in names)


@pytest.mark.parametrize("leaders", [{}, {0: 1, 1: -1}], ids=["no topic", "no leader"])
def test_without_leaders_nobody_is_placed(leaders: dict[int, int]) -> None:
    with pytest.raises(ValueError, match="leader"):
        cast("quarter", 1, leaders)
