"""Which other ConsumerGroups claim the same group in Kafka, by the store and by the clusters' ids."""

from __future__ import annotations

from functools import partial
from typing import Any, Final
from unittest.mock import Mock

import pytest

from slackwater.adapters.cluster.paths import CONSUMER_GROUP, KAFKA_CONNECTION, POD
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.timestamps import moment
from slackwater.core.world.claims import Claim
from slackwater.shell import claims as module
from slackwater.shell.claims import Claims
from slackwater.shell.gone_claims import claimed_in
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
def test_which_of_two_is_older(mine: str, theirs: str, namespace: str, older: bool) -> None:
    store = stored(OURS, namespace=namespace)
    for key, made in ((KEY, mine), (Key(namespace, OTHER.name), theirs)):
        found = store.get(CONSUMER_GROUP, key) or {}
        store.put(
            CONSUMER_GROUP,
            {**found, "metadata": {**found["metadata"], "creationTimestamp": made, "resourceVersion": "99"}},
        )
    assert [claim.older for claim in claims(store, {})] == [older]


@pytest.mark.parametrize(
    ("groups", "allowed"), [(["pay"], True), (["reports-"], False)], ids=["allowed", "not allowed"]
)
def test_whose_connection_allows_it_the_group(groups: list[str], allowed: bool) -> None:
    store = stored(OURS)
    theirs = store.get(KAFKA_CONNECTION, Key(OTHER.namespace, CONNECTION.name)) or {}
    metadata = {**theirs["metadata"], "resourceVersion": "99"}
    store.put(KAFKA_CONNECTION, {**theirs, "metadata": metadata, "spec": {**theirs["spec"], "groups": groups}})
    assert claims(store, {}) == (IDLE(*OTHER, allowed=allowed),), "its pods may be in the group all the same"


def noted(store: Store, key: Key, **claimed: Any) -> Store:
    found = store.get(CONSUMER_GROUP, key) or {}
    status = {"rollout": {"phase": "Complete", "claimed": claimed}}
    store.put(CONSUMER_GROUP, {**found, "metadata": {**found["metadata"], "resourceVersion": "99"}, "status": status})
    return store


AT, THEN = "2026-05-01T08:00:00Z", 1777622400.0
IN_A: Final = {"clusterId": "A", "at": AT}


@pytest.mark.parametrize(
    ("store", "cluster_ids", "expected"),
    [
        (noted(stored(OURS), OTHER, **IN_A), {KEY: "A"}, (IDLE(*OTHER, since=THEN),)),
        (noted(stored("elsewhere:9092"), OTHER, **IN_A), {KEY: "A"}, (IDLE(*OTHER, since=THEN),)),
        (noted(stored("elsewhere:9092"), OTHER, **IN_A), {KEY: "A", OTHER: "B"}, ()),
        (noted(stored("elsewhere:9092"), OTHER, **IN_A), {KEY: "B", OTHER: "B"}, (IDLE(*OTHER),)),
        (noted(noted(stored("elsewhere:9092"), OTHER, **IN_A), KEY, **IN_A), {}, (IDLE(*OTHER, since=THEN),)),
        (noted(stored("elsewhere:9092"), OTHER, **IN_A), {}, (IDLE(*OTHER, certain=False),)),
        (noted(stored(OURS), OTHER, clusterId="", at=AT), {KEY: ""}, (IDLE(*OTHER, since=THEN),)),
        (noted(stored("elsewhere:9092"), OTHER, clusterId="", at=AT), {KEY: ""}, (IDLE(*OTHER, certain=False),)),
        (noted(stored(OURS), OTHER, clusterId="A"), {KEY: "A"}, (IDLE(*OTHER),)),
        (noted(stored(OURS), OTHER, clusterId="A", at="soon"), {KEY: "A"}, (IDLE(*OTHER),)),
        (noted(stored(OURS), OTHER, clusterId="A", at=[1]), {KEY: "A"}, (IDLE(*OTHER),)),
    ],
    ids=[
        "in this cluster",
        "in this cluster, before its brokers have said so",
        "it has moved to another one",
        "in another one, and both are here now",
        "before any broker has said so",
        "and nobody knows where this one is",
        "brokers without ids, at one address",
        "brokers without ids, elsewhere",
        "since nobody knows when",
        "no moment",
        "no text",
    ],
)
def test_since_when_the_other_one_has_the_group(
    store: Store, cluster_ids: dict[Key, str], expected: tuple[Claim, ...]
) -> None:
    assert claims(store, cluster_ids) == expected


