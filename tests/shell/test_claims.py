"""Which other ConsumerGroups claim the same group in Kafka, by the store and by the clusters' ids."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.adapters.cluster.paths import CONSUMER_GROUP, KAFKA_CONNECTION
from slackwater.api.parsing import parse_consumer_group
from slackwater.core.world.claims import Claim
from slackwater.shell.claims import Claims
from slackwater.shell.store import Key, Store
from tests.shell.fakes import KEY, FakeConnections, connection_object, group_object

OTHER = Key("staging", "reports")


def claims(store: Store, cluster_ids: dict[Key, str]) -> tuple[Claim, ...]:
    """On the group under KEY."""
    connections: Any = FakeConnections(cluster_ids=cluster_ids)
    return Claims(store, connections).of_others(KEY, parse_consumer_group(group_object()))


def stored(bootstrap_servers: str = "", *, namespace: str = OTHER.namespace, **spec: Any) -> Store:
    """With the group under KEY, and another one of its id, whose KafkaConnection is of the same name."""
    store = Store()
    store.put(CONSUMER_GROUP, group_object())
    store.put(KAFKA_CONNECTION, connection_object())
    other = group_object(name=OTHER.name, **({"groupId": KEY.name} | spec))
    other["metadata"]["namespace"] = namespace
    store.put(CONSUMER_GROUP, other)
    if bootstrap_servers:
        theirs = connection_object() | {"spec": {"bootstrapServers": bootstrap_servers}}
        store.put(KAFKA_CONNECTION, {**theirs, "metadata": {**theirs["metadata"], "namespace": namespace}})
    return store


OURS: str = connection_object()["spec"]["bootstrapServers"]


@pytest.mark.parametrize(
    ("store", "cluster_ids", "expected"),
    [
        (stored(namespace=KEY.namespace), {}, (Claim(KEY.namespace, OTHER.name),)),
        (stored(OURS), {}, (Claim(*OTHER),)),
        (stored("elsewhere:9092"), {KEY: "A", OTHER: "A"}, (Claim(*OTHER),)),
        (stored("elsewhere:9092"), {KEY: "A", OTHER: "B"}, ()),
        (stored("elsewhere:9092"), {KEY: "A"}, (Claim(*OTHER, certain=False),)),
        (stored(), {KEY: "A"}, (Claim(*OTHER, certain=False),)),
        (stored(OURS, groupId="another"), {KEY: "A", OTHER: "A"}, ()),
        (stored(OURS, connectionRef={}), {}, (Claim(*OTHER, certain=False),)),
    ],
    ids=[
        "one KafkaConnection",
        "two of the same brokers",
        "two ways to one cluster",
        "two clusters",
        "a cluster that nobody has reached",
        "its KafkaConnection is missing",
        "another group",
        "a spec that cannot be read",
    ],
)
def test_who_claims_the_same_group(store: Store, cluster_ids: dict[Key, str], expected: tuple[Claim, ...]) -> None:
    assert claims(store, cluster_ids) == expected
