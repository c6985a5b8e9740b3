"""The operator's own use of Kafka: by a connection like any other, and bound by what binds those."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from slackwater.adapters.cluster.paths import KAFKA_CONNECTION, SECRET
from slackwater.api.errors import InvalidSpec
from slackwater.shell import advice as advice_module
from slackwater.shell import telemetry as telemetry_module
from slackwater.shell.advice import AdviceBook
from slackwater.shell.own_kafka import read_client_settings
from slackwater.shell.places import parse_place
from slackwater.shell.settings import read_settings
from slackwater.shell.telemetry import telemetry_to
from tests.api.manifests import kafka_connection
from tests.shell.fakes import CONNECTION, FakeApi

Reads = Callable[[], Awaitable[Mapping[str, str]]]
PLACE = f"kafka:{CONNECTION.namespace}/{CONNECTION.name}/topic"


@pytest.fixture
def api() -> FakeApi:
    """With a connection that asks login.example.com for its tokens."""
    api = FakeApi()
    login = {"type": "OAuthBearer", "secretRef": {"name": "login"}}
    connection = kafka_connection(CONNECTION.name, tls={}, authentication=login)
    connection["metadata"] |= {"namespace": CONNECTION.namespace, "uid": "u", "resourceVersion": "1"}
    api.add(KAFKA_CONNECTION, connection)
    data = {"clientId": b"me", "clientSecret": b"x", "tokenEndpoint": b"https://login.example.com/token"}
    secret = {"namespace": CONNECTION.namespace, "name": "login"}
    api.add(SECRET, {"metadata": secret, "data": {key: b64encode(value).decode() for key, value in data.items()}})
    return api


async def test_tokens_come_from_hosts_that_may_be_asked(api: FakeApi) -> None:
    cluster: Any = api
    for hosts in ((), ("*.example.com",)):
        settings = await read_client_settings(cluster, CONNECTION, hosts)
        assert settings["sasl.oauthbearer.token.endpoint.url"] == "https://login.example.com/token"
    with pytest.raises(InvalidSpec, match="on a host that this operator asks for no tokens"):
        await read_client_settings(cluster, CONNECTION, ("login.example.org",))


async def test_telemetry_and_recommendations_ask_no_other_host(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Reads] = []

    class Source:
        def __init__(self, read: Reads, *_: object) -> None:
            reads.append(read)

        async def run(self) -> None:
            await asyncio.Event().wait()

    def sink(_: str, read: Reads) -> Any:
        reads.append(read)

    monkeypatch.setattr(telemetry_module, "TopicSink", sink)
    monkeypatch.setattr(advice_module, "TopicSource", Source)
    environment = {"SLACKWATER_TELEMETRY": PLACE, "SLACKWATER_TOKEN_HOSTS": "login.example.org"}
    settings = read_settings(environment)
    cluster: Any = api
    telemetry_to(settings, cluster, lambda: 0.0, lambda _: None)
    book = AdviceBook(lambda _: None, lambda _: True)
    following = asyncio.ensure_future(book.follow(parse_place(PLACE), cluster, settings.token_hosts))
    await asyncio.sleep(0)
    following.cancel()
    assert len(reads) == 2
    for read in reads:
        with pytest.raises(InvalidSpec, match="asks for no tokens"):
            await read()
