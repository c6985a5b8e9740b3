"""What brokers can do and allow, as read from their answers."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from typing import Any

import pytest
from kafka.protocol.admin import DescribeConfigsResponse
from kafka.protocol.metadata import ApiVersionsResponse, MetadataResponse

from slackwater.adapters.kafka.broker_reader import (
    BrokerAnswer,
    BrokerReader,
    capabilities_in,
    facts_of,
    settings_in,
)
from slackwater.adapters.kafka.errors import Code, KafkaUnreachable
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.broker import Bounds, BrokerFacts, MigrationPolicy

SETTINGS = {
    "group.min.session.timeout.ms": "6000",
    "group.max.session.timeout.ms": "1800000",
    "group.consumer.min.session.timeout.ms": "45000",
    "group.consumer.max.session.timeout.ms": "60000",
    "group.consumer.min.heartbeat.interval.ms": "5000",
    "group.consumer.max.heartbeat.interval.ms": "15000",
    "group.consumer.migration.policy": "bidirectional",
}
ANSWER = BrokerAnswer(serves_consumer_protocol=True, group_version=1, settings=SETTINGS)
FACTS = BrokerFacts(
    read_at=7.0,
    serves_consumer_protocol=True,
    group_version=1,
    migration_policy=MigrationPolicy.BIDIRECTIONAL,
    classic_session=Bounds(6_000, 1_800_000),
    consumer_session=Bounds(45_000, 60_000),
    consumer_heartbeat=Bounds(5_000, 15_000),
)


def capabilities(*api_keys: int, group_version: int | None = 1, supported: int = 1, version: int = 4) -> Any:
    features = (
        []
        if group_version is None
        else [ApiVersionsResponse.FinalizedFeatureKey(name="group.version", max_version_level=group_version)]
    )
    offered = [ApiVersionsResponse.ApiVersion(api_key=key, min_version=0, max_version=1) for key in api_keys]
    could = [ApiVersionsResponse.SupportedFeatureKey(name="group.version", min_version=0, max_version=supported)]
    answer = ApiVersionsResponse(
        api_keys=offered, finalized_features=features, supported_features=could if supported else []
    )
    return _over_the_wire(answer, version)


def described(settings: dict[str, str | None] | None = None, error_code: int = 0) -> Any:
    row = DescribeConfigsResponse.DescribeConfigsResult
    configs = [row.DescribeConfigsResourceResult(name=k, value=v) for k, v in (settings or {}).items()]
    return _over_the_wire(DescribeConfigsResponse(results=[row(error_code=error_code, configs=configs)]), 4)


def _over_the_wire(answer: Any, version: int) -> Any:
    return type(answer).decode(answer.encode(version=version), version=version)


class AnsweringWire:
    """Brokers 1 to n, each with answers of its own."""

    def __init__(self, *answers: tuple[Any, Any]) -> None:
        self.answers = answers
        self.silent = False
        """Whether brokers say what they can do, and nothing of their settings."""
        self.asked: list[tuple[int | None, str]] = []

    async def send(self, request: Any, node_id: int | None = None) -> Any:
        self.asked.append((node_id, type(request).__name__))
        if self.silent and type(request).__name__ == "DescribeConfigsRequest":
            await asyncio.Event().wait()
        name = type(request).__name__
        if name == "MetadataRequest":
            row = MetadataResponse.MetadataResponseBroker
            brokers = [row(node_id=number, host="kafka", port=9092) for number, _ in enumerate(self.answers, 1)]
            return MetadataResponse(brokers=brokers, topics=[])
        assert node_id is not None
        return self.answers[node_id - 1][0 if name == "ApiVersionsRequest" else 1]

    def remember_brokers(self, metadata: Any) -> None: ...


async def read(*answers: tuple[Any, Any]) -> BrokerFacts:
    return await BrokerReader(AnsweringWire(*answers), now=lambda: 7.0).read()  # type: ignore[arg-type]


async def test_every_fact_is_read() -> None:
    assert await read((capabilities(3, 68, 69), described(dict(SETTINGS)))) == FACTS


async def test_a_broker_from_before_the_new_protocol_tells_what_it_has() -> None:
    classic = {name: value for name, value in SETTINGS.items() if not name.startswith("group.consumer")}

    assert await read((capabilities(3, group_version=None), described(dict(classic)))) == replace(
        FACTS,
        serves_consumer_protocol=False,
        group_version=0,
        migration_policy=None,
        consumer_session=None,
        consumer_heartbeat=None,
    )


@pytest.mark.parametrize(
    ("answer", "serves"),
    [
        pytest.param(capabilities(68, group_version=0), True, id="Kafka 4, the feature is not raised"),
        pytest.param(capabilities(68, group_version=None, supported=0), False, id="Kafka 3.9"),
        pytest.param(capabilities(68, supported=0, version=3), True, id="one that does not tell what it supports"),
        pytest.param(capabilities(3, group_version=0), False, id="the request is not offered"),
    ],
)
async def test_a_broker_serves_these_groups_that_has_their_feature(answer: Any, serves: bool) -> None:
    """Kafka 3.9 offers the request, and refuses to raise `group.version`."""
    assert (await read((answer, described(dict(SETTINGS))))).serves_consumer_protocol is serves


async def test_one_broker_that_cannot_is_enough() -> None:
    facts = await read(
        (capabilities(3, 68), described(dict(SETTINGS))),
        (capabilities(3, group_version=0), described(dict(SETTINGS))),
    )

    assert (facts.serves_consumer_protocol, facts.group_version) == (False, 0)


async def test_what_is_not_granted_is_said_and_the_rest_is_read() -> None:
    facts = await read((capabilities(68), described(error_code=Code.CLUSTER_AUTHORIZATION_FAILED)))

    assert (facts.serves_consumer_protocol, facts.group_version) == (True, 1)
    assert (facts.migration_policy, facts.classic_session, facts.consumer_session) == (None, None, None)
    assert facts.problem.endswith("grant it DescribeConfigs on the cluster")


async def test_a_cluster_without_brokers_is_no_answer() -> None:
    with pytest.raises(KafkaUnreachable, match="named no broker"):
        await read()


def test_an_error_is_no_answer() -> None:
    with pytest.raises(KafkaUnreachable, match="broker 3 did not say what it can do: error code 41"):
        capabilities_in(3, ApiVersionsResponse(error_code=41, api_keys=[]))


async def test_all_brokers_together_have_a_time() -> None:
    """One may be all of them, and take its time for each."""
    wire = AnsweringWire(*[(capabilities(68), described(dict(SETTINGS)))] * 9)
    wire.silent = True
    with pytest.raises(KafkaUnreachable, match="together took more than 0 s to say") as raised:
        await BrokerReader(wire, within_s=0.0).read()  # type: ignore[arg-type]
    assert raised.value.reason is Reason.OBSERVATION_INCOMPLETE


async def test_after_one_has_failed_no_other_is_asked() -> None:
    """What they say would be read, and kept, for nobody."""
    bad = (ApiVersionsResponse(error_code=41, api_keys=[]), described(dict(SETTINGS)))
    wire = AnsweringWire(*[bad] * 50)
    with pytest.raises(KafkaUnreachable, match="did not say what it can do"):
        await BrokerReader(wire).read()  # type: ignore[arg-type]
    asked = len(wire.asked)
    for _ in range(100):
        await asyncio.sleep(0)
    assert len(wire.asked) == asked < 2 * 50


def test_of_what_a_broker_says_unasked_nothing_is_kept_and_a_value_without_an_end_is_none() -> None:
    endless = {
        "group.max.session.timeout.ms": "1" * 30_000,
        "group.consumer.migration.policy": "\x9b\U0001f600" * 9_000,
    }
    settings, _ = settings_in(1, described({**SETTINGS, **endless, "other": "x" * 30_000}))
    assert settings.keys() == SETTINGS.keys()
    assert sum(map(sys.getsizeof, settings.values())) < 2_000
    facts = facts_of([replace(ANSWER, settings=settings)], 7.0)
    assert facts.classic_session is None
    assert facts.problem.startswith("the brokers' group.consumer.migration.policy is \\x9b\U0001f600")
    assert len(facts.problem) < 400


def test_of_many_brokers_that_differ_a_few_are_named() -> None:
    policies = [{**SETTINGS, "group.consumer.migration.policy": f"p{number:03}"} for number in range(200)]
    facts = facts_of([replace(ANSWER, settings=each) for each in policies], 7.0)
    assert "(p000, p001, p002, p003 and 196 more)" in facts.problem


def test_settings_that_are_kept_from_us_are_not_known() -> None:
    settings, problem = settings_in(1, described({**SETTINGS, "group.consumer.migration.policy": None}))

    assert not problem
    assert facts_of([replace(ANSWER, settings=settings)], 7.0) == replace(FACTS, migration_policy=None)


def test_only_what_all_brokers_allow_is_allowed() -> None:
    other = {
        **SETTINGS,
        "group.min.session.timeout.ms": "10000",
        "group.max.session.timeout.ms": "3600000",
        "group.consumer.min.session.timeout.ms": "70000",
        "group.consumer.max.session.timeout.ms": "80000",
    }

    facts = facts_of([ANSWER, replace(ANSWER, settings=other)], 7.0)

    assert facts == replace(FACTS, classic_session=Bounds(10_000, 1_800_000), consumer_session=None)


@pytest.mark.parametrize(
    ("policies", "policy", "problem"),
    [
        (["UPGRADE", "upgrade"], MigrationPolicy.UPGRADE, ""),
        (["upgrade", "disabled"], None, "the brokers differ in group.consumer.migration.policy (disabled, upgrade)"),
        (["sideways"], None, "is sideways, which this slackwater does not know"),
    ],
)
def test_the_policy_is_one_that_all_have(policies: list[str], policy: MigrationPolicy | None, problem: str) -> None:
    answers = [replace(ANSWER, settings={**SETTINGS, "group.consumer.migration.policy": policy}) for policy in policies]

    facts = facts_of(answers, 7.0)

    assert facts.migration_policy is policy
    assert problem in facts.problem
    assert bool(problem) == bool(facts.problem)


@pytest.mark.parametrize(
    ("value_ms", "nearest"), [(1_000, 6_000), (6_000, 6_000), (45_000, 45_000), (10**9, 1_800_000)]
)
def test_values_are_held_within_bounds(value_ms: int, nearest: int) -> None:
    assert Bounds(6_000, 1_800_000).clamp(value_ms) == nearest


@pytest.mark.parametrize(
    "value", [str(2**31), "1" + "0" * 400, "1" * 5_000], ids=["one too many", "10^400", "5000 digits"]
)
def test_a_bound_that_no_broker_has_is_none(value: str) -> None:
    """Python refuses to read more than 4,300 digits, and a float takes 308."""
    assert facts_of([replace(ANSWER, settings=SETTINGS | {"group.max.session.timeout.ms": value})], 7.0) == replace(
        FACTS, classic_session=None
    )
    largest = facts_of([replace(ANSWER, settings=SETTINGS | {"group.max.session.timeout.ms": str(2**31 - 1)})], 7.0)
    assert largest.classic_session == Bounds(6_000, 2**31 - 1)
