"""Every way to log in that a KafkaConnection offers, by both clients, to a broker that asks whether one may."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.security import ClientSettings
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import KafkaView, Unobserved
from tests.adapters.kafka.certificates import Authority
from tests.adapters.kafka.operator_rights import Names, documented, refusals
from tests.adapters.kafka.secured_broker import MECHANISMS, WAYS, SecuredBroker, secured_broker
from tests.adapters.kafka.strict_broker import ROOT
from tests.adapters.recommendations.messages import recommendation

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

WITHIN_S = 30.0


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with secured_broker(tmp_path_factory.mktemp("secured")) as broker:
        yield broker


@pytest.fixture
def names(broker: SecuredBroker) -> Names:
    mark = uuid.uuid4().hex[:8]
    made = Names(f"payments-{mark}", f"orders-{mark}", f"telemetry-{mark}", f"recommendations-{mark}")
    for topic in (made.topic, made.telemetry, made.recommendations):
        broker.strict.make_topic(topic)
    producer = Producer(broker.strict.confluent(ROOT))
    producer.produce(made.recommendations, recommendation("payments").model_dump_json(by_alias=True), "shop/payments")
    assert producer.flush(30) == 0
    return made


async def look(settings: ClientSettings, names: Names) -> KafkaView:
    reader = KafkaGroupReader(KafkaWire(settings.kafka_python, timeout_s=60.0))
    try:
        return (await reader.observe({names.group_id: frozenset({names.topic})}))[names.group_id]
    finally:
        await reader.close()


@pytest.mark.parametrize("way", WAYS)
async def test_one_gets_in_and_may_do_what_was_granted(way: str, broker: SecuredBroker, names: Names) -> None:
    settings = broker.settings(way, broker.secrets(way))
    before = await look(settings, names)
    assert isinstance(before, Unobserved), before
    assert before.reason is Reason.NOT_AUTHORIZED

    for right in documented():
        broker.strict.grant(*right.resource(names), right.operation, user=broker.user(way))
    deadline = time.monotonic() + WITHIN_S
    while said := await refusals(dict(settings.kafka_python), dict(settings.confluent), names):
        assert time.monotonic() < deadline, said


@pytest.mark.parametrize("way", [way for way in WAYS if way != "mutual-tls"])
async def test_wrong_credentials_are_said_and_not_shown(way: str, broker: SecuredBroker, names: Names) -> None:
    secrets = broker.secrets(way)
    key = "clientSecret" if broker.user(way) == "oauth" else "password"
    secrets["login"][key] = b"mistyped-by-somebody"

    seen = await look(broker.settings(way, secrets), names)

    assert isinstance(seen, Unobserved), seen
    assert seen.reason is Reason.CONNECTION_INVALID
    assert "check the connection's authentication and its Secret" in seen.message
    assert "mistyped" not in seen.message


@pytest.mark.parametrize("way", [f"{user}-tls" for user in MECHANISMS])
async def test_a_broker_that_somebody_else_vouches_for_is_told_nothing(
    way: str, broker: SecuredBroker, names: Names
) -> None:
    secrets = broker.secrets(way)
    secrets["ca"]["ca.crt"] = Authority().certificate
    asked = len(broker.endpoint.asked)

    seen = await look(broker.settings(way, secrets), names)

    assert isinstance(seen, Unobserved), seen
    assert (seen.reason, "cannot be trusted" in seen.message) == (Reason.CONNECTION_INVALID, True)
    assert len(broker.endpoint.asked) == asked


async def test_a_certificate_that_the_brokers_do_not_know_is_refused(broker: SecuredBroker, names: Names) -> None:
    secrets, stranger = broker.secrets("mutual-tls"), Authority().issue("mutual")
    secrets["shown"] = {"tls.crt": stranger.certificate, "tls.key": stranger.key}

    seen = await look(broker.settings("mutual-tls", secrets), names)

    assert isinstance(seen, Unobserved), seen
    assert (seen.reason, "check the connection's tls" in seen.message) == (Reason.CONNECTION_INVALID, True), seen


async def test_an_endpoint_for_tokens_that_is_away_is_named(broker: SecuredBroker, names: Names) -> None:
    secrets = broker.secrets("oauth")
    secrets["login"]["tokenEndpoint"] = b"http://127.0.0.1:1/token"

    seen = await asyncio.wait_for(look(broker.settings("oauth", secrets), names), WITHIN_S)

    assert isinstance(seen, Unobserved), seen
    assert seen.reason is Reason.KAFKA_UNREACHABLE
    assert "the token endpoint http://127.0.0.1:1/token does not answer" in seen.message
