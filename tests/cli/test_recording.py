"""A recorded world is the world: what is read equals what was written."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.errors import InvalidSpec
from slackwater.core.decision.reasons import Reason
from slackwater.core.plan import plan
from slackwater.core.world.broker import Bounds
from slackwater.core.world.memory import Canary, LastHolder, RolloutPhase
from slackwater.core.world.observation import GroupObservation, TopicPartition, Unobserved
from slackwater.core.world.recording import RecordingUnreadable, read_world, write_world
from slackwater.core.world.refusal import Refusal
from slackwater.core.world.step import Step
from slackwater.core.world.world import World
from tests.cli import builders, upgrades

WORLDS = {
    "at rest": builders.world(),
    "rolling": builders.rolling(),
    "handing over": builders.handing_over(),
    "with a status": builders.with_status(builders.rolling()),
    "kafka away": builders.world(kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no answer", builders.NOW - 3)),
    "nothing made yet": builders.world(workload=None, pods=(), bootstrap_servers=None),
    "paused, with durations": builders.world(
        builders.group({"slackwater.dev/pause": "holiday"}, rollout={"stableFor": "2m", "canary": [{"replicas": 1}]})
    ),
    "a step in hand": builders.rolling(
        memory=replace(
            builders.rolling().memory,
            phase=RolloutPhase.ROLLING_BACK,
            step=Step(2, builders.NOW - 1.25, {"payments-2": "payments-2-9a"}),
            canary=Canary(0, builders.NOW - 7.5, passed=True),
            commands={"slackwater.dev/retry": "1"},
            message="pod payments-2 is stuck",
        ),
        last_good_template={"spec": {"containers": [{"name": "consumer", "image": "consumer:1"}]}},
    ),
    "an upgrade in hand": upgrades.two_bounce(),
    "a cut-over": upgrades.drain_cutover(),
    "settings and a released member": upgrades.released(),
    "what is remembered of members": replace(
        upgrades.released(),
        memory=replace(
            upgrades.released().memory,
            holders={"payments-0": LastHolder("payments-0-4f1c", builders.NOW - 60)},
            refused={"payments-1": Refusal(builders.NOW - 20)},
            removed={"payments-3": "payments-3-4f1c"},
        ),
    ),
    "bounds that bind": replace(
        upgrades.refused(), memory=replace(upgrades.refused().memory, session_bounds=Bounds(6_000, 30_000))
    ),
    "brokers that tell little": builders.world(broker=replace(builders.BROKERS, migration_policy=None, problem="no")),
}


def _without_fingerprint(world: World) -> World:
    return replace(world, history=replace(world.history, fingerprint=()))


@pytest.mark.parametrize("name", WORLDS)
def test_what_is_read_equals_what_was_written(name: str) -> None:
    """Through the text of a file."""
    text = json.dumps(write_world(WORLDS[name]))
    assert read_world(json.loads(text)) == _without_fingerprint(WORLDS[name])


@pytest.mark.parametrize("name", WORLDS)
def test_a_recorded_world_is_planned_as_the_world_was(name: str) -> None:
    """The whole purpose of a recording."""
    assert plan(read_world(write_world(WORLDS[name]))) == plan(WORLDS[name])


def as_version_1(world: World) -> dict[str, Any]:
    """As it was recorded before: both StatefulSets in one, and the pods in three places."""
    document = write_world(world)
    plain = document["world"]
    sets = plain.pop("sets")
    plain |= {"pods": plain.pop("all_pods"), "workload": None, "beside": None}
    if sets:
        plain["workload"] = sets[0] if len(sets) == 1 else {**sets[0], "generation": 1, "observed_generation": 1}
    if world.beside is not None:
        arriving = [pod for pod in plain["pods"] if pod["name"] in {each.name for each in world.beside.arriving}]
        plain["pods"] = [pod for pod in plain["pods"] if pod not in arriving]
        plain["beside"] = {"in_use": sets[0], "newcomer": sets[1], "arriving": arriving, "leaving": []}
    return {**document, "version": 1}


@pytest.mark.parametrize("name", WORLDS)
def test_what_was_recorded_before_is_read_as_the_same_world(name: str) -> None:
    read = read_world(json.loads(json.dumps(as_version_1(WORLDS[name]))))
    assert read.pods == WORLDS[name].pods
    assert read.beside == WORLDS[name].beside
    assert plan(read) == plan(WORLDS[name])


def test_two_recordings_of_a_world_are_the_same_text() -> None:
    """Sets come out in order."""
    world = builders.world()
    assert isinstance(world.kafka, GroupObservation)
    reversed_set = frozenset(sorted(world.kafka.partitions, reverse=True))
    twin = replace(world, kafka=replace(world.kafka, partitions=reversed_set))
    assert json.dumps(write_world(world)) == json.dumps(write_world(twin))
    assert write_world(world)["world"]["kafka"]["partitions"][:2] == ["orders-0", "orders-1"]


def test_what_the_brokers_and_the_groups_settings_are_is_recorded() -> None:
    """The plan depends on both."""
    world = write_world(upgrades.released())["world"]
    assert world["broker"]["group_version"] == 1
    assert world["kafka"]["settings"] == {"consumer.session.timeout.ms": "60000"}


@pytest.mark.parametrize("topic", ["orders", "a-1", "a-1-", "-", "a.b_c-"])
def test_a_partition_is_a_text_whatever_its_topic_is_called(topic: str) -> None:
    """Topics may have dashes, and end in numbers."""
    assert TopicPartition.parse(str(TopicPartition(topic, 12))) == TopicPartition(topic, 12)


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ([], "it is no recorded world"),
        ({"kind": "ConsumerGroup"}, "it is no recorded world"),
        (
            {"version": 3, "world": {}},
            "version 3, and this slackwater reads 1 and 2: use the slackwater that recorded it, or record again",
        ),
        ({"world": {}}, "it is a recording without a version, and this slackwater reads 1 and 2"),
        ({"version": 1, "world": {"now": 1.0}}, "world.group cannot be read (Field required)"),
    ],
)
def test_what_is_no_recording_is_refused_with_a_sentence(document: Any, sentence: str) -> None:
    with pytest.raises(RecordingUnreadable, match=sentence.replace("(", r"\(").replace(")", r"\)")):
        read_world(document)


def test_a_group_edited_by_hand_is_judged_as_any_other() -> None:
    """The recording's group is a manifest."""
    document = write_world(builders.world())
    document["world"]["group"]["spec"]["replica"] = 4
    with pytest.raises(InvalidSpec, match=r"spec.replica is no known field: did you mean replicas\?"):
        read_world(document)


def test_a_broken_partition_is_named() -> None:
    document = write_world(builders.world())
    document["world"]["kafka"]["partitions"] = ["orders"]
    with pytest.raises(RecordingUnreadable, match="write a partition as <topic>-<number>"):
        read_world(document)
