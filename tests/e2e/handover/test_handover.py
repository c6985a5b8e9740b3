"""Warm rollouts on a real cluster: what they cost, however long a consumer takes to start, or if it never does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.handover.handovers import (
    STAYS,
    create,
    nothing_is_idle,
    nothing_is_idle_untold,
    nothing_is_lost,
    pods,
    rolled_out,
    warm_group,
)
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(5), pytest.mark.timeout(900)]

NAME, TWO_EACH, EXITS = "warm", "two-each", "exits"
IMPATIENT = {"rejoinTimeout": "40s"}


@pytest.fixture(scope="module")
def running(stage: Stage) -> Iterator[Stage]:
    create(
        stage,
        warm_group(stage, NAME, env=STAYS),
        warm_group(stage, EXITS),
        two_each(stage, {}),
    )
    yield stage


def two_each(stage: Stage, env: dict[str, str]) -> Json:
    return warm_group(stage, TWO_EACH, stage.group(TWO_EACH, membersPerPod=2), env={"MEMBERS": "2", **STAYS, **env})


@pytest.mark.parametrize(
    ("seconds", "workload"),
    [("1", f"{NAME}-alt"), ("4", NAME), pytest.param("20", f"{NAME}-alt", marks=pytest.mark.long)],
)
def test_neither_a_rebalance_nor_an_idle_partition(running: Stage, seconds: str, workload: str) -> None:
    cost = rolled_out(running, warm_group(running, NAME, env={**STAYS, "START_DELAY_SECONDS": seconds}))
    assert pods(running, NAME) == [f"{workload}-{ordinal}" for ordinal in range(REPLICAS)]
    nothing_is_lost(cost)
    nothing_is_idle(cost)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"NEVER_JOIN": "1"}, marks=pytest.mark.long, id="never joins"),
        pytest.param({"CRASH_TIMES": "1000"}, id="crashes"),
    ],
)
def test_a_version_that_never_works_is_taken_back_and_nothing_was_idle(running: Stage, fault: dict[str, str]) -> None:
    before = pods(running, NAME)
    cost = rolled_out(running, warm_group(running, NAME, rollout=IMPATIENT, env={**STAYS, **fault}), "RolledBack")
    assert pods(running, NAME) == before
    nothing_is_lost(cost)
    assert cost.duplicates == 0, cost
    assert cost.worst_gap_s < 20.0, cost  # in place it would be the rejoinTimeout, 40 s; nobody is touched here


def test_consumers_that_end_when_they_are_fenced(running: Stage) -> None:
    cost = rolled_out(running, warm_group(running, EXITS, env={"VERSION": "2"}))
    nothing_is_lost(cost)
    nothing_is_idle_untold(cost)


def test_pods_of_several_members_are_handed_over_with_all_of_them(running: Stage) -> None:
    ids = {f"{TWO_EACH}-{ordinal}-{thread}" for ordinal in range(REPLICAS) for thread in range(2)}
    assert set(running.kafka.look(running.group_id(TWO_EACH)).members) == ids
    cost = rolled_out(running, two_each(running, {"START_DELAY_SECONDS": "2"}))
    assert pods(running, TWO_EACH) == [f"{TWO_EACH}-alt-{ordinal}" for ordinal in range(REPLICAS)]
    nothing_is_lost(cost)
    nothing_is_idle(cost)
