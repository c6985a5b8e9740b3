"""The whole chain over a real lake: events as an operator writes them, four commands, and what an operator reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from slackwater.api.recommendation import Recommendation
from slackwater.core.timeouts.reading import advice_of
from slackwater.pipeline.tables import Table, read
from tests.adapters.kafka.running_consumers import CLASSIC, RunningConsumer, running
from tests.e2e.stage.waiting import wait_for
from tests.pipeline.commands import succeeded
from tests.pipeline.recommend.following import followed, records_of, topics_of_ones_own
from tests.pipeline.recommend.months import RESTARTS, a_month
from tests.pipeline.sending import send

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(2), pytest.mark.spark, pytest.mark.timeout(900)]

NAMESPACE, NAME = "shop", "payments"


@dataclass(frozen=True, slots=True)
class Chain:
    """What the commands left, and what they printed."""

    lake: str
    group_id: str
    recommendations: str
    page: str
    said: dict[str, str]
    events: int


def _played(servers: str, group_id: str, topic: str) -> None:
    """A group whose two members come one after the other, and go: what the audit is to find."""
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(topic, 2, 1)])[topic].result(30)

    def members() -> int:
        try:
            asked = admin.describe_consumer_groups([group_id], request_timeout=10)[group_id].result(20)
        except (KafkaException, TimeoutError):  # no such group yet, or its coordinator is still to come
            return 0
        return sum(bool(member.assignment.topic_partitions) for member in asked.members)

    with running(RunningConsumer(servers, group_id, topic, CLASSIC)):
        wait_for("its first member", lambda: members() == 1)
        with running(RunningConsumer(servers, group_id, topic, CLASSIC)):
            wait_for("its second member", lambda: members() == 2)


def _removed(admin: AdminClient, group_id: str) -> None:
    """Kafka may have done so by itself: every ten minutes it removes empty groups that have committed nothing."""
    try:
        admin.delete_consumer_groups([group_id])[group_id].result(30)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.GROUP_ID_NOT_FOUND:
            raise


@pytest.fixture(scope="module")
def chain(
    kafka_spark: SparkSession, bootstrap_servers: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Chain]:
    place = tmp_path_factory.mktemp("chain")
    lake, page, brokers = f"--lake={place / 'lake'}", place / "report.html", f"--bootstrap-servers={bootstrap_servers}"
    with topics_of_ones_own(bootstrap_servers, "telemetry", "recommendations", "payments") as (told, advised, orders):
        who = {"namespace": NAMESPACE, "name": NAME, "group_id": orders}
        admin = AdminClient({"bootstrap.servers": bootstrap_servers})
        events = a_month({**who, "cluster": admin.list_topics(timeout=30).cluster_id})
        _played(bootstrap_servers, orders, orders)
        send(bootstrap_servers, told, events)
        said = {
            "ingest": succeeded("pipeline", "ingest", lake, brokers, f"--topic={told}", "--once"),
            "audit": succeeded("pipeline", "audit", lake, brokers),
            "recommend": succeeded("pipeline", "recommend", lake, brokers, f"--out-topic={advised}"),
            "report": succeeded("pipeline", "report", lake, f"--out={page}"),
        }
        yield Chain(str(place / "lake"), orders, advised, page.read_text(), said, len(events))
        _removed(admin, orders)


def test_every_event_is_in_the_lake(chain: Chain) -> None:
    assert chain.said["ingest"] == f"{chain.events} events, 0 in quarantine\n"


def test_the_audit_found_what_the_group_did(kafka_spark: SparkSession, chain: Chain) -> None:
    rows = read(kafka_spark, chain.lake, Table.AUDIT_REBALANCES).where(f"group_id = '{chain.group_id}'").collect()
    assert sorted((row.members_before, row.members_after) for row in rows)[:2] == [(0, 1), (1, 2)]


def test_the_recommendation_reached_the_operator(
    kafka_spark: SparkSession, chain: Chain, bootstrap_servers: str
) -> None:
    (row,) = read(kafka_spark, chain.lake, Table.RECOMMENDATIONS).collect()
    recommendation = Recommendation.model_validate_json(row.message)
    assert (recommendation.group_id, recommendation.restarts) == (chain.group_id, RESTARTS)
    assert records_of(bootstrap_servers, chain.recommendations) == [(f"{NAMESPACE}/{NAME}", row.message)]
    known = followed(bootstrap_servers, chain.recommendations, [(NAMESPACE, NAME)])
    assert known[NAMESPACE, NAME] == advice_of(recommendation)


def test_the_report_holds_the_group(chain: Chain) -> None:
    assert f"{NAMESPACE}/{NAME}" in chain.page
    assert chain.group_id in chain.page
