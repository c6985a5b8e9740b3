"""Asks every broker of a cluster what it can do and allows: two requests to each, and none that grows with the groups.

All are asked because any of them may coordinate a group. Where they differ, as while their settings are being rolled
out, the narrower answer counts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kafka.protocol.admin import DescribeConfigsRequest
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from slackwater.adapters.kafka.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from slackwater.adapters.kafka.errors import Code, KafkaUnreachable
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import listing, seconds, shown
from slackwater.core.world.broker import Bounds, BrokerFacts, MigrationPolicy

_AT_A_TIME: Final = 8
"""Brokers: there may be hundreds, and some that never answer."""
_BROKER: Final = 4
_GROUP_VERSION: Final = "group.version"
_POLICY: Final = "group.consumer.migration.policy"
_CLASSIC_SESSION: Final = ("group.min.session.timeout.ms", "group.max.session.timeout.ms")
_CONSUMER_SESSION: Final = ("group.consumer.min.session.timeout.ms", "group.consumer.max.session.timeout.ms")
_CONSUMER_HEARTBEAT: Final = ("group.consumer.min.heartbeat.interval.ms", "group.consumer.max.heartbeat.interval.ms")
_DENIED: Final = (
    "the connection's Kafka user may not read the brokers' settings: grant it DescribeConfigs on the cluster"
)
_LARGEST: Final = 2**31 - 1
_MOST_DIGITS: Final = len(str(_LARGEST))
_NAMES: Final = (*_CLASSIC_SESSION, *_CONSUMER_SESSION, *_CONSUMER_HEARTBEAT, _POLICY)
WITHIN_S: Final = 60.0
"""For all brokers together: each has the time for one answer, and there may be hundreds, or one that is all of them."""


@dataclass(frozen=True, slots=True)
class BrokerAnswer:
    """What one broker said."""

    serves_consumer_protocol: bool
    group_version: int
    settings: Mapping[str, str]
    problem: str = ""


class BrokerReader:
    """Reads the facts of one cluster."""

    def __init__(self, wire: KafkaWire, *, now: Callable[[], float] = time.time, within_s: float = WITHIN_S) -> None:
        self._wire = wire
        self._now = now
        self._within_s = within_s

    async def read(self) -> BrokerFacts:
        """Ask now. Raises KafkaUnreachable and KafkaRefused; what is only not granted is a `problem` of the facts."""
        began_at = self._now()
        try:
            async with asyncio.timeout(self._within_s):
                answers = await self._ask_all()
        except TimeoutError as error:
            message = f"Kafka's brokers together took more than {seconds(self._within_s)} to say what they can do"
            raise KafkaUnreachable(message, Reason.OBSERVATION_INCOMPLETE) from error
        if not answers:
            raise KafkaUnreachable("Kafka named no broker of the cluster", Reason.OBSERVATION_INCOMPLETE)
        return facts_of(answers, began_at)

    async def _ask_all(self) -> Sequence[BrokerAnswer]:
        """None is asked any more after one has failed."""
        metadata = await self._wire.send(MetadataRequest(topics=[], allow_auto_topic_creation=False, min_version=4))
        self._wire.remember_brokers(metadata)
        turn = asyncio.Semaphore(_AT_A_TIME)
        tasks = [asyncio.ensure_future(self._ask(broker.node_id, turn)) for broker in metadata.brokers]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def _ask(self, node_id: int, turn: asyncio.Semaphore) -> BrokerAnswer:
        async with turn:
            (serves, version), (settings, problem) = await asyncio.gather(
                self._ask_for_capabilities(node_id), self._ask_for_settings(node_id)
            )
        return BrokerAnswer(serves, version, settings, problem)

    async def _ask_for_capabilities(self, node_id: int) -> tuple[bool, int]:
        # Version 3 tells the finalized features (Kafka 2.7), version 4 all that are supported (Kafka 3.9).
        request = ApiVersionsRequest(client_software_name="slackwater", client_software_version="0", max_version=4)
        return capabilities_in(node_id, await self._wire.send(request, node_id))

    async def _ask_for_settings(self, node_id: int) -> tuple[Mapping[str, str], str]:
        row = DescribeConfigsRequest.DescribeConfigsResource
        resource = row(resource_type=_BROKER, resource_name=str(node_id), configuration_keys=list(_NAMES))
        return settings_in(node_id, await self._wire.send(DescribeConfigsRequest(resources=[resource]), node_id))


def capabilities_in(node_id: int, response: Any) -> tuple[bool, int]:
    """Whether a broker serves KIP-848 groups, and its `group.version`, from its ApiVersionsResponse.

    Raises KafkaUnreachable for an error.
    """
    if response.error_code != Code.NONE:
        message = f"Kafka broker {node_id} did not say what it can do: error code {response.error_code}"
        raise KafkaUnreachable(message, Reason.OBSERVATION_INCOMPLETE)
    # Empty, and of epoch -1, in a cluster that finalized nothing.
    finalized = {feature.name: feature.max_version_level for feature in response.finalized_features or ()}
    # Kafka 3.9 offers the request, and not the feature that these groups need (F58).
    supported = {feature.name: feature.max_version for feature in response.supported_features or ()}
    offered = any(each.api_key == ConsumerGroupHeartbeatRequest.API_KEY for each in response.api_keys)
    version = finalized.get(_GROUP_VERSION, 0)
    return offered and max(supported.get(_GROUP_VERSION, 0), version) > 0, version


def settings_in(node_id: int, response: Any) -> tuple[Mapping[str, str], str]:
    """A broker's settings from its DescribeConfigsResponse, and what is wrong with it. Of what it says without having
    been asked, and of a value that is longer than any, nothing is kept: there are hundreds of brokers."""
    settings: dict[str, str] = {}
    problem = ""
    for result in response.results:
        if result.error_code == Code.CLUSTER_AUTHORIZATION_FAILED:
            problem = _DENIED
        elif result.error_code != Code.NONE:
            problem = f"Kafka broker {node_id} did not tell its settings: error code {result.error_code}"
        settings |= {
            config.name: shown(config.value)
            for config in result.configs
            if config.value is not None and config.name in _NAMES
        }
    return settings, problem


def facts_of(answers: Sequence[BrokerAnswer], read_at: float) -> BrokerFacts:
    """What holds for every broker. `answers` is not empty."""
    each = [answer.settings for answer in answers]
    policy, disagreement = _policy(each)
    return BrokerFacts(
        read_at=read_at,
        serves_consumer_protocol=all(answer.serves_consumer_protocol for answer in answers),
        group_version=min(answer.group_version for answer in answers),
        migration_policy=policy,
        classic_session=_bounds(each, _CLASSIC_SESSION),
        consumer_session=_bounds(each, _CONSUMER_SESSION),
        consumer_heartbeat=_bounds(each, _CONSUMER_HEARTBEAT),
        problem=next((answer.problem for answer in answers if answer.problem), disagreement),
    )


def _bounds(each: Collection[Mapping[str, str]], names: tuple[str, str]) -> Bounds | None:
    """The values that all brokers allow; None when one does not tell, or when there is no such value."""
    lows, highs = ([n for settings in each if (n := _number(settings.get(name, ""))) is not None] for name in names)
    if len(lows) < len(each) or len(highs) < len(each):
        return None
    low, high = max(lows), min(highs)
    return Bounds(low, high) if low <= high else None


def _number(value: str) -> int | None:
    """As brokers have it, in 32 bits with a sign; None for what is none, whatever a broker says."""
    number = int(value) if value.isdecimal() and len(value) <= _MOST_DIGITS else _LARGEST + 1
    return number if number <= _LARGEST else None


def _policy(each: Collection[Mapping[str, str]]) -> tuple[MigrationPolicy | None, str]:
    """The policy of all brokers, and what is wrong when there is none though they name one."""
    named = {settings[_POLICY].lower() for settings in each if _POLICY in settings}
    if not named or any(_POLICY not in settings for settings in each):
        return None, ""
    if len(named) > 1:
        return None, f"the brokers differ in {_POLICY} ({listing(sorted(named))}): set it alike on all"
    (name,) = named
    if name not in set(MigrationPolicy):
        return None, f"the brokers' {_POLICY} is {name}, which this slackwater does not know"
    return MigrationPolicy(name), ""
