"""SCRAM with a broker that asks for too few rounds, by whose proof a password could be guessed, or for too many."""

from __future__ import annotations

from typing import Any

import pytest
from kafka.net.sasl import get_sasl_mechanism
from kafka.protocol.metadata import MetadataRequest

from slackwater.adapters.kafka import translated  # by which the limit is set
from slackwater.adapters.kafka.errors import KafkaRefused
from slackwater.adapters.kafka.scram import FEWEST_ITERATIONS, MOST_ITERATIONS, WeakLogIn
from slackwater.adapters.kafka.wire import KafkaWire
from tests.adapters.kafka.weak_broker import weak_broker

MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")


def begun(mechanism: str) -> Any:
    """A log-in whose first message was sent."""
    login = get_sasl_mechanism(mechanism)(
        sasl_mechanism=mechanism, sasl_plain_username="slackwater", sasl_plain_password="hunter2"
    )
    login.auth_bytes()
    return login


def first_answer(login: Any, iterations: int) -> bytes:
    nonce: bytes = login._scram_client.nonce
    return b"r=" + nonce + b"more,s=c2FsdA==,i=" + str(iterations).encode()


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("iterations", [-1, 0, 1, FEWEST_ITERATIONS - 1])
def test_nothing_is_sent_that_shows_the_password(mechanism: str, iterations: int) -> None:
    login = begun(mechanism)
    with pytest.raises(WeakLogIn, match=f"it asks for {iterations} rounds"):
        login.receive(first_answer(login, iterations))
    assert login._scram_client.client_proof is None


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("iterations", [MOST_ITERATIONS + 1, 1_000_000])
def test_a_broker_does_not_choose_how_long_a_log_in_takes(
    mechanism: str, iterations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred connections that hash a million rounds each leave the event loop no processor."""
    monkeypatch.setattr("kafka.net.sasl.scram.hashlib.pbkdf2_hmac", lambda *_: pytest.fail("it hashes"))
    login = begun(mechanism)
    with pytest.raises(WeakLogIn, match=f"it asks for {iterations} rounds of SCRAM, more than {MOST_ITERATIONS}"):
        login.receive(first_answer(login, iterations))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_as_many_as_kafka_has_are_enough(mechanism: str) -> None:
    login = begun(mechanism)
    login.receive(first_answer(login, FEWEST_ITERATIONS))
    assert b",p=" in login.auth_bytes()


def test_people_learn_why() -> None:
    why = "is not sent the password: it asks for 1 rounds of SCRAM, fewer than 4096"
    found = translated.translated(WeakLogIn(why), "broker a:9092", "")
    assert isinstance(found, KafkaRefused)
    assert str(found) == f"broker a:9092 {why}"


@pytest.mark.parametrize("iterations", [1, FEWEST_ITERATIONS - 1])
async def test_a_connection_is_refused_with_its_reason_before_it_has_sent_a_proof(iterations: int) -> None:
    with weak_broker(iterations) as broker:
        settings = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "SCRAM-SHA-512"}
        login = {"sasl_plain_username": "slackwater", "sasl_plain_password": "hunter2"}
        connection = KafkaWire({"bootstrap_servers": broker.address, **settings, **login})
        try:
            with pytest.raises(KafkaRefused, match=f"it asks for {iterations} rounds of SCRAM, fewer than 4096"):
                await connection.send(MetadataRequest(topics=[]))
        finally:
            await connection.close()
    assert broker.logged_in_with
    assert all(message.startswith(b"n,,n=slackwater,r=") for message in broker.logged_in_with)
