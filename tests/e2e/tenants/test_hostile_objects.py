"""Objects that the API server takes and that were the end of the operator, for all namespaces and at each start."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Final

import pytest

from slackwater.api.depth import allow_deep_objects
from tests.conftest import ROOT
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import with_env
from tests.e2e.stage.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(1), pytest.mark.timeout(400)]

DEPTH: Final = 9_900
"""The API server refuses more than 10,000 levels, those around it among them."""


def create_deep(cluster: Cluster, group: Json) -> None:
    """It is handed over as text: Python's own writer goes no deeper than its reader."""
    group["spec"]["template"]["spec"]["unknown"] = "DEEP"
    text = json.dumps(group).replace('"DEEP"', "[" * DEPTH + "]" * DEPTH)
    cluster.kubectl("create", "--validate=false", "-f", "-", stdin=text)


def list_by_command(stage: Stage) -> str:
    command = [str(ROOT / ".venv" / "bin" / "slackwater"), "list", "-n", stage.cluster.namespace]
    settings = {**os.environ, "KUBECONFIG": str(stage.cluster.kubeconfig)}
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def test_a_group_as_deep_as_the_api_server_takes_is_invalid_and_stops_nobody(stage: Stage) -> None:
    allow_deep_objects()  # this process reads them, too
    good = stage.group("good")
    stage.create(good)
    create_deep(stage.cluster, stage.group("evil"))
    degraded = stage.cluster.wait_condition("evil", "Degraded", "True", "InvalidSpec")
    assert "nest it less deep" in degraded["message"]
    assert stage.operator.process is not None
    stage.cluster.apply(with_env(good, VERSION="2"))
    stage.cluster.wait_complete("good")
    assert stage.operator.process.poll() is None

    stage.operator.kill()
    stage.operator.start()
    stage.operator.wait_ready()
    stage.cluster.apply(with_env(good, VERSION="3"))
    stage.cluster.wait_complete("good")
    assert stage.operator.process.poll() is None
    shown = list_by_command(stage)
    assert "evil" in shown
    assert "good" in shown
    stage.cluster.kubectl("delete", "cg", "evil", "--timeout=60s")
