"""Every command with a wrong name, without a cluster, without a broker: `command_rows` says what each has to say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.core import TyperGroup

from slackwater.api.annotations import PAUSE
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, write_memory
from slackwater.core.world.recording import write_world
from slackwater.shell.settings import Settings
from tests.api.manifests import consumer_fleet, consumer_group, kafka_connection
from tests.cli import builders
from tests.cli.api_server import ApiServer, Json, served
from tests.cli.command import COMMAND, command_line, typed
from tests.cli.command_rows import ROWS, cells
from tests.cli.every_command import NAME, SILENT, Case, Place, ShownBy, sentence_of, try_cell
from tests.conftest import ROOT

pytestmark = pytest.mark.usefixtures("outside_of_pods")

Capsys = pytest.CaptureFixture[str]

NAMESPACE = "harbour"
FAILED = RolloutMemory(
    phase=RolloutPhase.FAILED, target_hash="new", failed_hash="new", last_good_revision="1", last_good_hash="old"
)
"""So that abort and retry have something to do."""


CAMPAIGN: Json = {
    "metadata": {"name": NAME},
    "spec": {"fleetRef": {"name": NAME}, "action": {"restart": {}}, "paused": True},
}


def in_cluster(obj: Json, **rest: Any) -> Json:
    metadata = {"namespace": NAMESPACE, "uid": "u", "generation": 1, "resourceVersion": "1", **obj["metadata"]}
    return {**obj, "metadata": metadata, **rest}


def objects() -> dict[str, list[Json]]:
    group = consumer_group(NAME, replicas=0)
    group["metadata"]["annotations"] = {PAUSE: ""}
    pod = {"metadata": {}, "spec": {"containers": [{"name": "consumer", "image": "consumer:1"}]}}
    deployment = {"metadata": {"name": NAME}, "spec": {"replicas": 1, "template": pod}}
    return {
        "namespaces": [{"metadata": {"name": NAMESPACE}}],
        "consumergroups": [in_cluster(group, status={"rollout": write_memory(FAILED)})],
        "kafkaconnections": [in_cluster(kafka_connection(bootstrapServers=SILENT))],
        "deployments": [in_cluster(deployment)],
        "fleetcampaigns": [in_cluster(CAMPAIGN, status={"phase": "AwaitingPromotion"})],
        "consumerfleets": [in_cluster(consumer_fleet(NAME, pause="it is tried"))],
    }


def kubeconfig(path: Path, server: str) -> Path:
    content = {
        "current-context": "home",
        "contexts": [{"name": "home", "context": {"cluster": "c", "user": "u", "namespace": NAMESPACE}}],
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {}}],
    }
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("every")
    (made / "world").write_text(json.dumps(write_world(builders.world())).replace("payments", NAME))
    return made


@pytest.fixture(scope="module")
def places(folder: Path) -> Iterator[dict[Case, Place]]:
    with served(ApiServer(objects())) as server:
        there = Place(kubeconfig(folder / "there", server), NAMESPACE, folder)
        silent = Place(kubeconfig(folder / "silent", f"https://{SILENT}"), NAMESPACE, folder)
        nothing = Place(folder / "nothing", NAMESPACE, folder)
        yield {**dict.fromkeys(Case, there), Case.NO_KUBECONFIG: nothing, Case.NO_API_SERVER: silent}


def commands(command: Any, *above: str) -> Iterator[str]:
    """All that there are, hidden ones as well, as one types them."""
    if not isinstance(command, TyperGroup):
        yield " ".join(above)
        return
    for name, each in command.commands.items():
        yield from commands(each, *above, name)


def test_every_command_has_its_row() -> None:
    there = set(commands(command_line()))
    rows = {key.partition(" --")[0] for key in ROWS}
    lacking, gone = sorted(there - rows), sorted(rows - there)
    assert not lacking, f"say in ROWS of tests/cli/command_rows.py, of each Case, what becomes of {lacking}"
    assert not gone, f"ROWS of tests/cli/command_rows.py has {gone}, which the command line does not"


@pytest.mark.parametrize("key", ROWS)
def test_every_row_has_every_case(key: str) -> None:
    assert set(ROWS[key].cells) == set(Case)


@pytest.mark.parametrize(
    "test", sorted({c.test for row in ROWS.values() for c in row.cells.values() if isinstance(c, ShownBy)})
)
def test_what_is_shown_elsewhere_is_shown(test: str) -> None:
    file, _, name = test.partition("::")
    assert f"def {name}(" in (ROOT / file).read_text()


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("key", "case"), cells(Case.WRONG_NAME, Case.NO_NAMESPACE, Case.NO_KUBECONFIG, Case.NO_API_SERVER, Case.NO_BROKER)
)
def test_it_says_what_is_missing(
    key: str, case: Case, places: dict[Case, Place], capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", os.devnull)  # nobody speaks TLS here, and the system's take 0.1 s to load
    try_cell(places[case], ROWS[key], case, capsys, monkeypatch)


FLEET_VERBS = [key for key in ROWS if key.startswith(("fleet ", "campaign "))]


class WithoutKinds(ApiServer):
    """An older Slackwater's API server; or one without any. It answers as one does that knows no such path."""

    def __init__(self, *missing: str) -> None:
        super().__init__(objects())
        self._missing = missing

    def answer(self, method: str, path: str, body: Json) -> tuple[int, Json]:
        if any(each in path for each in self._missing):
            return 404, {"message": "404 page not found"}
        return super().answer(method, path, body)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("key", FLEET_VERBS)
