"""Objects of ours that people or programs made up: good, or refused in sentences that a terminal and a status bear."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import atheris

with atheris.instrument_imports(include=["slackwater.api"]):
    from slackwater.api.errors import InvalidSpec
    from slackwater.api.kafka_connection import allows, prefixes_of
    from slackwater.api.parsing import (
        parse_consumer_fleet,
        parse_consumer_group,
        parse_fleet_campaign,
        parse_kafka_connection,
    )
    from slackwater.api.resources import ClusterKafkaConnection, ConsumerGroup, KafkaConnection

from slackwater.core.decision.words import shown
from tests.api.campaign_refusals import campaign
from tests.api.manifests import cluster_kafka_connection, consumer_fleet, consumer_group, kafka_connection
from tests.fuzz.play import play

PARSERS = {
    "ConsumerGroup": parse_consumer_group,
    "KafkaConnection": parse_kafka_connection,
    "ClusterKafkaConnection": parse_kafka_connection,
    "ConsumerFleet": parse_consumer_fleet,
    "FleetCampaign": parse_fleet_campaign,
}
TENANTS = [{"namespaces": ["shop"], "groups": ["shop-"]}, {"namespaces": ["ops"]}]
EXAMPLES = (
    consumer_group(groupId="payments"),
    kafka_connection(groups=["pay"]),
    cluster_kafka_connection(tenants=TENANTS, groups=["shop"]),
    consumer_fleet(budgets=[{"name": "all", "max": "10%"}]),
    consumer_fleet(waves=[{"name": "canary", "selector": {"matchLabels": {"canary": "true"}}}, {"name": "all"}]),
    campaign(waves=[{"name": "canary", "size": 2, "soak": "1h"}, {"name": "all"}]),
)


def made_up(data: bytes) -> Any:
    """An object of somebody's own; or, of what is no JSON, a good one with a text of his at one place, which the first
    two bytes choose. Raises ValueError and RecursionError."""
    number, place, text = data[:1], data[1:2], data[2:]
    if not place or number[0] >= len(EXAMPLES):
        return json.loads(data)
    found = deepcopy(EXAMPLES[number[0]])
    holders = list(_texts(found))
    holder, key = holders[place[0] % len(holders)]
    try:
        holder[key] = text.decode()
    except UnicodeDecodeError:
        holder[key] = text.decode("latin-1")
    return found


def _texts(within: Any) -> Iterator[tuple[Any, Any]]:
    """What holds each text of a document, and where."""
    for key, value in within.items() if isinstance(within, dict) else enumerate(within):
        if isinstance(value, str):
            yield within, key
        elif isinstance(value, (dict, list)):
            yield from _texts(value)


def target(data: bytes) -> None:
    try:
        found = made_up(data)
    except (ValueError, RecursionError):
        return  # no API server and no YAML file gives us that
    kind = found.get("kind") if isinstance(found, dict) else None
    parse: Any = PARSERS.get(kind if isinstance(kind, str) else "", parse_consumer_group)
    try:
        look_at(parse(found), found)
    except InvalidSpec as error:
        assert error.problems
        for sentence in error.problems:
            assert sentence.endswith((".", "?")), sentence
            assert sentence.isprintable(), sentence
            assert len(sentence) < 2_000, sentence


def look_at(good: object, found: Any) -> None:
    """What is made of it before anything else is: no id of a group steers a terminal or turns a line around."""
    if isinstance(good, ConsumerGroup):
        assert shown(good.group_id, 249) == good.group_id
    if isinstance(good, (KafkaConnection, ClusterKafkaConnection)):
        tenants = good.spec.tenants if isinstance(good, ClusterKafkaConnection) else ()
        for prefix in (*good.spec.groups, *(each for tenant in tenants for each in tenant.groups)):
            assert shown(prefix, 249) == prefix
        for namespace in ("shop", "ops"):
            allows(prefixes_of(found, namespace), "shop-orders")


def examples() -> Iterator[bytes]:
    for number, each in enumerate(EXAMPLES):
        yield json.dumps(each).encode()
        yield from (bytes([number, place]) + b"pay-" for place, _ in enumerate(_texts(each)))


def main() -> None:
    play("objects", target, examples())


if __name__ == "__main__":
    main()
