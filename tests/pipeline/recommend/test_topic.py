"""Recommendations on their way from Spark to the operator, over a real broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import NewTopic

from slackwater.api.recommendation import Recommendation
from slackwater.core.timeouts.reading import advice_of
from slackwater.pipeline.recommend.job import Options, run
from slackwater.pipeline.recommend.publishing import Unpublishable, messages_of, write_topic
from slackwater.pipeline.tables import Table, read
from tests.pipeline.jars import fetched_jars, listed_jars
from tests.pipeline.recommend.following import cleanup_policy, followed, make_topic, records_of, topics_of_ones_own
from tests.pipeline.recommend.months import WHO, a_month
from tests.pipeline.recommend.test_job import lake_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.e2e, pytest.mark.spark, pytest.mark.timeout(600)]

GROUPS = ("payments", "orders")


@pytest.fixture(scope="module")
def lake(kafka_spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """With recommendations in it. The job itself sends them in the tests of the chain."""
    events = [text for name in GROUPS for text in a_month({**WHO, "name": name, "group_id": name})]
    lake = lake_of(kafka_spark, tmp_path_factory.mktemp("publishing") / "lake", events)
    run(kafka_spark, Options(lake))
    return lake


@pytest.fixture
def topic(bootstrap_servers: str) -> Iterator[str]:
    with topics_of_ones_own(bootstrap_servers, "recommendations") as (name,):
        yield name


def send(spark: SparkSession, lake: str, servers: str, topic: str, **options: str) -> int:
    messages = messages_of(read(spark, lake, Table.RECOMMENDATIONS), read(spark, lake, Table.GROUPS))
    return write_topic(messages, servers, topic, {f"kafka.{name}": value for name, value in options.items()})


def table(spark: SparkSession, lake: str) -> dict[str, str]:
    """The messages of the table by the key that each is to have."""
    rows = read(spark, lake, Table.RECOMMENDATIONS).select("namespace", "name", "message").collect()
    return {f"{row.namespace}/{row.name}": row.message for row in rows}


def test_the_topic_holds_what_the_table_holds_however_often_it_is_sent(
    kafka_spark: SparkSession, lake: str, topic: str, bootstrap_servers: str
) -> None:
    assert send(kafka_spark, lake, bootstrap_servers, topic) == len(GROUPS)
    written = table(kafka_spark, lake)
    assert sorted(written) == ["shop/orders", "shop/payments"]
    assert dict(records_of(bootstrap_servers, topic)) == written
    assert cleanup_policy(bootstrap_servers, topic) == "compact"

    send(kafka_spark, lake, bootstrap_servers, topic)
    records = records_of(bootstrap_servers, topic)
    assert len(records) == 2 * len(GROUPS)
    assert set(records) == set(written.items())

    known = followed(bootstrap_servers, topic, [("shop", name) for name in GROUPS])
    found = {key: Recommendation.model_validate_json(text) for key, text in written.items()}
    assert known == {("shop", name): advice_of(found[f"shop/{name}"]) for name in GROUPS}


def test_a_topic_that_forgets_is_told(
    kafka_spark: SparkSession, lake: str, topic: str, bootstrap_servers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_topic(bootstrap_servers, NewTopic(topic, 1, 1, config={"cleanup.policy": "delete"}))
    send(kafka_spark, lake, bootstrap_servers, topic)
    said = " ".join(capsys.readouterr().err.split())
    assert f"The topic {topic} has cleanup.policy=delete: old recommendations will vanish from it." in said
    assert dict(records_of(bootstrap_servers, topic)) == table(kafka_spark, lake)


def test_brokers_that_do_not_answer_are_told(kafka_spark: SparkSession, lake: str) -> None:
    quick = {"default.api.timeout.ms": "2000", "request.timeout.ms": "1000"}
    with pytest.raises(Unpublishable, match=r"are in the lake, but cannot be sent to the topic t at 127\.0\.0\.1:9 \("):
        send(kafka_spark, lake, "127.0.0.1:9", "t", **quick)


def test_the_connector_s_jars_are_those_that_the_image_is_held_to(kafka_spark: SparkSession) -> None:
    fetched = fetched_jars(Path("~/.ivy2.5.2/jars").expanduser())
    assert {name: fetched.get(name) for name in listed_jars()} == listed_jars()