@pytest.mark.parametrize(
    ("missing", "said"),
    [
        (
            ("consumerfleets", "fleetcampaigns"),
            "so its Slackwater is older: upgrade its chart, or use another --context.",
        ),
        (("slackwater.dev",), "so Slackwater is not installed there: install its chart, or use another --context."),
    ],
)
def test_a_cluster_that_knows_no_fleets(
    key: str, missing: tuple[str, ...], said: str, folder: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(WithoutKinds(*missing)) as server:
        place = Place(kubeconfig(folder / "older", server), NAMESPACE, folder)
        monkeypatch.setenv("KUBECONFIG", str(place.kubeconfig))
        done = typed(capsys, *place.words(ROWS[key], Case.NO_BROKER))
    assert (done.code, sentence_of(done).endswith(f"{said}\n")) == (1, True), done.err


class Forbidding(ApiServer):
    """It lets nobody read, or write, what is ours."""

    def answer(self, method: str, path: str, body: Json) -> tuple[int, Json]:
        if "slackwater.dev" in path:
            return 403, {"message": 'fleets.slackwater.dev is forbidden: User "u" may not'}
        return super().answer(method, path, body)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("key", [*FLEET_VERBS, "why --defaults"])
def test_an_account_without_rights_to_fleets(
    key: str, folder: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(Forbidding(objects())) as server:
        place = Place(kubeconfig(folder / "forbidding", server), NAMESPACE, folder)
        monkeypatch.setenv("KUBECONFIG", str(place.kubeconfig))
        done = typed(capsys, *place.words(ROWS[key], Case.NO_BROKER))
    assert "(403): ask for a role that allows it, or use another --context." in sentence_of(done)
    assert done.code == 1


def test_a_namespace_like_no_other_is_to_be_made(
    places: dict[Case, Place], capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(places[Case.WRONG_NAME].kubeconfig))
    said = sentence_of(typed(capsys, "list", "-n", "moon"))
    assert said == "Error: there is no namespace moon: create it, or choose another with -n.\n"


def test_what_else_hides_a_group_is_said_with_where_to_read_on(
    folder: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(ApiServer(objects() | {"kafkaconnections": []})) as server:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(folder / "unconnected", server)))
        said = sentence_of(typed(capsys, "members", NAME))
    why = "there is no KafkaConnection main: apply one (slackwater reason ConnectionMissing says more)"
    assert said == f"Error: group {NAME} cannot be seen from here: {why}.\n"


def test_an_empty_kubeconfig_variable_is_none(
    places: dict[Case, Place], tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As kubectl has it."""
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text(places[Case.WRONG_NAME].kubeconfig.read_text())
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", "")
    done = typed(capsys, "list")
    assert (done.code, done.err, NAME in done.out) == (0, "", True)


BROKEN = {
    "a cluster that is not in it": ("cluster: c\n", "cluster: d\n", "context home names cluster d, which is not in"),
    "a user that is not in it": ("user: u\n", "user: v\n", "context home names user v, which is not in"),
    "a server that is no address": (
        "server: https://",
        "server: ",
        "consumergroups?limit=50 is no URL: see that the cluster",
    ),
    "a server's certificate that is none": (
        "server:",
        "certificate-authority: /nowhere.crt\n    server:",
        "/nowhere.crt): set KUBECONFIG, or choose a context that exists.",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_kubeconfig_with(what: str, tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new, words = BROKEN[what]
    file = kubeconfig(tmp_path / "config", f"https://{SILENT}")
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    monkeypatch.setenv("KUBECONFIG", str(file))
    assert words in sentence_of(typed(capsys, "list"))


def test_the_operator_takes_no_name(capsys: Capsys) -> None:
    assert "Got unexpected extra argument(s) (payments)" in typed(capsys, "run", "payments").sentence
    assert "No such option: -n" in typed(capsys, "run", "-n", "shop").sentence


def test_the_operator_without_a_cluster(capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nothing"))
    said = sentence_of(typed(capsys, "run"))
    assert "no Kubernetes cluster is configured, for there is no file" in said


def test_the_operator_waits_for_an_api_server(places: dict[Case, Place]) -> None:
    """A pod that ends and is started again would be waited for longer and longer."""
    env = {**os.environ, "KUBECONFIG": str(places[Case.NO_API_SERVER].kubeconfig), "SLACKWATER_PORT": "0"}
    words = [str(COMMAND), "run"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env) as run:
        try:
            assert run.stdout is not None
            line = json.loads(run.stdout.readline())
            run.terminate()
            assert run.wait(30) == 0
        finally:
            run.kill()
    assert line["event"] == "waiting_for_the_api_server"
    assert "127.0.0.1:1 cannot be reached (connection refused)" in line["error"]


def test_the_pipeline_has_no_client_of_kubernetes() -> None:
    """The contract is one that import-linter holds; without a client nobody can ask."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    of_pipeline = (each for each in contracts if each.get("source_modules") == ["slackwater.pipeline"])
    assert {"slackwater.adapters", "kubernetes"} <= {name for each in of_pipeline for name in each["forbidden_modules"]}


@pytest.mark.parametrize("key", ["report", "pipeline report", "recommend"])
def test_the_report_knows_no_brokers(key: str, capsys: Capsys) -> None:
    done = typed(capsys, *ROWS[key].words, "--bootstrap-servers", SILENT)
    assert "No such option: --bootstrap-servers" in done.sentence


HELP = {
    ("reason",): ("Usage: slackwater reason [OPTIONS] [REASON]\n", " REASON <str> As conditions"),
    ("completion",): ("Usage: slackwater completion [OPTIONS] {SHELL}\n", " SHELL <bash|zsh|fish> The shell"),
    ("import",): ("statefulset/NAME or deployment/NAME, in short sts/NAME or deploy/NAME.",),
    ("plan",): ("- for standard input", "a recorded world (see observe), or from standard input by -;"),
    (): (" --debug Log, and show tracebacks. As SLACKWATER_DEBUG=1.",),
}


@pytest.mark.parametrize("command", HELP, ids=" ".join)
def test_its_help_says(command: tuple[str, ...], capsys: Capsys) -> None:
    done = typed(capsys, *command, "--help")
    lines, flat = done.out.splitlines(keepends=True), " ".join(done.out.split())
    assert [words for words in HELP[command] if words not in lines and words not in flat] == []


def test_the_help_of_run_names_what_somebody_sets_who_runs_it_from_a_shell(capsys: Capsys) -> None:
    """Without them it works in every namespace, and beside an operator that runs there."""
    said = " ".join(typed(capsys, "run", "--help").out.split())
    named = set(re.findall(r"SLACKWATER_(\w+)", said))
    assert {"NAMESPACE", "LEASE"} <= named <= {name.upper() for name in Settings.model_fields}
