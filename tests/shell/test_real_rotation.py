"""A Secret that changes while the operator runs, against a real broker: the same objects go on, with the new one."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AclOperation, ResourceType
from structlog.testing import capture_logs

from slackwater.adapters.cluster.paths import SECRET
from slackwater.adapters.kafka.connected import connected
from slackwater.adapters.kafka.security import client_settings
from slackwater.adapters.recommendations.reading import Reader
from slackwater.adapters.recommendations.topic import TopicSource
from slackwater.adapters.telemetry.sinks import Line, SinkUnavailable
from slackwater.adapters.telemetry.topic import TopicSink
from slackwater.api.kafka_connection import KafkaConnectionSpec
from slackwater.api.parsing import parse_consumer_group
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import GroupObservation, KafkaView, Unobserved
from slackwater.shell.connections import Connections
from slackwater.shell.open_connection import SECRETS_AGAIN_S
from tests.adapters.kafka.certificates import Authority
from tests.adapters.kafka.secured_broker import WAYS, SecuredBroker, secured_broker
from tests.adapters.kafka.strict_broker import ROOT
from tests.adapters.recommendations.messages import recommendation
from tests.shell.fakes import CONNECTION, KEY, FakeApi, connection_object, group_object

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

WITHIN_S = 45.0
LOGIN_LASTS_MS = 2_000
SecretData = dict[str, dict[str, bytes]]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with secured_broker(tmp_path_factory.mktemp("secured"), reauthenticate_after_ms=LOGIN_LASTS_MS) as broker:
        yield broker


@pytest.fixture
def topic(broker: SecuredBroker) -> str:
    """One that everybody may use."""
    name = f"orders-{uuid.uuid4().hex[:8]}"
    broker.strict.make_topic(name)
    for user in {broker.user(way) for way in WAYS}:
        broker.strict.grant(ResourceType.TOPIC, name, AclOperation.READ, AclOperation.WRITE, user=user)
        broker.strict.grant(ResourceType.GROUP, name, AclOperation.READ, user=user)
    return name


class Stage:
    """The operator's connections, and the objects that they are made from."""

    def __init__(self, spec: dict[str, Any], topic: str) -> None:
        self._api = FakeApi()
        opens = partial(connected, moving_interval_s=0.2, rest_interval_s=0.2)
        self.connections = Connections(self._api, opens, lambda _: None)
        self._object = connection_object()
        self._object["spec"] = spec
        self._group = parse_consumer_group(group_object(topics=[topic], groupId=topic))
        self._clock = itertools.count(step=int(SECRETS_AGAIN_S))

    def put(self, secrets: SecretData) -> None:
        for name, data in secrets.items():
            encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
            self._api.add(SECRET, {"metadata": {"namespace": CONNECTION.namespace, "name": name}, "data": encoded})

    async def until(self, is_right: Callable[[KafkaView], bool]) -> None:
        """Pass over the group again and again, half a minute after the pass before as far as it can tell."""
        deadline = time.monotonic() + WITHIN_S
        while True:
            await self.connections.use(KEY, self._group, RolloutMemory(), self._object, float(next(self._clock)))
            view, _ = self.connections.view(KEY, 0.0)
            if is_right(view):
                return
            assert time.monotonic() < deadline, view
            await asyncio.sleep(0.2)


def is_seen(view: KafkaView) -> bool:
    return isinstance(view, GroupObservation)


def is_refused(view: KafkaView) -> bool:
    return isinstance(view, Unobserved) and view.reason is Reason.CONNECTION_INVALID


@pytest.mark.parametrize("way", WAYS)
async def test_credentials_that_become_right_are_taken_up(way: str, broker: SecuredBroker, topic: str) -> None:
    right, wrong = broker.secrets(way), broker.secrets(way)
    if way == "mutual-tls":
        stranger = Authority().issue("mutual")
        wrong["shown"] = {"tls.crt": stranger.certificate, "tls.key": stranger.key}
    else:
        wrong["login"] |= dict.fromkeys({"password", "clientSecret"} & wrong["login"].keys(), b"of-yesterday")
    stage = Stage(broker.spec(way), topic)
    stage.put(wrong)
    try:
        await stage.until(is_refused)
        stage.put(right)
        await stage.until(is_seen)
    finally:
        await stage.connections.close()


def rotate(broker: SecuredBroker, user: str) -> None:
    """The old one is worth nothing from now on."""
    password = uuid.uuid4().hex
    if user == "oauth":
        broker.endpoint.client_secret = broker.passwords[user] = password
    else:
        broker.set_scram_password(user, password)


@pytest.mark.parametrize("way", ["scram512", "scram256-tls"])
async def test_a_password_that_is_changed_is_refused_until_the_secret_has_it(
    way: str, broker: SecuredBroker, topic: str
) -> None:
    stage = Stage(broker.spec(way), topic)
    stage.put(broker.secrets(way))
    try:
        await stage.until(is_seen)
        rotate(broker, broker.user(way))
        await stage.until(is_refused)
        stage.put(broker.secrets(way))
        await stage.until(is_seen)
    finally:
        await stage.connections.close()


@pytest.mark.parametrize("way", ["scram512", "oauth"])
async def test_telemetry_goes_on_with_the_new_secret(way: str, broker: SecuredBroker, topic: str) -> None:
    secrets = broker.secrets(way)

    async def settings() -> dict[str, str]:
        spec = KafkaConnectionSpec.model_validate(broker.spec(way))
        return {**client_settings("KafkaConnection main", spec, secrets).confluent, "log_level": "0"}

    sink, wrong = TopicSink(topic, settings, delivery_s=20.0), {"clientSecret": b"no", "password": b"no"}
    right = broker.secrets(way)["login"]
    secrets["login"] = right | wrong
    with pytest.raises(SinkUnavailable):
        await sink.write([Line("a", b"{}")])
    secrets["login"] = right
    assert await sink.write([Line("a", b"{}")]) == 0
    await sink.close()


async def test_recommendations_are_followed_with_the_new_secret(broker: SecuredBroker, topic: str) -> None:
    """After a password was changed under a consumer that was reading."""
    way, came = "scram512", asyncio.Queue[str]()

    async def settings() -> dict[str, str]:
        spec = KafkaConnectionSpec.model_validate(broker.spec(way))
        return {**client_settings("KafkaConnection main", spec, secrets).confluent, "log_level": "0"}

    def publish(name: str) -> None:
        producer = Producer(broker.strict.confluent(ROOT))
        producer.produce(topic, json.dumps(recommendation(name).model_dump(mode="json", by_alias=True)), name)
        assert producer.flush(30) == 0

    secrets = broker.secrets(way)
    source = TopicSource(settings, topic, lambda _, name, __: came.put_nowait(name), Reader(), again_s=0.5)
    following = asyncio.create_task(source.run())
    try:
        publish("before")
        assert await asyncio.wait_for(came.get(), WITHIN_S) == "before"
        with capture_logs() as logged:
            rotate(broker, "scram512")
            deadline = time.monotonic() + WITHIN_S
            while not logged:
                assert time.monotonic() < deadline, "nothing was refused"
                await asyncio.sleep(0.05)
        assert {each["event"] for each in logged} == {"recommendations_unreadable"}
        secrets = broker.secrets(way)
        publish("after")
        while await asyncio.wait_for(came.get(), WITHIN_S) != "after":
            pass
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
