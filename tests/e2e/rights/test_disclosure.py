"""No credential in anything that the operator leaves behind or that a command says, not when refused either."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import kafka as brokers
from sandbox.kafka.configuration import PLAINTEXT_PORT, SASL_SSL_PORT
from sandbox.layout import Layout
from tests.adapters.kafka.disclosure import shown
from tests.e2e.stage.cluster import Json, condition
from tests.e2e.stage.groups import connection
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

NAME = "secured"
MISTYPED = "mistyped-by-somebody"
_COMMAND = Path(sys.executable).with_name("slackwater")


@pytest.fixture
def telling(stage: Stage, tmp_path: Path) -> Iterator[Path]:
    """The folder that the stage's operator, started again at debug level, writes its telemetry to."""
    stage.operator.kill()
    stage.operator.start(SLACKWATER_LOG_LEVEL="debug", SLACKWATER_TELEMETRY=f"file:{tmp_path}")
    stage.operator.wait_ready()
    yield tmp_path
    stage.cluster.kubectl("delete", "cg", NAME, "--wait=false")


def test_nothing_that_is_left_or_said_gives_them_away(stage: Stage, telling: Path, tmp_path: Path) -> None:
    known = brokers.credentials(Layout.from_environment())
    login = {"username": known.user.encode(), "password": known.password.encode()}
    group = stage.group(NAME, replicas=1, connectionRef={"name": NAME})
    stage.cluster.apply(
        secret("ca", {"ca.crt": known.ca.read_bytes()}),
        secret("login", {**login, "password": MISTYPED.encode()}),
        secured(stage.kafka.bootstrap_servers),
        group,
    )
    process = stage.operator.process
    stage.cluster.wait_condition(NAME, "Degraded", "True", "ConnectionInvalid")
    said = commands(stage, group, tmp_path)
    stage.cluster.apply(secret("login", login))
    wait_for("the connection to be Ready", lambda: is_ready(stage), 90.0, stage.operator.log_tail)
    said += commands(stage, group, tmp_path)

    left = [file.read_text() for file in telling.rglob("*") if file.is_file()]
    everything = "\n".join([stage.operator.log.read_text(), stage.operator.metrics(), *objects(stage), *left, *said])

    assert stage.operator.process is process
    assert NAME in "".join(left)
    assert '"level": "debug"' in everything
    for password in (login, {**login, "password": MISTYPED.encode()}):
        assert shown(everything, {"login": password}) == []


def secret(name: str, data: dict[str, bytes]) -> Json:
    values = {key: value.decode() for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": values}


def secured(bootstrap_servers: str) -> Json:
    servers = bootstrap_servers.replace(str(PLAINTEXT_PORT), str(SASL_SSL_PORT))
    login = {"type": "ScramSha512", "secretRef": {"name": "login"}}
    return connection(servers, NAME, tls={"caSecretRef": {"name": "ca"}}, authentication=login)


def is_ready(stage: Stage) -> bool:
    found = condition(stage.cluster.get("kafkaconnection", NAME) or {}, "Ready")
    return found.get("status") == "True"


def objects(stage: Stage) -> list[str]:
    """Everything in the namespace, but the Secrets themselves and what kubectl notes of them."""
    kinds = ("cg", "kafkaconnections", "sts", "pods", "events", "configmaps", "controllerrevisions", "leases")
    return [stage.cluster.kubectl("get", kind, "-o", "json") for kind in kinds]


def commands(stage: Stage, group: Json, folder: Path) -> list[str]:
    """What a person's commands say, on both their streams; whether they succeed is not asked here."""
    manifest = folder / "group.json"
    manifest.write_text(json.dumps(group))
    lines = [["plan", "-f", str(manifest)], ["plan", "-f", str(manifest), "-o", "json"], ["observe", NAME]]
    lines += [["status", NAME], ["status", NAME, "-o", "json"]]
    environment = {**os.environ, "KUBECONFIG": str(stage.cluster.kubeconfig)}
    said = []
    for line in lines:
        command = [str(_COMMAND), *line, f"--namespace={stage.cluster.namespace}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)
        said.append(done.stdout + done.stderr)
        assert NAME in said[-1], said[-1]
    return said
