"""The ports, the adapters behind them and their fakes have the same verbs: mypy holds it, by the lines below."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.kafka.connected import ConnectedKafka
from slackwater.adapters.kafka.group_admin import KafkaGroupAdmin
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.ports import Cluster, GroupAdmin, GroupReader, KafkaCluster
from tests.shell.fakes import FakeApi
from tests.shell.test_connections import FakeKafka

CLUSTERS: tuple[type[Cluster], ...] = (KubernetesApi, FakeApi)
KAFKA_CLUSTERS: tuple[type[KafkaCluster], ...] = (ConnectedKafka, FakeKafka)
ADMINS: tuple[type[GroupAdmin], ...] = (KafkaGroupAdmin,)
READERS: tuple[type[GroupReader], ...] = (KafkaGroupReader,)


@pytest.mark.parametrize(
    ("port", "implementation"),
    [
        *((Cluster, each) for each in CLUSTERS),
        *((KafkaCluster, each) for each in KAFKA_CLUSTERS),
        *((GroupAdmin, each) for each in ADMINS),
        *((GroupReader, each) for each in READERS),
    ],
)
def test_every_verb_takes_the_arguments_that_the_port_names(port: type[Any], implementation: type[Any]) -> None:
    """In their order, since callers leave the names out; more of them are fine."""
    for name, verb in inspect.getmembers(port, inspect.isfunction):
        if not name.startswith("_"):
            wanted = list(inspect.signature(verb).parameters)
            assert list(inspect.signature(getattr(implementation, name)).parameters)[: len(wanted)] == wanted, name
