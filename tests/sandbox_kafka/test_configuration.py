"""What the brokers are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.kafka.configuration import Broker, Secrets, bootstrap, brokers_of, server_properties

SECRETS = Secrets("secret", key_store=Path("/c/broker.pem"), trust_store=Path("/c/ca.pem"))


def _settings(number: int, count: int) -> dict[str, str]:
    text = server_properties(Broker(number), brokers_of(count), Path("/data"), SECRETS)
    return dict(line.split("=", 1) for line in text.splitlines())


def test_each_broker_has_an_address_and_a_namespace_of_its_own() -> None:
    assert [(broker.netns, str(broker.address)) for broker in brokers_of(3)] == [
        ("slackwater-kafka-1", "10.203.0.11"),
        ("slackwater-kafka-2", "10.203.0.12"),
        ("slackwater-kafka-3", "10.203.0.13"),
    ]
    assert bootstrap(brokers_of(2)) == "10.203.0.11:9092,10.203.0.12:9092"


@pytest.mark.parametrize("count", [0, 4])
def test_there_are_one_to_three_brokers(count: int) -> None:
    with pytest.raises(SandboxError, match=f"1 to 3 brokers, not {count}"):
        brokers_of(count)


@pytest.mark.parametrize(("count", "replicas", "in_sync"), [(1, "1", "1"), (2, "2", "1"), (3, "3", "2")])
def test_internal_topics_outlive_one_broker_where_there_are_several(count: int, replicas: str, in_sync: str) -> None:
    settings = _settings(1, count)
    assert settings["offsets.topic.replication.factor"] == replicas
    assert settings["transaction.state.log.min.isr"] == in_sync


def test_every_broker_votes() -> None:
    assert _settings(2, 3)["controller.quorum.voters"] == "1@10.203.0.11:9096,2@10.203.0.12:9096,3@10.203.0.13:9096"


def test_group_timeouts_are_kafkas_own() -> None:
    """The bounds of F22 and F23 are what users meet: the sandbox must not loosen them."""
    assert not [name for name in _settings(1, 1) if "session.timeout" in name or "heartbeat" in name]


def test_topics_are_not_made_by_a_typing_mistake() -> None:
    assert _settings(1, 1)["auto.create.topics.enable"] == "false"
