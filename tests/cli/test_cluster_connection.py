"""A ClusterKafkaConnection as those see it who may not read it, and as the operator uses it."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.adapters.cluster.errors import Forbidden
from slackwater.adapters.cluster.paths import CLUSTER_KAFKA_CONNECTION, CONSUMER_GROUP, KAFKA_CONNECTION
from slackwater.adapters.cluster.snapshot import (
    is_hidden,
    read_connection,
    read_or_hidden,
    read_snapshot,
    servers_given,
    to_world,
)
from slackwater.api.parsing import parse_consumer_group
from slackwater.cli.looking.lookout import Lookout
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.observation import Unobserved
from tests.api.manifests import cluster_kafka_connection
from tests.core.factories import workload
from tests.shell.fakes import KEY, FakeApi, group_object

SHARED: dict[str, Any] = {"kind": "ClusterKafkaConnection", "name": "shared"}
LOGIN: dict[str, Any] = {"tls": {}, "authentication": {"type": "ScramSha512", "secretRef": {"name": "login"}}}


async def test_who_may_not_read_it_knows_its_name() -> None:
    api = FakeApi(forbidden={CLUSTER_KAFKA_CONNECTION.name})
    api.add(CONSUMER_GROUP, group_object(connectionRef=SHARED))
    snapshot = await read_snapshot(api, *KEY)
    assert snapshot is not None and snapshot.connection is not None
    assert is_hidden(snapshot.connection)
    assert snapshot.connection["metadata"]["name"] == "shared"


async def test_what_is_not_there_is_not_hidden() -> None:
    assert await read_or_hidden(FakeApi(), KEY.namespace, SHARED) is None


async def test_one_of_the_namespace_that_may_not_be_read_is_an_error() -> None:
    with pytest.raises(Forbidden):
        await read_or_hidden(FakeApi(forbidden={KAFKA_CONNECTION.name}), KEY.namespace, {"name": "main"})


@pytest.mark.parametrize(
    ("connection", "says"),
    [
        (
            {"kind": "ClusterKafkaConnection", "metadata": {"name": "shared"}, "spec": {"bootstrapServers": ""}},
            "you may not read ClusterKafkaConnection shared",
        ),
        (
            cluster_kafka_connection("shared", **LOGIN),
            "the Secrets of ClusterKafkaConnection shared are in the operator's namespace",
        ),
    ],
    ids=["hidden", "its Secrets are elsewhere"],
)
async def test_kafka_is_not_asked_from_where_the_credentials_are_not(connection: Any, says: str) -> None:
    api: Any = FakeApi()
    lookout = Lookout(api)
    await lookout.aim(parse_consumer_group(group_object(connectionRef=SHARED)), connection)
    view = lookout.view
    assert isinstance(view, Unobserved)
    assert view.reason is Reason.NOT_AUTHORIZED
    assert says in view.message
    assert api.requests == {}


async def test_what_cannot_be_read_holds_nothing_up_and_changes_nothing() -> None:
    """The operator's word is in the status; from here the pods tell which brokers they are given."""
    api = FakeApi(forbidden={CLUSTER_KAFKA_CONNECTION.name})
    obj = group_object(connectionRef=SHARED)
    api.add(CONSUMER_GROUP, obj)
    env = [{"name": "KAFKA_BOOTSTRAP_SERVERS", "value": "kafka:9092"}]
    template = {"spec": {"containers": [{"name": "consumer", "image": "i", "env": env}]}}
    snapshot = await read_snapshot(api, *KEY)
    assert snapshot is not None
    made = workload(template=template, owner_uid=obj["metadata"]["uid"])
    group = parse_consumer_group(obj)
    world = to_world(snapshot, Unobserved(Reason.NOT_AUTHORIZED, "hidden", 0.0), GroupHistory(), 0.0, group)
    assert (world.bootstrap_servers, world.allowed_groups) == ("", ())
    assert servers_given(snapshot.connection or {}, group, [made]) == "kafka:9092"


async def test_an_operator_that_uses_none_asks_for_none() -> None:
    api = FakeApi(forbidden={CLUSTER_KAFKA_CONNECTION.name})
    assert await read_connection(api, "", KEY.namespace, SHARED) is None
    with pytest.raises(Forbidden):
        await read_connection(api, "operations", KEY.namespace, SHARED)
