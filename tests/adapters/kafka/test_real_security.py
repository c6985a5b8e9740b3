"""Every way to log in, through both clients, to the sandbox's secured listeners; and what a wrong one is told."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from sandbox import kafka
from sandbox.errors import SandboxError
from sandbox.kafka.configuration import SASL_PLAINTEXT_PORT, SASL_SSL_PORT, SSL_PORT
from sandbox.layout import Layout
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.security import ClientSettings, client_settings
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.api.kafka_connection import KafkaConnectionSpec
from slackwater.core.world.observation import GroupObservation, KafkaView, Unobserved

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]

LOGIN = {"name": "login"}
CLEAR = {"allowUnencrypted": True}
CA = {"caSecretRef": {"name": "ca"}}
SHOWN = {**CA, "certificateSecretRef": {"name": "shown"}}
WAYS: dict[str, tuple[int, dict[str, Any]]] = {
    "plain": (SASL_PLAINTEXT_PORT, {"authentication": {"type": "Plain", "secretRef": LOGIN, **CLEAR}}),
    "scram-256": (SASL_PLAINTEXT_PORT, {"authentication": {"type": "ScramSha256", "secretRef": LOGIN, **CLEAR}}),
    "scram-512": (SASL_PLAINTEXT_PORT, {"authentication": {"type": "ScramSha512", "secretRef": LOGIN, **CLEAR}}),
    "scram-512-tls": (SASL_SSL_PORT, {"tls": CA, "authentication": {"type": "ScramSha512", "secretRef": LOGIN}}),
    "tls": (SSL_PORT, {"tls": CA}),
    "mutual-tls": (SSL_PORT, {"tls": SHOWN, "authentication": {"type": "Tls"}}),
}


class Secured:
    """The sandbox's brokers, and the Secrets of somebody who may use them."""

    def __init__(self, bootstrap_servers: str, credentials: kafka.Credentials) -> None:
        self.hosts = [server.rpartition(":")[0] for server in bootstrap_servers.split(",")]
        self.secrets = {
            "login": {"username": credentials.user.encode(), "password": credentials.password.encode()},
            "ca": {"ca.crt": credentials.ca.read_bytes()},
            "shown": {
                "tls.crt": credentials.client_certificate.read_bytes(),
                "tls.key": credentials.client_key.read_bytes(),
            },
        }

    def settings(self, port: int, **spec: Any) -> ClientSettings:
        servers = ",".join(f"{host}:{port}" for host in self.hosts)
        return client_settings(
            "main", KafkaConnectionSpec.model_validate({"bootstrapServers": servers, **spec}), self.secrets
        )


@pytest.fixture
def secured(bootstrap_servers: str) -> Secured:
    layout = Layout.from_environment()
    try:
        if kafka.bootstrap_servers(layout) == bootstrap_servers:
            return Secured(bootstrap_servers, kafka.credentials(layout))
    except SandboxError:
        pass
    pytest.skip("these brokers are not the sandbox's own: their credentials are not known")


async def observe(settings: ClientSettings, group_id: str, topic: str) -> KafkaView:
    reader = KafkaGroupReader(KafkaWire(settings.kafka_python, timeout_s=30.0))
    try:
        return (await reader.observe({group_id: frozenset({topic})}))[group_id]
    finally:
        await reader.close()


@pytest.mark.parametrize("way", WAYS)
async def test_both_clients_get_in(
    way: str, secured: Secured, topic: str, group_id: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="kafka")
    port, spec = WAYS[way]
    settings = secured.settings(port, **spec)

    view = await observe(settings, group_id, topic)

    assert isinstance(view, GroupObservation), view
    assert topic in AdminClient(dict(settings.confluent)).list_topics(timeout=15).topics
    assert secured.secrets["login"]["password"].decode() not in caplog.text


@pytest.mark.parametrize("way", ["plain", "scram-256", "scram-512", "scram-512-tls"])
async def test_a_wrong_password_is_said(way: str, secured: Secured, topic: str, group_id: str) -> None:
    secured.secrets["login"]["password"] = b"wrong"
    port, spec = WAYS[way]

    view = await observe(secured.settings(port, **spec), group_id, topic)

    assert isinstance(view, Unobserved)
    assert view.reason == "ConnectionInvalid"
    assert "refused the credentials" in view.message


async def test_a_broker_that_cannot_be_verified_is_not_talked_to(secured: Secured, topic: str, group_id: str) -> None:
    secured.secrets["ca"]["ca.crt"] = secured.secrets["shown"]["tls.crt"]  # a certificate, but not of the authority
    port, spec = WAYS["tls"]

    view = await observe(secured.settings(port, **spec), group_id, topic)

    assert isinstance(view, Unobserved)
    assert view.reason == "ConnectionInvalid"
    assert "cannot be trusted" in view.message


async def test_a_password_that_becomes_right_gets_in_without_a_restart(
    secured: Secured, bootstrap_servers: str, topic: str, group_id: str
) -> None:
    """kafka-python must not hold on to an earlier refusal."""
    port, spec = WAYS["scram-512"]
    right = secured.settings(port, **spec)
    secured.secrets["login"]["password"] = b"wrong"
    wrong = secured.settings(port, **spec)
    wire = KafkaWire(wrong.kafka_python)
    reader = KafkaGroupReader(wire)
    try:
        topics = {group_id: frozenset({topic})}
        assert isinstance((await reader.observe(topics))[group_id], Unobserved)
        wire._session._manager.config.update(right.kafka_python)  # type: ignore[union-attr]

        assert isinstance((await reader.observe(topics))[group_id], GroupObservation)
    finally:
        await reader.close()
