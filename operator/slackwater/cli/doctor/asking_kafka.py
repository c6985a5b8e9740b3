"""Asks Kafka, as the operator would, through a KafkaConnection and the Secrets that it names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterRefused
from slackwater.adapters.cluster.secrets import read_secrets
from slackwater.adapters.kafka.broker_reader import BrokerReader
from slackwater.adapters.kafka.coordinators import Coordinators
from slackwater.adapters.kafka.errors import Failure, KafkaFailed
from slackwater.adapters.kafka.granted import read_features, read_granted
from slackwater.adapters.kafka.security import client_settings, secret_names
from slackwater.adapters.kafka.topics import read_layout
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.api.errors import InvalidSpec
from slackwater.api.parsing import parse_kafka_connection
from slackwater.api.resources import ConsumerGroup
from slackwater.cli.doctor.connections import KafkaFacts
from slackwater.cli.doctor.findings import Unread
from slackwater.core.decision.reasons import Reason


async def ask_kafka(
    api: KubernetesApi, connection: Mapping[str, Any], groups: Collection[ConsumerGroup]
) -> KafkaFacts | Failure | Unread:
    """Nothing is changed. `groups`: those that use the connection. Raises ClusterUnreachable."""
    try:
        parsed = parse_kafka_connection(connection)
        place, names = connection["metadata"].get("namespace"), secret_names(parsed.spec)
        if names and not place:
            return Unread("its Secrets are in the operator's namespace, and not asked for from here")
        secrets = await read_secrets(api, place, names)
        settings = client_settings(f"{parsed.kind} {parsed.metadata.name}", parsed.spec, secrets).kafka_python
    except InvalidSpec as error:
        return Failure(Reason.CONNECTION_INVALID, " ".join(error.problems).rstrip("."))
    except ClusterRefused as error:
        return Unread(f"its credentials cannot be read from here: {error}")
    wire = KafkaWire(settings)
    try:
        return await _read(wire, groups)
    except KafkaFailed as error:
        return error.failure
    finally:
        await wire.close()


async def _read(wire: KafkaWire, groups: Collection[ConsumerGroup]) -> KafkaFacts:
    brokers = await BrokerReader(wire).read()
    layout = await read_layout(wire, {topic for group in groups for topic in group.spec.topics})
    group_ids = {group.group_id for group in groups}
    found = await Coordinators(wire).find(group_ids) if group_ids else {}
    return KafkaFacts(
        brokers=brokers,
        features=await read_features(wire),
        granted=await read_granted(wire, group_ids),
        topic_failures=layout.failures,
        coordinators={group_id: broker for group_id, broker in found.items() if isinstance(broker, int)},
    )
