"""Which other ConsumerGroups claim the same group in Kafka, by the store and by the clusters' ids."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import pytest

from slackwater.adapters.cluster.paths import CONSUMER_GROUP, KAFKA_CONNECTION, POD
from slackwater.api.parsing import parse_consumer_group
from slackwater.core.world.claims import Claim
from slackwater.shell.claims import Claims
from slackwater.shell.store import Key, Store
from tests.shell.fakes import CONNECTION, KEY, FakeConnections, connection_object, group_object

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


IDLE: Final = partial(Claim, runs=False)
OURS: str = connection_object()["spec"]["bootstrapServers"]


@pytest.mark.parametrize(
    ("store", "cluster_ids", "expected"),
    [
        (stored(namespace=KEY.namespace), {}, (IDLE(KEY.namespace, OTHER.name),)),
        (stored(OURS), {}, (IDLE(*OTHER),)),
        (stored("elsewhere:9092"), {KEY: "A", OTHER: "A"}, (IDLE(*OTHER),)),
        (stored("elsewhere:9092"), {KEY: "A", OTHER: "B"}, ()),
        (stored("elsewhere:9092"), {KEY: "A"}, (IDLE(*OTHER, certain=False),)),
        (stored(), {KEY: "A"}, (IDLE(*OTHER, certain=False),)),
        (stored(OURS, groupId="another"), {KEY: "A", OTHER: "A"}, ()),
        (stored(OURS, connectionRef={}), {}, (IDLE(*OTHER, certain=False),)),
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


@pytest.mark.parametrize(
    ("mine", "theirs", "namespace", "older"),
    [
        ("2026-05-01T08:00:00Z", "2026-05-01T07:59:59Z", "staging", True),
        ("2026-05-01T08:00:00Z", "2026-05-01T08:00:01Z", "staging", False),
        ("2026-05-01T08:00:00Z", "2026-05-01T08:00:00Z", "staging", False),
        ("2026-05-01T08:00:00Z", "2026-05-01T08:00:00Z", "a-namespace", True),
    ],
    ids=["before", "after", "in one second, named later", "in one second, named before"],
)
def test_which_of_two_has_the_group(mine: str, theirs: str, namespace: str, older: bool) -> None:
    store = stored(OURS, namespace=namespace)
    for key, made in ((KEY, mine), (Key(namespace, OTHER.name), theirs)):
        found = store.get(CONSUMER_GROUP, key) or {}
        store.put(
            CONSUMER_GROUP,
            {**found, "metadata": {**found["metadata"], "creationTimestamp": made, "resourceVersion": "99"}},
        )
    assert [claim.older for claim in claims(store, {})] == [older]


@pytest.mark.parametrize(("groups", "older"), [(["pay"], True), (["reports-"], False)], ids=["allowed", "not allowed"])
def test_who_may_not_have_the_group_takes_it_from_nobody(groups: list[str], older: bool) -> None:
    store = stored(OURS)
    theirs = store.get(KAFKA_CONNECTION, Key(OTHER.namespace, CONNECTION.name)) or {}
    metadata = {**theirs["metadata"], "resourceVersion": "99"}
    store.put(KAFKA_CONNECTION, {**theirs, "metadata": metadata, "spec": {**theirs["spec"], "groups": groups}})
    mine = store.get(CONSUMER_GROUP, KEY) or {}
    metadata = {**mine["metadata"], "creationTimestamp": "2999-01-01T00:00:00Z", "resourceVersion": "99"}
    store.put(CONSUMER_GROUP, {**mine, "metadata": metadata})
    assert claims(store, {}) == (IDLE(*OTHER, older=older),), "its pods may be in the group all the same"


def test_one_that_has_pods_runs() -> None:
    store = stored(OURS)
    labels = {"slackwater.dev/group": OTHER.name}
    meta = {"namespace": OTHER.namespace, "name": f"{OTHER.name}-0", "uid": "1", "resourceVersion": "1"}
    store.put(POD, {"metadata": {**meta, "labels": labels}, "status": {}})
    assert claims(store, {}) == (Claim(*OTHER),)
