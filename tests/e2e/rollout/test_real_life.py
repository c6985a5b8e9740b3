"""Spec and image change in one apply, and a version that joins wrongly is taken back: on a real broker and a cluster.

All groups change at once; what is waited for is that each of them gets there.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

import pytest

from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import with_command, with_env
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(3), pytest.mark.timeout(600)]

DEADLINE_S: Final = 240.0
SECOND: Final = "-second"
"""The end of the other topic's name."""


def spec(group: Json, **changes: Any) -> Json:
    return {**group, "spec": {**group["spec"], **changes}}


def renamed(group: Json, name: str) -> Json:
    changed = deepcopy(group)
    changed["spec"]["template"]["spec"]["containers"][0]["name"] = name
    return changed


@pytest.fixture(scope="module")
def changed(stage: Stage) -> Iterator[dict[str, Json]]:
    """Each group as it is asked for, once more than it began: all have restarted once before (F41)."""
    stage.kafka.make_topic(stage.topic + SECOND, 2)
    both = [stage.topic, stage.topic + SECOND]
    three = with_env(stage.group("fewer", membersPerPod=3), MEMBERS="3")
    begun = {
        "topics": stage.group("topics"),
        "warm": stage.group("warm", rollout={"strategy": "WarmHandover"}),
        "dynamic": stage.group("dynamic"),
        "static": stage.group("static", membership="Dynamic"),
        "more": stage.group("more"),
        "fewer": three,
        "container": stage.group("container"),
    }
    wanted = {
        "topics": with_env(spec(begun["topics"], topics=both), TOPICS=",".join(both), VERSION="3"),
        "warm": with_env(spec(begun["warm"], topics=both[1:]), TOPICS=both[1], VERSION="3"),
        "dynamic": with_env(spec(begun["dynamic"], membership="Dynamic"), VERSION="3"),
        "static": with_env(spec(begun["static"], membership="Static"), VERSION="3"),
        "more": with_env(spec(begun["more"], membersPerPod=3), MEMBERS="3", VERSION="3"),
        "fewer": with_env(spec(three, membersPerPod=1), MEMBERS="1", VERSION="3"),
        "container": renamed(with_env(begun["container"], VERSION="3"), "worker"),
    }
    stage.create(*begun.values())
    stage.cluster.apply(*(with_env(group, VERSION="2") for group in begun.values()))
    for name in begun:
        stage.cluster.wait_complete(name, DEADLINE_S)
    stage.cluster.apply(*wanted.values())
    yield wanted


MEMBERS: Final = {"topics": 3, "warm": 3, "dynamic": 3, "static": 3, "more": 9, "fewer": 3, "container": 3}


@pytest.mark.parametrize("name", MEMBERS)
def test_it_is_rolled_out(stage: Stage, changed: dict[str, Json], name: str) -> None:
    stage.cluster.wait_complete(name, DEADLINE_S)
    stage.cluster.wait_condition(name, "Ready", "True")
    wait_for(f"{MEMBERS[name]} members", lambda: stage.cluster.status(name)["group"]["members"] == MEMBERS[name])


def test_what_was_read_is_read_again_where_a_version_forgot_it(stage: Stage, changed: dict[str, Json]) -> None:
    """The group had rebalanced for the version that reads only the other topic, and no return brings a rebalance."""
    group = stage.group("forgets", rollout={"onFailure": "Rollback", "rejoinTimeout": "20s"})
    stage.create(group)
    both = [stage.topic, stage.topic + SECOND]
    stage.cluster.apply(with_env(spec(group, topics=both), TOPICS=both[1], VERSION="2"))
    stage.cluster.wait_phase("forgets", "RolledBack", DEADLINE_S)

    def reads_it_again() -> bool:
        return stage.kafka.look(stage.group_id("forgets")).topics == {stage.topic}

    wait_for("the topic to be read again", reads_it_again, DEADLINE_S, lambda: stage.cluster.summary("forgets"))


def test_a_version_without_instance_ids_is_taken_back(stage: Stage) -> None:
    group = stage.group("nameless")
    stage.create(group)
    nameless = "unset KAFKA_GROUP_INSTANCE_ID; exec python3 -m sandbox.workload.consumer"
    stage.cluster.apply(with_command(group, nameless))
    wait_for(
        "the operator to tell of the instance id",
        lambda: "instance id" in stage.cluster.condition("nameless", "RolloutGated")["message"],
        DEADLINE_S,
        lambda: stage.cluster.summary("nameless"),
    )
    stage.cluster.annotate("nameless", "abort", "1")
    stage.cluster.wait_phase("nameless", "RolledBack", DEADLINE_S)
    stage.cluster.wait_condition("nameless", "Ready", "True")
    pods = stage.cluster.pods("nameless")
    assert all("command" not in pod["spec"]["containers"][0] for pod in pods)
