from __future__ import annotations

from typing import Any

import pytest

from benchmarks.scale.beside import (
    Differ,
    Phase,
    Played,
    comparable,
    cpu_until,
    in_turn,
    ratios,
    requests_between,
    same_counts,
    same_work,
    times_of,
)
from slackwater.api.annotations import PROTOCOL, TEMPLATE_HASH

COUNTS = {"ConsumerGroup": 2, "StatefulSet": 2, "Service": 2}


def played(cpu_seconds: float, p99_seconds: float = 1.0, rss_mib: float = 100.0) -> Played:
    phase = Phase(cpu_seconds, p99_seconds / 2, p99_seconds, 5, 0)
    return Played(phase, phase, rss_mib, COUNTS)


def test_ratios_are_of_medians_and_above_one_where_the_twin_takes_less() -> None:
    found = ratios([played(4.0), played(6.0), played(90.0)], [played(2.0, 0.5, 40.0)] * 3)
    assert found == {
        "create_cpu_ratio": 3.0,
        "change_cpu_ratio": 3.0,
        "create_p99_ratio": 2.0,
        "change_p99_ratio": 2.0,
        "rss_ratio": 2.5,
    }


def test_a_twin_that_takes_less_than_the_kernel_counts_took_what_it_counts_at_least() -> None:
    assert ratios([played(0.5)], [played(0.0)])["create_cpu_ratio"] == 50.0


def test_who_comes_first_changes_with_each_round() -> None:
    assert [in_turn(["ours", "twin"], number) for number in range(3)] == [
        ["ours", "twin"],
        ["twin", "ours"],
        ["ours", "twin"],
    ]


def test_servers_that_hold_as_many_objects_of_each_kind_are_alike() -> None:
    same_counts({**COUNTS, "Event": 6}, COUNTS)


@pytest.mark.parametrize("other", [{**COUNTS, "Service": 1}, {**COUNTS, "Pod": 1}, {}])
def test_one_that_makes_less_is_not_compared(other: dict[str, int]) -> None:
    with pytest.raises(Differ, match="the twin's"):
        same_counts(COUNTS, other)


def test_objects_that_say_the_same_are_the_same_work() -> None:
    same_work({"services a": {"spec": {"type": "1"}}}, {"services a": {"spec": {"type": "1"}}})


@pytest.mark.parametrize("twin", [{}, {"services a": {"spec": {"type": "2"}}}])
def test_an_object_that_differs_is_named(twin: dict[str, Any]) -> None:
    with pytest.raises(Differ, match=r"^services a: "):
        same_work({"services a": {"spec": {"type": "1"}}}, twin)


def test_what_is_compared_is_all_that_was_asked_for_but_the_digest() -> None:
    template = {"metadata": {"annotations": {TEMPLATE_HASH: "1", PROTOCOL: ""}}, "spec": {"containers": []}}
    metadata = {"name": "a", "labels": {"b": "c"}, "ownerReferences": [{"uid": "1"}], "uid": "2", "generation": 3}
    found = comparable({"metadata": metadata, "spec": {"replicas": 1, "template": template}, "status": {}})
    assert found == {
        "metadata": {"name": "a", "labels": {"b": "c"}, "ownerReferences": [{"uid": "1"}]},
        "spec": {
            "replicas": 1,
            "template": {"metadata": {"annotations": {PROTOCOL: ""}}, "spec": {"containers": []}},
        },
    }


@pytest.mark.parametrize(
    ("made_at", "observed_at", "seconds"), [(2.0, 4.0, 3.0), (5.0, 4.0, 4.0), (None, 4.0, None), (2.0, None, None)]
)
def test_a_group_takes_until_it_is_whole_and_seen(
    made_at: float | None, observed_at: float | None, seconds: float | None
) -> None:
    assert times_of([{"asked_at": 1.0, "made_at": made_at, "observed_at": observed_at}]) == [seconds]


@pytest.mark.parametrize(("at", "cpu_s"), [(0.0, 10.0), (1.5, 12.0), (9.0, 13.0)])
def test_processor_time_after_the_last_write_is_left_out(at: float, cpu_s: float) -> None:
    assert cpu_until([(1.0, 10.0), (2.0, 12.0), (3.0, 13.0)], at) == cpu_s


def test_requests_are_those_that_came_since_and_watches_are_none() -> None:
    before = {"PATCH services": 2, "LIST pods": 1}
    after = {"PATCH services": 5, "LIST pods": 2, "GET services": 4, "POST events": 1, "WATCH pods": 7}
    assert requests_between(before, after) == (4, 5)
