"""Which groups a connection runs for a namespace."""

from __future__ import annotations

import pytest

from slackwater.api.kafka_connection import Prefixes, allows, prefixes_of
from tests.api.manifests import Manifest, cluster_kafka_connection, kafka_connection

TENANTS = (
    {"namespaces": ["shop", "checkout"], "groups": ["shop-", "pay"]},
    {"namespaces": ["shop"], "groups": ["orders-"]},
    {"namespaces": ["ops"]},
)


@pytest.mark.parametrize(
    ("connection", "namespace", "prefixes"),
    [
        (kafka_connection(), "any", ()),
        (kafka_connection(groups=["a-", "b-"]), "any", ("a-", "b-")),
        (cluster_kafka_connection(tenants=TENANTS), "shop", ("shop-", "pay", "orders-")),
        (cluster_kafka_connection(tenants=TENANTS), "checkout", ("shop-", "pay")),
        (cluster_kafka_connection(tenants=TENANTS), "ops", ()),
        (cluster_kafka_connection(tenants=TENANTS), "evil", None),
        (cluster_kafka_connection(tenants=TENANTS, groups=["eu-"]), "ops", ("eu-",)),
        (cluster_kafka_connection(tenants=TENANTS, groups=["payments-", "sh"]), "checkout", ("payments-", "shop-")),
        (cluster_kafka_connection(tenants=TENANTS, groups=["eu-"]), "checkout", None),
    ],
    ids=[
        "a connection of the namespace",
        "with groups of its own",
        "in two tenants: the groups of both",
        "in one of them",
        "any group",
        "not named: no group",
        "the connection's own bound",
        "both bounds: the narrower of each pair",
        "both bounds, which have nothing in common",
    ],
)
def test_which_groups_a_namespace_may_have(connection: Manifest, namespace: str, prefixes: Prefixes) -> None:
    found = prefixes_of(connection, namespace)
    assert found == prefixes or (found is not None and prefixes is not None and set(found) == set(prefixes))


@pytest.mark.parametrize(
    ("prefixes", "group_id", "runs"),
    [((), "x", True), (("a-",), "a-1", True), (("a-",), "b-1", False), (("b", "a-"), "a-1", True), (None, "x", False)],
)
def test_what_is_allowed(prefixes: Prefixes, group_id: str, runs: bool) -> None:
    assert allows(prefixes, group_id) is runs
