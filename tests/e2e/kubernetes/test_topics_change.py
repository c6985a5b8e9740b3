"""Topics grow, are deleted and made again, in the middle of a rollout: it ends."""

from __future__ import annotations

from typing import Final

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions

from tests.e2e.kubernetes.halfway import begin, gave_up, most_down, restarts, wait_rolled_out
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import PARTITIONS, REPLICAS, with_env
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(3), pytest.mark.timeout(600)]

REQUEST_S: Final = 20.0
REFRESH_MS: Final = "2000"
"""For how long a client may overlook that a topic has changed: five minutes by default."""


def admin(stage: Stage) -> AdminClient:
    return AdminClient({"bootstrap.servers": stage.kafka.bootstrap_servers, "log_level": 0})


def quick(group: Json) -> Json:
    return with_env(group, KAFKA_TOPIC_METADATA_REFRESH_INTERVAL_MS=REFRESH_MS)


def assert_nobody_restarted_needlessly(stage: Stage, name: str, began: float) -> None:
    assert gave_up(stage, name, began) == []
    assert most_down(stage, name, began) == 1
    assert restarts(stage, name, began) == {f"{name}-{ordinal}": 1 for ordinal in range(REPLICAS)}


def test_a_topic_that_grows_in_a_rollout_is_read_in_full_and_the_rollout_ends(stage: Stage) -> None:
    topic = f"{stage.topic}-grows"
    stage.kafka.make_topic(topic, PARTITIONS)
    group = quick(stage.group("grows", topic))
    stage.create(group)
    began = begin(stage, group)
    more = NewPartitions(topic, 2 * PARTITIONS)
    client = admin(stage)  # what it was asked ends with it
    client.create_partitions([more])[topic].result(REQUEST_S)
    wait_rolled_out(stage, "grows")
    wait_for("every partition to have an owner", lambda: owned(stage, "grows") == set(range(2 * PARTITIONS)), 120.0)
    assert_nobody_restarted_needlessly(stage, "grows", began)


def test_a_topic_that_grows_once_every_pod_was_restarted_is_read_in_full(stage: Stage) -> None:
    """The group's leader was restarted with them: it looks out for new partitions no more (F57)."""
    topic = f"{stage.topic}-grows-at-rest"
    stage.kafka.make_topic(topic, PARTITIONS)
    group = quick(stage.group("grows-at-rest", topic))
    stage.create(group)
    began = begin(stage, group)
    wait_rolled_out(stage, "grows-at-rest")
    client = admin(stage)
    client.create_partitions([NewPartitions(topic, 2 * PARTITIONS)])[topic].result(REQUEST_S)
    wait_for("all to be owned", lambda: owned(stage, "grows-at-rest") == set(range(2 * PARTITIONS)), 120.0)
    assert_nobody_restarted_needlessly(stage, "grows-at-rest", began)


def test_a_topic_deleted_in_a_rollout_holds_it_until_it_is_made_again(stage: Stage) -> None:
    topic = f"{stage.topic}-comes-back"
    stage.kafka.make_topic(topic, PARTITIONS)
    group = quick(stage.group("comes-back", topic))
    stage.create(group)
    began = begin(stage, group)
    stage.kafka.remove_topics(topic)
    stage.cluster.wait_condition("comes-back", "RolloutGated", "True", "TopicMissing")
    stage.look_again("comes-back")
    stage.kafka.make_topic(topic, PARTITIONS)
    wait_rolled_out(stage, "comes-back")
    wait_for("every partition to have an owner", lambda: owned(stage, "comes-back") == set(range(PARTITIONS)), 120.0)
    assert_nobody_restarted_needlessly(stage, "comes-back", began)


def owned(stage: Stage, name: str) -> set[int]:
    return {partition for partition, _ in stage.kafka.look(stage.group_id(name)).owners}
