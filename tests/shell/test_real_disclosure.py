"""No credential in any log line, at debug level, nor in what is said of a connection, however one logs in."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator

import pytest
import structlog

from slackwater.adapters.kafka.errors import KafkaFailed
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.security import ClientSettings
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.adapters.telemetry.sinks import Line, SinkUnavailable
from slackwater.adapters.telemetry.topic import TopicSink
from slackwater.shell.logs import configure
from slackwater.shell.settings import Settings
from tests.adapters.kafka.disclosure import shown
from tests.adapters.kafka.secured_broker import WAYS, SecuredBroker, secured_broker
from tests.adapters.recommendations.messages import recommendation
from tests.shell.test_logs import logging_as_before

__all__ = ["logging_as_before"]

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]
EVERYTHING = "kafka"
"""kafka-python's loggers, which the operator keeps silent whatever its level."""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with secured_broker(tmp_path_factory.mktemp("secured")) as broker:
        yield broker


@pytest.fixture
def all_told(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Everything that kafka-python can say, too."""
    before = logging.getLogger(EVERYTHING).level
    configure(Settings.model_validate({"log_format": "json", "log_level": "debug"}))
    logging.getLogger(EVERYTHING).setLevel(logging.DEBUG)
    yield
    logging.getLogger(EVERYTHING).setLevel(before)


@pytest.mark.usefixtures("all_told")
@pytest.mark.parametrize("right", [True, False], ids=["let-in", "turned-away"])
@pytest.mark.parametrize("way", WAYS)
async def test_nothing_gives_them_away(
    way: str, right: bool, broker: SecuredBroker, capfd: pytest.CaptureFixture[str]
) -> None:
    secrets = broker.secrets(way)
    if not right and way == "mutual-tls":
        secrets["ca"] = {"ca.crt": secrets["shown"]["tls.crt"]}
    elif not right:
        wanted = {"password", "clientSecret"} & secrets["login"].keys()
        secrets["login"] |= {key: uuid.uuid4().hex.encode() for key in wanted}
    settings = broker.settings(way, secrets)
    said = [repr(settings), *await look(dict(settings.kafka_python)), *await tell(dict(settings.confluent))]
    try:
        stumble(settings)
    except RuntimeError:
        structlog.get_logger("test").exception("pass_crashed")

    out, err = capfd.readouterr()

    assert '"level": "debug"' in err  # it was told
    everything = "\n".join([*said, out, err])
    assert shown(everything, secrets) == []
    assert [token for token in broker.endpoint.issued if token in everything] == []


def stumble(settings: ClientSettings) -> None:
    raise RuntimeError(f"a bug, with {settings} in hand")


async def look(settings: dict[str, object]) -> list[str]:
    wire = KafkaWire(settings)
    try:
        views = await KafkaGroupReader(wire).observe({"payments": frozenset({"orders"})})
        return [repr(views), repr(wire)]
    except KafkaFailed as error:
        return [str(error)]
    finally:
        await wire.close()


async def tell(confluent: dict[str, str]) -> list[str]:
    async def settings() -> dict[str, str]:
        return confluent

    sink = TopicSink("telemetry", settings, delivery_s=1.0)
    try:
        await sink.write([Line("a", recommendation("payments").model_dump_json().encode())])
    except SinkUnavailable as error:
        return [str(error), repr(sink)]
    return [repr(sink)]
