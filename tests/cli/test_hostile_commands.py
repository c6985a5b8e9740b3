"""Every command, typed, in a cluster whose tenants wrote into their objects what steers a terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from slackwater.api.annotations import PAUSE
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, write_memory
from tests.api.campaign_refusals import campaign as wave_by_wave
from tests.api.manifests import kafka_connection
from tests.cli.api_server import ApiServer, Json, served
from tests.cli.command import command_line, typed
from tests.cli.every_command import SILENT
from tests.cli.fleets import fleet_object
from tests.cli.test_adopting import NAME, Cluster
from tests.cli.test_every_command import commands, in_cluster, kubeconfig
from tests.cli.test_hostile_words import EVIL, STEERS, STYLES

pytestmark = pytest.mark.usefixtures("outside_of_pods")

ESCAPED: Final = re.compile(r"\\x1b|\\u001b|\\e\]")
"""As text, in JSON, in YAML: people see what somebody tried."""
FAILED: Final = RolloutMemory(phase=RolloutPhase.FAILED, target_hash="new", failed_hash="new", last_good_hash="old")
MANIFEST: Final = "manifest.yaml"
CAMPAIGN: Final = "campaign.yaml"
IMPORT: Final = ("--client", "Librdkafka", "--topic", "orders", "--env-prefix", "KAFKA_", "--group-id", "billing")

QUOTES: Final = {
    ("status", NAME): False,
    ("status", NAME, "-o", "yaml"): True,
    ("status", NAME, "-o", "json"): True,
    ("list",): True,
    ("list", "-o", "yaml"): True,
    ("why", NAME): False,
    ("why", NAME, "-o", "yaml"): False,
    ("history", NAME): False,
    ("history", NAME, "-o", "yaml"): False,
    ("members", NAME): False,
    ("lag", NAME): False,
    ("observe", NAME, "--for", "0s"): True,
    ("plan", "-f", MANIFEST, "--for", "0s"): False,
    ("diff", "-f", MANIFEST): True,
    ("diff", "-f", MANIFEST, "-o", "yaml"): True,
    ("import", f"sts/{NAME}", *IMPORT, "--connection", "main"): True,
    ("adopt", NAME, "--dry-run"): True,
    ("adopt", NAME, "--timeout", "0s"): True,
    ("release", NAME, "--timeout", "0s"): False,
    ("pause", NAME, "--timeout", "0s"): False,
    ("resume", NAME, "--timeout", "0s"): False,
    ("promote", NAME, "--timeout", "0s"): False,
    ("abort", NAME, "--timeout", "0s"): False,
    ("undo", NAME): False,
    ("retry", NAME, "--timeout", "0s"): False,
    ("force", NAME, "--timeout", "0s"): False,
    ("approve", NAME, "--timeout", "0s"): False,
    ("restart", NAME, "--timeout", "0s"): False,
    ("fleet", "status"): True,
    ("fleet", "status", NAME): True,
    ("fleet", "status", NAME, "-o", "yaml"): True,
    ("fleet", "plan", NAME): False,
    ("fleet", "plan", NAME, "--all-restart"): False,
    ("fleet", "plan", "-f", CAMPAIGN): False,
    ("fleet", "pause", NAME, "--reason", EVIL, "--timeout", "0s"): False,
    ("fleet", "resume", NAME, "--timeout", "0s"): False,
    ("fleet", "open", NAME, "--for", "1h", "--reason", EVIL, "--timeout", "0s"): False,
    ("campaign", "status"): True,
    ("campaign", "status", NAME): True,
    ("campaign", "status", NAME, "-o", "json"): True,
    ("campaign", "start", NAME, "--timeout", "0s"): False,
    ("campaign", "pause", NAME, "--timeout", "0s"): False,
    ("campaign", "promote", NAME, "--timeout", "0s"): False,
    ("doctor",): False,
    ("doctor", "--kafka", "-o", "yaml"): False,
    ("reason",): False,
    ("version",): False,
    ("completion", "bash"): False,
    ("pipeline",): False,
}
"""What is typed, and whether it has to show what the tenants wrote."""
ELSEWHERE: Final = {
    "run",
    "report",
    "recommend",
    "pipeline ingest",
    "pipeline audit",
    "pipeline recommend",
    "pipeline report",
}
"""They print logs (`test_logs`), or figures, on a `Terminal`, and need more than a cluster."""


def objects() -> dict[str, list[Json]]:
    cluster = Cluster()
    container = cluster.workload["spec"]["template"]["spec"]["containers"][0]
    container["env"] = [{"name": "KAFKA_BOOTSTRAP_SERVERS", "value": EVIL}, {"name": "X", "value": EVIL}]
    cluster.workload["kind"] = "StatefulSet"
    cluster.workload["metadata"]["managedFields"] = [
        {"manager": EVIL, "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    ]
    conditions = [{"type": "Degraded", "status": "True", "reason": EVIL, "message": EVIL, "lastTransitionTime": EVIL}]
    status = {"phase": EVIL, "conditions": conditions, "rollout": write_memory(FAILED)}
    cluster.group["metadata"]["annotations"] = {PAUSE: EVIL}
    cluster.group["status"] = {**status, "recommendation": {"message": EVIL}}
    return {
        "namespaces": [{"metadata": {"name": "shop"}}],
        "consumergroups": [cluster.group],
        "kafkaconnections": [in_cluster(kafka_connection(bootstrapServers=SILENT), metadata=_placed("main"))],
        "consumerfleets": [fleet()],
        "fleetcampaigns": [campaign()],
        "statefulsets": [cluster.workload],
        "pods": [
            {**pod, "metadata": {**pod["metadata"], "namespace": "shop", "resourceVersion": "1"}}
            for pod in cluster.pods
        ],
    }


def fleet() -> Json:
    windows = [{"name": EVIL, "schedule": "0 22 * * *", "duration": "7h"}]
    budgets = [{"name": EVIL, "limit": 1, "used": 1, "cells": 1, "full": [EVIL]}]
    status = {"groups": {"selected": 1, "waiting": 1}, "budgets": budgets, "failed": [EVIL], "conditions": _said()}
    found = fleet_object(status, NAME, namespaces=["shop"], windows=windows, pause=EVIL)
    return {**found, "metadata": _placed(NAME)}


def campaign() -> Json:
    skipped = [{"group": EVIL, "reason": EVIL, "message": EVIL}]
    status = {
        "phase": EVIL,
        "wave": EVIL,
        "waves": [{"name": EVIL, "groups": 1, "failed": 1}],
        "skipped": {EVIL: 1},
        "skippedGroups": skipped,
        "failedGroups": skipped,
        "bottleneck": EVIL,
        "conditions": _said(),
    }
    return {**wave_by_wave(fleetRef={"name": NAME}), "metadata": _placed(NAME), "status": status}


def _said() -> list[Json]:
    types = ("Accepted", "Open", "Halted", "Progressing")
    return [
        {"type": each, "status": "True", "reason": EVIL, "message": EVIL, "lastTransitionTime": EVIL} for each in types
    ]


def _placed(name: str) -> Json:
    return {"name": name, "namespace": "shop", "uid": "u", "generation": 1, "resourceVersion": "1"}


class Obedient(ApiServer):
    """Obeys each command at once, as the operator would."""

    def answer(self, method: str, path: str, body: Json) -> tuple[int, Json]:
        annotations = (body.get("metadata") or {}).get("annotations") or {}
        given = {name: token for name, token in annotations.items() if token and name != PAUSE}
        if "labelSelector=" in path:  # of the operator's own installation, which is elsewhere
            return 200, {"metadata": {"resourceVersion": "1"}, "items": []}
        for each in self._objects["consumergroups"] if method == "PATCH" else ():
            each["status"]["commands"] = given
        return super().answer(method, path, body)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("hostile")
    here = objects()
    manifest: Any = json.loads(json.dumps(here["consumergroups"][0]))
    manifest = {key: manifest[key] for key in ("apiVersion", "kind", "spec")} | {"metadata": {"name": NAME}}
    manifest["spec"]["template"]["spec"]["containers"][0]["image"] = EVIL.replace("\n", "")
    (made / MANIFEST).write_text(yaml.safe_dump(manifest))
    (made / CAMPAIGN).write_text(yaml.safe_dump({**wave_by_wave(fleetRef={"name": NAME}), "metadata": {"name": "c"}}))
    with served(Obedient(here)) as server:
        text = kubeconfig(made / "config", server).read_text().replace("harbour", "shop")
        (made / "config").write_text(text)
        yield made


@pytest.mark.timeout(30)
@pytest.mark.parametrize("words", QUOTES, ids=" ".join)
def test_it_shows_what_others_wrote_and_obeys_none_of_it(
    words: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(folder / "config"))
    monkeypatch.setenv("SSL_CERT_FILE", os.devnull)
    monkeypatch.chdir(folder)
    done = typed(capsys, *words)
    said = STYLES.sub("", f"{done.out}{done.err}")
    if words[0] != "completion":
        assert not STEERS.search(said)
    assert "this is a mistake in slackwater" not in said
    assert not any(line.startswith("false-row") for line in said.splitlines()), "a line of its own"
    if QUOTES[words]:
        assert ESCAPED.search(said), said


def test_each_command_is_among_them() -> None:
    there = {" ".join(words) for words in QUOTES}
    lacking = [
        each for each in commands(command_line()) if not any(each == t or t.startswith(f"{each} ") for t in there)
    ]
    assert set(lacking) == ELSEWHERE


class Refusing(ApiServer):
    """Whatever is asked, in the words of whoever stands between: a proxy, an admission webhook."""

    def answer(self, method: str, path: str, body: Json) -> tuple[int, Json]:
        return 400, {"message": EVIL}


DEBUGGED: Final = """
import logging, os, sys
from slackwater.cli.main import main
sys.argv = ["slackwater", "--debug", "list"]
try:
    main()
finally:
    logging.getLogger("a.library").debug(os.environ["EVIL"])
"""


def test_what_debug_shows_steers_no_terminal(tmp_path: Path) -> None:
    """The traceback has the sentence of the error, and libraries log what they were answered."""
    with served(Refusing({})) as server:
        environment = {"KUBECONFIG": str(kubeconfig(tmp_path / "config", server)), "EVIL": EVIL}
        said = subprocess.run(
            [sys.executable, "-c", DEBUGGED],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        ).stderr
    assert "Traceback (most recent call last):" in said
    assert "DEBUG:a.library:" in said
    assert len(ESCAPED.findall(said)) > 2
    assert not STEERS.search(said)