def test_one_that_has_pods_runs() -> None:
    store = stored(OURS)
    labels = {"slackwater.dev/group": OTHER.name}
    meta = {"namespace": OTHER.namespace, "name": f"{OTHER.name}-0", "uid": "1", "resourceVersion": "1"}
    store.put(POD, {"metadata": {**meta, "labels": labels}, "status": {}})
    assert claims(store, {}) == (Claim(*OTHER),)


def test_of_many_through_one_connection_it_is_found_out_once_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenant may make thousands: the operator computes for no other group meanwhile."""
    store = stored("elsewhere:9092")
    for number in range(50):
        store.put(CONSUMER_GROUP, group_object(name=f"reports-{number}", groupId=KEY.name))
    asked = [Mock(wraps=getattr(module, question)) for question in ("same_cluster", "allows")]
    monkeypatch.setattr(module, "same_cluster", asked[0])
    monkeypatch.setattr(module, "allows", asked[1])
    assert len(claims(store, {})) == 51
    assert [question.call_count for question in asked] == [1, 2], "of one other connection; what each of both allows"


@pytest.mark.parametrize(
    ("at", "since"),
    [("1970-01-01T00:00:00Z", "2026-01-01T00:00:00Z"), ("2026-05-01T00:00:00Z", "2026-05-01T00:00:00Z")],
    ids=["before it was made", "since"],
)
def test_nobody_had_a_group_before_he_was_made(at: str, since: str) -> None:
    """Whoever may write a status may write any moment."""
    obj = group_object() | {"status": {"rollout": {"claimed": {"clusterId": "A", "at": at}}}}
    obj["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    claimed = claimed_in(obj)
    assert claimed is not None
    assert claimed.at == moment(since)


def test_of_brokers_that_say_no_id_to_this_one_the_addresses_show_whose_group_it_is() -> None:
    store = stored(OURS)
    other = {**(store.get(CONSUMER_GROUP, OTHER) or {})}
    other["metadata"] = {**other["metadata"], "resourceVersion": "900"}
    other["status"] = {"rollout": {"claimed": {"clusterId": "A", "at": "2026-05-01T00:00:00Z"}}}
    store.put(CONSUMER_GROUP, other)
    assert [each.since for each in claims(store, {OTHER: "A"})] == [moment("2026-05-01T00:00:00Z")]
    assert [each.since for each in claims(store, {KEY: "A", OTHER: "A"})] == [moment("2026-05-01T00:00:00Z")]


def test_what_is_asked_of_another_one_is_asked_of_its_newest_version() -> None:
    """It is found out once for each: neither an edit nor a deletion nor one made again meets what was."""
    store = stored(OURS)
    assert claims(store, {}) == (IDLE(*OTHER),)
    claimed = noted(store, OTHER, **IN_A)
    assert claims(claimed, {KEY: "A"}) == (IDLE(*OTHER, since=THEN),)
    found = store.get(CONSUMER_GROUP, OTHER) or {}
    moved = {**found["spec"], "connectionRef": {"name": "another"}}
    store.put(CONSUMER_GROUP, {**found, "metadata": {**found["metadata"], "resourceVersion": "100"}, "spec": moved})
    assert claims(store, {KEY: "A", OTHER: ""}) == (IDLE(*OTHER, since=THEN, certain=False),)
    store.drop(CONSUMER_GROUP, store.get(CONSUMER_GROUP, OTHER) or {})
    assert claims(store, {KEY: "A"}) == ()
    assert OTHER not in store._asked, "nothing is kept of what is gone"
    again = {**found, "metadata": {**found["metadata"], "uid": "again", "resourceVersion": "101"}, "status": {}}
    store.put(CONSUMER_GROUP, {**again, "spec": {**found["spec"], "groupId": "another"}})
    assert claims(store, {KEY: "A"}) == ()
