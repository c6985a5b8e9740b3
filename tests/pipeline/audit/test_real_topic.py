"""The audit against the truth: groups of a real broker whose rebalances the test itself caused."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, ResourcePatternType, ResourceType

from slackwater.pipeline.errors import SourceUnreadable
from slackwater.pipeline.tables import Table, read
from tests.adapters.kafka.own_broker import own_broker
from tests.adapters.kafka.strict_broker import LOGIN_MODULE, OPERATOR, PASSWORD, ROOT, StrictBroker, strict_broker
from tests.pipeline.audit.formatter import printed_groups
from tests.pipeline.audit.story import Group, Seen, Story, played

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

    from slackwater.pipeline.audit.summary import Summary

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(2), pytest.mark.spark, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    with own_broker(tmp_path_factory.mktemp("broker"), {}) as bootstrap, played(bootstrap) as story:
        yield story


@pytest.fixture(scope="module")
def lake(kafka_spark: SparkSession, story: Story, tmp_path_factory: pytest.TempPathFactory) -> str:
    lake = str(tmp_path_factory.mktemp("lake"))
    summary = audit(kafka_spark, lake, story.bootstrap)
    assert summary.quarantined == 0
    return lake


@pytest.fixture(params=["classic-dynamic", "classic-static", "consumer-dynamic", "consumer-static"])
def group(request: pytest.FixtureRequest, story: Story) -> Group:
    return next(group for group in story.groups if group.group_id == request.param)


def audit(spark: SparkSession, lake: str, bootstrap: str, options: dict[str, str] | None = None) -> Summary:
    from slackwater.pipeline.audit.job import Options, run  # noqa: PLC0415 - pyspark only where Spark is

    return run(spark, Options(lake, servers=bootstrap, options=options or {}))


def rows_of(spark: SparkSession, lake: str, table: Table, group: Group) -> list[Row]:
    found = read(spark, lake, table).filter(f"group_id = '{group.group_id}'")
    return found.orderBy("source_offset").collect() if "source_offset" in found.columns else found.collect()


def test_every_rebalance_is_found_and_none_is_made_up(kafka_spark: SparkSession, lake: str, group: Group) -> None:
    rows = rows_of(kafka_spark, lake, Table.AUDIT_REBALANCES, group)
    assert [(row.members_before, row.members_after) for row in rows] == group.caused
    assert {row.group_type for row in rows} == {"Classic" if group.is_classic else "Consumer"}
    assert [row.cause for row in rows] == ["MemberJoined"] * 3 + ["MemberLeft"] * (len(group.caused) - 3)


def test_the_members_now_are_those_that_kafka_describes(kafka_spark: SparkSession, lake: str, group: Group) -> None:
    rows = rows_of(kafka_spark, lake, Table.AUDIT_MEMBERS, group)
    there = [row for row in rows if row.left_at is None]
    now = {Seen(m.member_id, m.instance_id, m.client_id, m.client_host, frozenset(m.partitions)) for m in there}

    assert now == group.seen
    assert {(row.session_timeout_ms, tuple(row.subscription)) for row in there} == {
        (10_000 if group.is_classic else None, ("orders",))
    }


def test_who_came_back_is_told_and_who_left_is_gone(kafka_spark: SparkSession, lake: str, group: Group) -> None:
    rows = rows_of(kafka_spark, lake, Table.AUDIT_MEMBERS, group)
    returned = {row.instance_id for row in rows if row.returned}
    assert returned == ({f"{group.group_id}-0", f"{group.group_id}-1"} if group.is_static else set())
    assert sum(row.left_at is not None for row in rows) == (2 if group.is_static else 1)


def test_the_assignor_is_told_where_the_topic_tells_it(kafka_spark: SparkSession, lake: str, group: Group) -> None:
    rows = rows_of(kafka_spark, lake, Table.AUDIT_GENERATIONS, group)
    assert {row.assignor for row in rows} == {"range" if group.is_classic else None}
    assert {row.protocol_type for row in rows} == {"consumer"}
    assert all(row.unrecorded_before == 0 for row in rows)


def test_classic_generations_are_those_that_kafkas_own_tool_prints(
    kafka_spark: SparkSession, lake: str, story: Story
) -> None:
    printed: dict[tuple[str, int], tuple[object, ...]] = {}
    for record in printed_groups(story.bootstrap):
        group_id, told = record["key"]["data"]["group"], (record["value"] or {}).get("data")
        is_of_story = group_id in {group.group_id for group in story.groups}  # the tool has a group of its own
        if told is not None and told["generation"] > 0 and is_of_story:
            # It prints a generation again when a static member came back; our row is the first of them.
            printed.setdefault((group_id, told["generation"]), _as_printed(told))

    classic = read(kafka_spark, lake, Table.AUDIT_GENERATIONS).filter("group_type = 'Classic'")
    assert {(row.group_id, row.generation): _as_audited(row) for row in classic.collect()} == printed


def test_the_cluster_is_named_by_its_id(kafka_spark: SparkSession, lake: str) -> None:
    (row,) = read(kafka_spark, lake, Table.AUDIT_REBALANCES).select("cluster").distinct().collect()
    assert len(row.cluster) == 22


def test_a_broker_that_does_not_answer_is_told(kafka_spark: SparkSession, tmp_path: Path) -> None:
    options = {"kafka.default.api.timeout.ms": "2000", "kafka.request.timeout.ms": "1000"}
    with pytest.raises(SourceUnreadable, match=r"no answer from 127\.0\.0\.1:9: check the address"):
        audit(kafka_spark, str(tmp_path), "127.0.0.1:9", options)


def test_a_cluster_without_groups_is_told(kafka_spark: SparkSession, tmp_path: Path) -> None:
    with (
        own_broker(tmp_path, {}) as bootstrap,
        pytest.raises(SourceUnreadable, match="the cluster has no topic __consumer_offsets"),
    ):
        audit(kafka_spark, str(tmp_path / "lake"), bootstrap)


def test_a_broker_that_forbids_it_says_what_to_grant_and_that_is_enough(
    kafka_spark: SparkSession, tmp_path: Path
) -> None:
    with strict_broker(tmp_path) as strict:
        _commit_once(strict)

        def run() -> Summary:
            return audit(kafka_spark, str(tmp_path / "lake"), strict.bootstrap, _login(OPERATOR, PASSWORD))

        with pytest.raises(SourceUnreadable, match="the broker refused the log-in"):
            audit(kafka_spark, str(tmp_path / "lake"), strict.bootstrap, _login(OPERATOR, "wrong"))
        _until(run, "grant it Describe and Read on that topic")
        strict.grant(ResourceType.TOPIC, "__consumer_offsets", AclOperation.DESCRIBE)
        _until(run, "grant it Read on the groups with the prefix slackwater-audit")
        _grant_groups(strict)
        _until(run, "grant it Describe and Read on that topic")
        strict.grant(ResourceType.TOPIC, "__consumer_offsets", AclOperation.READ)
        _until(run, None)


def _until(run: Callable[[], object], complaint: str | None, within_s: float = 60.0) -> None:
    """Run until it complains of that, or (None) of nothing: an authorizer learns of a grant a moment later."""
    deadline = time.monotonic() + within_s
    while (told := _complaint(run)) is None or complaint is None or complaint not in told:
        if told is complaint is None:
            return
        assert time.monotonic() < deadline, told


def _complaint(run: Callable[[], object]) -> str | None:
    try:
        run()
    except SourceUnreadable as error:
        return str(error)
    return None


def _grant_groups(strict: StrictBroker) -> None:
    prefixed, allow = ResourcePatternType.PREFIXED, AclPermissionType.ALLOW
    user, read = f"User:{OPERATOR}", AclOperation.READ
    binding = AclBinding(ResourceType.GROUP, "slackwater-audit", prefixed, user, "*", read, allow)
    for done in strict.admin.create_acls([binding]).values():
        done.result(30)


def _commit_once(strict: StrictBroker) -> None:
    """So that the topic is there and has a record."""
    strict.make_topic("orders")
    consumer = Consumer({**strict.confluent(ROOT), "bootstrap.servers": strict.bootstrap, "group.id": "payments"})
    consumer.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)
    consumer.close()


def _login(user: str, password: str) -> dict[str, str]:
    return {
        "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.mechanism": "PLAIN",
        "kafka.sasl.jaas.config": f'{LOGIN_MODULE} required username="{user}" password="{password}";',
    }


def _as_printed(told: dict[str, Any]) -> tuple[object, ...]:
    members = {(m["memberId"], m["groupInstanceId"], m["clientHost"], m["sessionTimeout"]) for m in told["members"]}
    return (told["protocolType"], told["protocol"], told["leader"], members)


def _as_audited(row: Row) -> tuple[object, ...]:
    members = {(m.member_id, m.instance_id, m.client_host, m.session_timeout_ms) for m in row.members}
    return (row.protocol_type, row.assignor, row.leader, members)
