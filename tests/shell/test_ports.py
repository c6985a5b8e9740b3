"""The ports, the adapters behind them and their fakes: mypy holds that all three have the same verbs."""

from __future__ import annotations

import inspect

import pytest

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.ports import Cluster
from tests.shell.fakes import FakeApi

CLUSTERS: tuple[type[Cluster], ...] = (KubernetesApi, FakeApi)


@pytest.mark.parametrize("implementation", CLUSTERS)
def test_every_verb_of_the_port_takes_the_same_arguments(implementation: type[Cluster]) -> None:
    """Callers write them by name, and mypy does not check that for protocols' positional parameters."""
    for name, verb in inspect.getmembers(Cluster, inspect.isfunction):
        if not name.startswith("_"):
            assert list(inspect.signature(getattr(implementation, name)).parameters) == list(
                inspect.signature(verb).parameters
            ), name
