"""A fail-back between two Kubernetes clusters on one Kafka: the other one's processes have the instance ids by now.

Ours live on, fenced, and here the group is scaled to nothing, or deleted: nobody's living member is taken out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

import pytest

from tests.e2e.members.foreigners import Foreigner, foreigner
from tests.e2e.stage.groups import PARTITIONS, with_env
from tests.e2e.stage.kafka import Lookout
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(2), pytest.mark.timeout(600)]

SCALED, DELETED, HALF = "payouts", "refunds", "invoices"
GROUPS: Final = (SCALED, DELETED, HALF)
BACK_THERE: Final = {SCALED: (0, 1, 2), DELETED: (0, 1, 2), HALF: (2,)}
"""The ordinals whose pods run in the other cluster by now."""


@pytest.fixture(scope="module")
def elsewhere(stage: Stage) -> Iterator[dict[str, list[Foreigner]]]:
    """By group. Sessions are longer than the test: nobody leaves by himself."""
    patient = {"session": "5m"}
    groups = [with_env(stage.group(name, timeouts=patient), EXIT_ON_FATAL="0") for name in GROUPS]
    stage.create(*groups)
    with ExitStack() as stack:
        yield {
            name: [
                stack.enter_context(foreigner(stage.kafka, stage.group_id(name), stage.topic, f"{name}-{ordinal}"))
                for ordinal in BACK_THERE[name]
            ]
            for name in GROUPS
        }


@pytest.fixture(scope="module")
def took_over(stage: Stage, elsewhere: dict[str, list[Foreigner]]) -> dict[str, dict[str, str]]:
    """By group: the instance ids that are theirs now, and their members; the operator has seen that."""
    found = {name: wait_for(f"{name} to be theirs", lambda name=name: theirs(stage, name)) for name in GROUPS}  # type: ignore[misc]
    stage.look_again(*GROUPS)
    stage.look_again(*GROUPS)
    return found


def theirs(stage: Stage, name: str) -> dict[str, str] | None:
    """Once our pods have learned that they were fenced, and the group has settled."""
    fenced = [
        pod for pod in stage.cluster.pods(name) if "fatal" in stage.cluster.kubectl("logs", pod["metadata"]["name"])
    ]
    now = stage.kafka.look(stage.group_id(name))
    if len(fenced) < len(BACK_THERE[name]) or now.state.upper() != "STABLE" or now.owned != PARTITIONS:
        return None
    return {f"{name}-{ordinal}": now.members[f"{name}-{ordinal}"] for ordinal in BACK_THERE[name]}


def no_pods(stage: Stage, name: str) -> bool:
    return not stage.cluster.pods(name)


def test_those_that_are_scaled_to_nothing_leave_the_other_ones_members(
    stage: Stage, elsewhere: dict[str, list[Foreigner]], took_over: dict[str, dict[str, str]]
) -> None:
    """By when of another group, which was scaled later, who is ours is taken out."""
    with Lookout(stage.kafka, stage.group_id(SCALED)) as lookout:
        stage.cluster.kubectl("scale", "cg", SCALED, "--replicas=0")
        wait_for("the pods to be gone", lambda: no_pods(stage, SCALED), 120.0)
        stage.look_again(SCALED)
        stage.cluster.kubectl("scale", "cg", HALF, "--replicas=1")
        half = wait_for("pod 1's member to be taken out", lambda: without(stage, f"{HALF}-1"), 120.0)
    seen = {tuple(sorted(each.members.items())) for each in lookout.sightings()}
    assert seen == {tuple(sorted(took_over[SCALED].items()))}
    assert half[f"{HALF}-2"] == took_over[HALF][f"{HALF}-2"]
    assert [each.errors for name in (SCALED, HALF) for each in elsewhere[name]] == [[], [], [], []]


def test_deleted_it_leaves_them_as_well(
    stage: Stage, elsewhere: dict[str, list[Foreigner]], took_over: dict[str, dict[str, str]]
) -> None:
    stage.cluster.kubectl("delete", "cg", DELETED, "--timeout=120s")
    assert stage.kafka.look(stage.group_id(DELETED)).members == took_over[DELETED]
    assert [each.errors for each in elsewhere[DELETED]] == [[], [], []]


def without(stage: Stage, instance_id: str) -> dict[str, str] | None:
    members = stage.kafka.look(stage.group_id(HALF)).members
    return None if instance_id in members else members
