"""The rights that docs/security.md lists, and everything that needs them: what the operator does in Kafka, once."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import AclOperation, ResourceType
from structlog.testing import capture_logs

from slackwater.adapters.kafka.broker_reader import BrokerReader
from slackwater.adapters.kafka.errors import KafkaFailed
from slackwater.adapters.kafka.group_admin import KafkaGroupAdmin
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.adapters.recommendations.reading import Reader
from slackwater.adapters.recommendations.topic import TopicSource
from slackwater.adapters.telemetry.sinks import Line, SinkUnavailable
from slackwater.adapters.telemetry.topic import TopicSink
from slackwater.core.timeouts.group_settings import SESSION
from slackwater.core.world.observation import MemberRef, Unobserved

PAGE = Path(__file__).resolve().parents[3] / "docs" / "security.md"
_ROW = re.compile(r"^\| (?P<on>[a-z' ]+) \| (?P<right>[A-Z]\w+) \|", re.MULTILINE)
_ADVICE_S = 20.0


@dataclass(frozen=True, slots=True)
class Names:
    group_id: str
    topic: str
    telemetry: str
    recommendations: str


@dataclass(frozen=True, slots=True)
class Right:
    on: str
    name: str

    @property
    def operation(self) -> AclOperation:
        return AclOperation[re.sub(r"(?<!^)(?=[A-Z])", "_", self.name).upper()]

    def resource(self, names: Names) -> tuple[ResourceType, str]:
        return {
            "each group": (ResourceType.GROUP, names.group_id),
            "each group's topics": (ResourceType.TOPIC, names.topic),
            "the cluster": (ResourceType.BROKER, "kafka-cluster"),
            "telemetry topic": (ResourceType.TOPIC, names.telemetry),
            "recommendations topic": (ResourceType.TOPIC, names.recommendations),
        }[self.on]

    def is_asked_for_in(self, message: str) -> bool:
        """By its name; or, of the two things that AlterConfigs is for, by the lesser right that one of them takes."""
        kind = {"each group": "group", "the cluster": "cluster"}.get(self.on, "topic")
        names = {self.name, self.name.replace("AlterConfigs", "DescribeConfigs")}
        return any(f"grant it {name} on the {kind}" in message for name in names)


def documented() -> list[Right]:
    found = [Right(row["on"], row["right"]) for row in _ROW.finditer(PAGE.read_text())]
    assert found, PAGE
    return found


async def refusals(settings: dict[str, object], confluent: dict[str, str], names: Names) -> dict[str, str]:
    """Do everything that the operator does in Kafka; what did not work, and what was said of it."""
    wire = KafkaWire(settings)
    try:
        return await _tour(wire, confluent, names)
    finally:
        await wire.close()


async def _tour(wire: KafkaWire, confluent: dict[str, str], names: Names) -> dict[str, str]:
    admin, nobody = KafkaGroupAdmin(wire), [MemberRef(f"{names.group_id}-9", "nobody")]
    steps: dict[str, Callable[[], Awaitable[object]]] = {
        "look": lambda: _look(wire, names),
        "facts": lambda: _facts(wire),
        "set": lambda: admin.alter_group_settings(names.group_id, {SESSION: "50000"}),
        "remove": lambda: admin.remove_members(names.group_id, nobody),
        "release": lambda: admin.release_members(names.group_id, nobody),
        "delete": lambda: admin.delete_group(names.group_id),
        "tell": lambda: _tell(confluent, names.telemetry),
        "learn": lambda: _learn(confluent, names.recommendations),
    }
    said: dict[str, str] = {}
    for name, step in steps.items():
        try:
            await step()
        except (KafkaFailed, SinkUnavailable, Refused) as error:
            said[name] = str(error)
    return said


class Refused(Exception):
    """What the operator does not raise but tell."""


async def _look(wire: KafkaWire, names: Names) -> None:
    with capture_logs() as logged:
        view = (await KafkaGroupReader(wire).observe({names.group_id: frozenset({names.topic})}, {names.group_id}))[
            names.group_id
        ]
    if isinstance(view, Unobserved):
        raise Refused(view.message)
    if view.blind_to is not None:
        raise Refused(view.blind_to.message)
    if view.settings is None:
        raise Refused(str(logged[-1]["message"]))


async def _facts(wire: KafkaWire) -> None:
    if problem := (await BrokerReader(wire).read()).problem:
        raise Refused(problem)


def known(confluent: dict[str, str]) -> Callable[[], Awaitable[dict[str, str]]]:
    async def settings() -> dict[str, str]:
        return confluent

    return settings


async def _tell(confluent: dict[str, str], topic: str) -> None:
    sink = TopicSink(topic, known(confluent), delivery_s=5.0)
    with capture_logs():
        await sink.write([Line("shop/payments", b"{}")])
    await sink.close()


async def _learn(confluent: dict[str, str], topic: str) -> None:
    came = asyncio.Event()
    source = TopicSource(known({**confluent, "log_level": "0"}), topic, lambda *_: came.set(), Reader())
    with capture_logs() as logged:
        following = asyncio.create_task(source.run())
        deadline = time.monotonic() + _ADVICE_S
        while not came.is_set() and not logged:
            assert time.monotonic() < deadline, "neither a recommendation nor a word about why not"
            await asyncio.sleep(0.02)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    if not came.is_set():
        raise Refused(str(logged[0]["error"]))
