"""What doctor makes of a KafkaConnection: the operator's word, and what the brokers say from here."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from slackwater.adapters.kafka.errors import Code, Failure
from slackwater.adapters.kafka.granted import Operation, granted_in
from slackwater.cli.doctor.connections import ConnectionFacts, KafkaFacts, connection_findings
from slackwater.cli.doctor.findings import Finding, Mark, Unread
from slackwater.core.decision.reasons import Reason
from tests.api.manifests import kafka_connection
from tests.cli.builders import BROKERS, group

READ_ONLY = frozenset({Operation.DESCRIBE, Operation.READ})
ANSWERED = KafkaFacts(BROKERS, {"group.version": 1, "metadata.version": 27}, {"payments": READ_ONLY}, {})
SILENT = Failure(Reason.KAFKA_UNREACHABLE, "Kafka at broker-0:9092 does not answer")


def connection(status: str | None = "True", said_of: int = 2) -> dict[str, Any]:
    condition = {"type": "Ready", "status": status, "reason": "Why", "message": "so it is"}
    said = {} if status is None else {"status": {"observedGeneration": said_of, "conditions": [condition]}}
    manifest = kafka_connection()
    manifest["metadata"] |= {"namespace": "shop", "generation": 2}
    return manifest | said


def findings(
    kafka: KafkaFacts | Failure | Unread | None = None, status: str | None = "True", **spec: Any
) -> list[Finding]:
    return connection_findings(ConnectionFacts(connection(status), (group(**spec),), kafka))


def test_groups_that_no_fleet_selects_are_counted_where_fleets_are_known() -> None:
    groups = (group(), group(groupId="other"))
    asked = replace(ANSWERED, granted={"payments": READ_ONLY, "other": READ_ONLY}, coordinators={"other": 2})
    facts = ConnectionFacts(connection(), groups, asked)
    (*_, last) = connection_findings(replace(facts, selected=frozenset()))
    assert (last.mark, last.subject) == (Mark.OK, "Kafka of shop/main: groups without a fleet")
    assert last.message.endswith("by coordinator: 1 at broker 2")
    assert last not in connection_findings(facts), "whether a fleet selects them is not known"


@pytest.mark.parametrize(
    ("status", "mark", "message"),
    [
        ("True", Mark.OK, "the operator says: so it is"),
        ("False", Mark.MISSING, "the operator says Why: so it is"),
        (None, Mark.WARNING, "the operator has said nothing of it as it is now, though payments uses it"),
    ],
)
def test_the_operators_word_counts(status: str | None, mark: Mark, message: str) -> None:
    (found,) = findings(status=status)
    assert (found.mark, found.message) == (mark, message)


def test_what_the_operator_said_of_an_older_connection_does_not_count() -> None:
    (found,) = connection_findings(ConnectionFacts(connection(said_of=1), (group(),)))
    assert found.mark is Mark.WARNING


def test_a_connection_that_nobody_uses_is_not_judged() -> None:
    (found,) = connection_findings(ConnectionFacts(connection(None), ()))
    assert (found.mark, found.remedy) == (Mark.NOT_CHECKED, "add --kafka to ask Kafka from here")
    first, *_ = connection_findings(ConnectionFacts(connection(None), (), ANSWERED))
    assert (first.mark, first.remedy) == (Mark.NOT_CHECKED, ""), "Kafka was asked from here"


def test_a_kafka_that_does_all_it_should() -> None:
    told = {found.subject: (found.mark, found.message) for found in findings(ANSWERED)[1:]}
    assert told == {
        "Kafka of shop/main": (
            Mark.OK,
            "it answers from here; finalized features: group.version 1, metadata.version 27",
        ),
        "Kafka of shop/main: KIP-848": (Mark.OK, "it is on (group.version 1, online migration bidirectional)"),
        "Kafka of shop/main: session timeouts": (
            Mark.OK,
            "the brokers allow classic 6 s to 30 min, KIP-848 45 s to 60 s",
        ),
        "ACLs on group payments": (Mark.OK, "the connection's Kafka user may Describe, Read"),
    }


@pytest.mark.parametrize(
    ("failure", "status", "mark"),
    [
        (SILENT, "False", Mark.MISSING),
        (SILENT, None, Mark.MISSING),
        (SILENT, "True", Mark.NOT_CHECKED),
        (Failure(Reason.CONNECTION_INVALID, "refused the credentials"), "True", Mark.MISSING),
    ],
)
def test_a_kafka_without_an_address_for_us_is_no_fault(failure: Failure, status: str | None, mark: Mark) -> None:
    """If the operator reaches it."""
    found = findings(failure, status)[1]
    assert found.mark is mark
    assert failure.message in found.message


def test_secrets_that_may_not_be_read_leave_kafka_unknown() -> None:
    assert findings(Unread("no right"))[1].message == "not checked, because no right"


@pytest.mark.parametrize(("target", "mark"), [("Consumer", Mark.MISSING), ("Eager", Mark.WARNING)])
@pytest.mark.parametrize("serves", [True, False])
def test_only_who_wants_the_new_protocol_misses_it(serves: bool, target: str, mark: Mark) -> None:
    brokers = replace(BROKERS, group_version=0, serves_consumer_protocol=serves)
    found = findings(replace(ANSWERED, brokers=brokers), protocol={"target": target})[2]
    assert found.mark is mark
    assert found.remedy.startswith("kafka-features.sh" if serves else "upgrade every broker")


def test_brokers_that_do_not_tell_their_settings_say_what_to_grant() -> None:
    brokers = replace(BROKERS, classic_session=None, problem="grant it DescribeConfigs on the cluster")
    found = findings(replace(ANSWERED, brokers=brokers))[3]
    assert (found.mark, found.message) == (Mark.MISSING, "grant it DescribeConfigs on the cluster")


def test_a_topic_that_is_not_there_is_missing() -> None:
    failure = Failure(Reason.TOPIC_MISSING, "topic orders does not exist")
    found = findings(replace(ANSWERED, topic_failures={"orders": failure}))[4]
    assert (found.mark, found.message) == (Mark.MISSING, failure.message)


@pytest.mark.parametrize(
    ("spec", "lacking"),
    [
        ({"protocol": {"target": "Consumer"}}, "grant it DescribeConfigs, AlterConfigs on the group"),
        ({"deletionPolicy": "DeleteGroup"}, "grant it Delete on the group"),
    ],
)
def test_a_group_needs_what_is_wanted_of_it(spec: dict[str, Any], lacking: str) -> None:
    found = findings(ANSWERED, **spec)[-1]
    assert (found.mark, found.remedy) == (Mark.MISSING, lacking)
    assert findings(replace(ANSWERED, granted={"payments": frozenset(Operation)}), **spec)[-1].mark is Mark.OK


@pytest.mark.parametrize(
    ("reason", "mark"), [(Reason.NOT_AUTHORIZED, Mark.MISSING), (Reason.COORDINATOR_UNAVAILABLE, Mark.NOT_CHECKED)]
)
def test_a_group_that_cannot_be_asked_for(reason: Reason, mark: Mark) -> None:
    assert findings(replace(ANSWERED, granted={"payments": Failure(reason, "no")}))[-1].mark is mark


def described(error_code: int = 0, codes: set[int] | None = None) -> Any:
    row = SimpleNamespace(group_id="payments", error_code=error_code, authorized_operations=codes)
    return granted_in(SimpleNamespace(groups=[row]))["payments"]


def test_rights_are_read_by_kafkas_codes() -> None:
    """3 Read, 8 Describe; 9 means nothing for a group."""
    assert described(codes={3, 8, 9}) == READ_ONLY
    assert described(codes=set()) == frozenset()


def test_rights_that_are_not_told_are_unknown_and_not_none() -> None:
    assert described().reason is Reason.OBSERVATION_INCOMPLETE
    assert described(Code.GROUP_AUTHORIZATION_FAILED).reason is Reason.NOT_AUTHORIZED
