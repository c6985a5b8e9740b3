"""Fixtures of the end-to-end tests: each module has a namespace and an operator of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.e2e.stage.cluster import Cluster
from tests.e2e.stage.kafka import Kafka
from tests.e2e.stage.stage import Stage, staged


@pytest.fixture(scope="session")
def crds(kubeconfig: Path) -> None:
    """Today's, whatever an earlier run left."""
    cluster = Cluster(kubeconfig, "default")
    cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(ROOT / "crds"))
    cluster.kubectl("wait", "--for=condition=Established", "--timeout=30s", "-f", str(ROOT / "crds"))


@pytest.fixture(scope="module")
def stage(request: pytest.FixtureRequest, crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Stage]:
    name = request.module.__name__.rpartition("test_")[2]
    with staged(name, kubeconfig, bootstrap_servers, ROOT / "build" / "e2e" / name) as made:
        yield made


@pytest.fixture(scope="module")
def cluster(stage: Stage) -> Cluster:
    return stage.cluster


@pytest.fixture(scope="module")
def kafka(stage: Stage) -> Kafka:
    return stage.kafka
