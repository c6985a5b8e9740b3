"""A stop of all consumers has a deadline: somebody else's consumer comes into the group while they are stopped."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Final

import pytest

from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS, with_env
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for
from tests.e2e.upgrades.upgrades import RDKAFKA, with_target

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

BACK, STAYS, ABORTED = "goes-back", "stays", "is-aborted"
POLICIES: Final = {BACK: "Rollback", STAYS: "Pause", ABORTED: "Pause"}


@dataclass(frozen=True)
class Stopped:
    """A `rejoinTimeout` after all were stopped, while somebody else was in each group."""

    held: Json
    """The condition RolloutGated of those that go nowhere by themselves."""
    degraded: Json
    phase: str
    """Of the one that goes back by itself."""


def made(stage: Stage, name: str) -> Json:
    """Its consumers do not heed SIGTERM, so that the other one comes before the last of them is gone."""
    rollout = {"stableFor": "1s", "rejoinTimeout": "20s", "onFailure": POLICIES[name]}
    group = stage.group(name, client=RDKAFKA, protocol={"target": "Eager"}, rollout=rollout)
    return with_env(group, DEADLOCK_ON_SIGTERM="1")


def is_stopping(stage: Stage, name: str) -> bool:
    return bool((stage.cluster.get("statefulset", name) or {})["spec"]["replicas"] == 0)


@pytest.fixture(scope="module")
def stopped(stage: Stage) -> Stopped:
    groups = [made(stage, name) for name in POLICIES]
    stage.create(*groups)
    with ExitStack() as others:
        stage.cluster.apply(*(with_target(each, "Cooperative", allowDowntime=True) for each in groups))
        for name in POLICIES:
            wait_for(f"{name} to be stopped", partial(is_stopping, stage, name))
            others.enter_context(stage.kafka.foreign_member(stage.group_id(name), stage.topic, f"console-{name}"))
        stage.cluster.wait_phase(BACK, "RolledBack")
        held = stage.cluster.wait_condition(STAYS, "RolloutGated", "True", "DrainStandsStill")
        degraded = stage.cluster.wait_condition(STAYS, "Degraded", "True")
        stage.cluster.wait_condition(ABORTED, "RolloutGated", "True", "DrainStandsStill")
        stage.cluster.annotate(ABORTED, "abort", "now")
        stage.cluster.wait_phase(ABORTED, "RolledBack")
        phase = stage.cluster.status(BACK)["phase"]
    return Stopped(held, degraded, phase)


def test_it_is_said_that_nobody_consumes_and_who_is_in_the_way(stopped: Stopped) -> None:
    for said in (stopped.held["message"], stopped.degraded["message"]):
        assert "nobody consumes" in said
        assert f"console-{STAYS}" in said
    assert "abort" in stopped.held["message"]


def test_the_group_goes_back_by_itself_where_a_failure_is_to(stage: Stage, stopped: Stopped) -> None:
    assert stopped.phase == "RolledBack"
    _assert_whole(stage, BACK, "range")


def test_it_goes_back_by_abort(stage: Stage, stopped: Stopped) -> None:
    _assert_whole(stage, ABORTED, "range")


def test_it_goes_on_by_itself_when_the_other_one_has_left(stage: Stage, stopped: Stopped) -> None:
    stage.cluster.wait_condition(STAYS, "ProtocolUpgrade", "False", "ProtocolAsWanted")
    _assert_whole(stage, STAYS, "cooperative-sticky")


def _assert_whole(stage: Stage, name: str, assignor: str) -> None:
    """All pods are in the group, and nobody else is."""
    stage.cluster.wait_condition(name, "Ready", "True")

    def is_whole() -> bool:
        seen = stage.kafka.look(stage.group_id(name))
        return (seen.assignor, len(seen.members)) == (assignor, REPLICAS)

    wait_for(f"{name} to be whole", is_whole)
