"""What the client libraries do that the design stands on (docs/facts.md), as far as it shows without a broker.

A library that changes here opens a way, or closes one: look at the fact, at who cites it, and decide again.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import kopf
import pytest
import yaml
from confluent_kafka import Consumer, ConsumerGroupState, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from kafka.admin import KafkaAdminClient

CONSUMER = {"group.protocol": "consumer"}
KIP_848_STATES = {"ASSIGNING", "RECONCILING"}
REFUSED = [
    pytest.param({"partition.assignment.strategy": "range,cooperative-sticky"}, id="F1: eager, cooperative"),
    pytest.param({"partition.assignment.strategy": "cooperative-sticky,range"}, id="F1: cooperative, eager"),
    pytest.param(CONSUMER | {"session.timeout.ms": 45_000}, id="F7: session"),
    pytest.param(CONSUMER | {"heartbeat.interval.ms": 5_000}, id="F7: heartbeat"),
    pytest.param(CONSUMER | {"partition.assignment.strategy": "range"}, id="F7: assignor"),
    pytest.param({"session.timeout.ms": 60_001, "max.poll.interval.ms": 60_000}, id="F8: session above poll interval"),
]
TAKEN = [
    pytest.param({"partition.assignment.strategy": "range,roundrobin"}, id="F1: two eager ones"),
    pytest.param(CONSUMER, id="F7: KIP-848 alone"),
    pytest.param({"session.timeout.ms": 60_000, "max.poll.interval.ms": 60_000}, id="F8: equal"),
]


def consumer(settings: dict[str, str | int]) -> None:
    Consumer({"group.id": "payments", **settings}).close()


@pytest.mark.parametrize("settings", REFUSED)
def test_librdkafka_makes_no_consumer_of_settings_that_do_not_fit(settings: dict[str, str | int]) -> None:
    with pytest.raises(KafkaException) as refused:
        consumer(settings)
    assert refused.value.args[0].code() == KafkaError._INVALID_ARG


@pytest.mark.parametrize("settings", TAKEN)
def test_librdkafka_takes_those_that_fit(settings: dict[str, str | int]) -> None:
    consumer(settings)


def test_librdkafka_has_no_name_for_the_states_of_kip_848() -> None:
    """F16: such a group comes as UNKNOWN."""
    assert KIP_848_STATES.isdisjoint(state.name for state in ConsumerGroupState)


def test_only_kafka_python_removes_members() -> None:
    """F11."""
    assert callable(KafkaAdminClient.remove_group_members)
    assert [name for name in dir(AdminClient) if "member" in name] == []


def test_kafka_python_has_no_request_that_describes_kip_848_groups() -> None:
    """F18: hence the schemas of our own."""
    messages = {path.name for path in (files("kafka.protocol.schemas") / "resources").iterdir()}
    assert "DescribeGroupsRequest.json" in messages
    assert [name for name in messages if name.startswith("ConsumerGroupDescribe")] == []


def test_kopf_ignores_the_name_that_a_kubeconfig_gives_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F45: the certificate has to be valid for the address."""
    cluster = {"server": "https://127.0.0.1:6443", "tls-server-name": "kubernetes.default"}
    config = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "it", "user": "me"}}],
        "clusters": [{"name": "it", "cluster": cluster}],
        "users": [{"name": "me", "user": {"token": "secret"}}],
    }
    (tmp_path / "config").write_text(yaml.safe_dump(config))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    found = kopf.login_with_kubeconfig(settings=kopf.OperatorSettings())
    assert found is not None
    assert found.server == cluster["server"]
    assert cluster["tls-server-name"] not in repr(found)
