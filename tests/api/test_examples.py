"""What people copy is valid, and names connections that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from slackwater.api.parsing import parse_consumer_group, parse_kafka_connection

EXAMPLES = Path(__file__).parents[2] / "examples"


def objects(kind: str) -> list[dict[str, Any]]:
    texts = [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.yaml"))]
    return [found for text in texts for found in yaml.safe_load_all(text) if found["kind"] == kind]


@pytest.mark.parametrize("connection", objects("KafkaConnection"), ids=lambda found: found["metadata"]["name"])
def test_a_connection_is_valid(connection: dict[str, Any]) -> None:
    parse_kafka_connection(connection)


@pytest.mark.parametrize("group", objects("ConsumerGroup"), ids=lambda found: found["metadata"]["name"])
def test_a_group_is_valid_and_its_connection_is_an_example_as_well(group: dict[str, Any]) -> None:
    connections = [connection["metadata"]["name"] for connection in objects("KafkaConnection")]
    assert parse_consumer_group(group).spec.connection_ref.name in connections
