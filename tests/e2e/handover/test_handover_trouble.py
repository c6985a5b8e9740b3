"""Handovers with people, nodes and other processes in their way: nothing rebalances or is lost, and all of them end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.handover.handovers import cost_of, create, nothing_is_lost, pods, sets, wait_one_set, warm_group
from tests.e2e.members.members import restarts
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(3), pytest.mark.timeout(600)]

FOUGHT, CROWDED, SWITCHED, SCALED = "fought", "crowded", "switched", "scaled"
OF_A_CORE: Final = {"requests": {"cpu": "550m"}}
"""Three pods fit on the node, and a fourth does not."""
NEW: Final = {"VERSION": "2"}


def crowded(stage: Stage, rollout: Json, env: dict[str, str]) -> Json:
    group = warm_group(stage, CROWDED, rollout=rollout, env=env)
    for container in group["spec"]["template"]["spec"]["containers"]:
        container["resources"] = OF_A_CORE
    return group


@pytest.fixture(scope="module")
def running(stage: Stage) -> Iterator[Stage]:
    create(stage, *(warm_group(stage, name) for name in (FOUGHT, SWITCHED, SCALED)))
    yield stage
    # Its processes fenced each other while nobody looked: who had an id last may be taken for somebody else's, and is
    # left alone until its session ends (`core.members.taken`).
    stage.cluster.kubectl("delete", "cg", FOUGHT, "--ignore-not-found")
    wait_for("its sessions to end", lambda: not stage.kafka.look(stage.group_id(FOUGHT)).members, 120.0)


def wait_replacement(stage: Stage, name: str, workload: str, ordinal: int = 0) -> Json:
    """Until the pod is there beside the one that it replaces."""
    return wait_for(f"{workload}-{ordinal}", lambda: stage.cluster.get("pod", f"{workload}-{ordinal}"), 60.0)


def finish(stage: Stage, name: str) -> None:
    stage.cluster.wait_complete(name, 300.0)
    stage.cluster.wait_condition(name, "Ready", "True")
    wait_one_set(stage, name)


def test_the_replaced_process_comes_back_and_fences_its_replacement(running: Stage) -> None:
    """Nobody lets it go, as no operator is there: each of the two that joins fences the other."""

    def doing() -> None:
        running.cluster.apply(warm_group(running, FOUGHT, env={**NEW, "START_DELAY_SECONDS": "10"}))
        wait_replacement(running, FOUGHT, f"{FOUGHT}-alt")
        running.operator.kill()
        wait_for("a restart of the replaced pod", lambda: restarts(running.cluster.get("pod", f"{FOUGHT}-0") or {}) > 0)
        running.operator.start()
        running.operator.wait_ready()
        finish(running, FOUGHT)

    cost = cost_of(running, FOUGHT, doing)
    nothing_is_lost(cost)
    assert pods(running, FOUGHT) == [f"{FOUGHT}-alt-{ordinal}" for ordinal in range(REPLICAS)]


def test_without_room_it_waits_and_says_so_and_goes_on_in_place_where_it_may(running: Stage) -> None:
    create(running, crowded(running, {}, {}))

    def doing() -> None:
        running.cluster.apply(crowded(running, {}, NEW))
        said = running.cluster.wait_condition(CROWDED, "RolloutGated", "True", "NoRoom")
        assert "surgeTimeout" in said["message"]
        running.cluster.apply(crowded(running, {"surgeTimeout": "3s"}, NEW))
        finish(running, CROWDED)

    cost = cost_of(running, CROWDED, doing)
    nothing_is_lost(cost)
    running.cluster.kubectl("delete", "cg", CROWDED)


@pytest.mark.long
def test_switching_the_strategy_restarts_nothing_and_both_go_on_from_either_set(running: Stage) -> None:
    in_place = {"strategy": "InPlace"}

    def switch() -> None:
        before = {pod["metadata"]["uid"] for pod in running.cluster.pods(SWITCHED)}
        running.cluster.apply(warm_group(running, SWITCHED, rollout=in_place))
        running.look_again(SWITCHED)
        assert {pod["metadata"]["uid"] for pod in running.cluster.pods(SWITCHED)} == before
        running.cluster.apply(warm_group(running, SWITCHED, env=NEW))
        finish(running, SWITCHED)
        running.cluster.apply(warm_group(running, SWITCHED, rollout=in_place, env={"VERSION": "3"}))
        finish(running, SWITCHED)

    cost = cost_of(running, SWITCHED, switch)
    nothing_is_lost(cost)
    assert pods(running, SWITCHED) == [f"{SWITCHED}-alt-{ordinal}" for ordinal in range(REPLICAS)]


@pytest.mark.long
@pytest.mark.parametrize(("replicas", "env"), [(5, {"VERSION": "2"}), (2, {"VERSION": "3"})], ids=["up", "down"])
def test_it_is_scaled_in_the_middle(running: Stage, replicas: int, env: dict[str, str]) -> None:
    before = sets(running, SCALED)
    count = len(pods(running, SCALED))

    def with_replicas(number: int) -> Json:
        made: dict[str, Any] = warm_group(running, SCALED, env=env)
        return {**made, "spec": {**made["spec"], "replicas": number}}

    def doing() -> None:
        running.cluster.apply(with_replicas(count))
        workload = f"{SCALED}-alt" if before == [SCALED] else SCALED
        wait_replacement(running, SCALED, workload, 1)
        running.cluster.apply(with_replicas(replicas))
        finish(running, SCALED)
        wait_for(f"{replicas} pods", lambda: len(pods(running, SCALED)) == replicas, 60.0)

    cost = cost_of(running, SCALED, doing)
    assert sets(running, SCALED) != before
    assert (cost.missing, cost.went_back) == (0, 0), cost
