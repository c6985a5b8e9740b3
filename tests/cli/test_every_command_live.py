"""What `command_rows` says of names, rights and credentials, tried on a real API server. No operator is needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from slackwater.core.world.recording import write_world
from tests.api.campaign_refusals import campaign
from tests.api.manifests import consumer_fleet, consumer_group, kafka_connection
from tests.cli import builders
from tests.cli.command import ran, typed
from tests.cli.command_rows import ROWS, cells
from tests.cli.every_command import NAME, SILENT, Case, Place, sentence_of, try_cell
from tests.e2e.stage.cluster import Cluster, Json

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120), pytest.mark.usefixtures("outside_of_pods")]

DEPLOYMENT: Json = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": NAME},
    "spec": {
        "replicas": 0,
        "selector": {"matchLabels": {"app": NAME}},
        "template": {
            "metadata": {"labels": {"app": NAME}},
            "spec": {"containers": [{"name": "consumer", "image": "consumer:1"}]},
        },
    },
}


@pytest.fixture(scope="module")
def places(crds: None, kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Case, Place]]:
    """Of a namespace with one group, which has no pods, seen with the rights of each case."""
    cluster = Cluster(kubeconfig, f"e2e-mistakes-{uuid4().hex[:6]}")
    folder = tmp_path_factory.mktemp("every")
    (folder / "world").write_text(json.dumps(write_world(builders.world())).replace("payments", NAME))
    cluster.kubectl("create", "namespace", cluster.namespace)
    try:
        group = consumer_group(NAME, replicas=0)
        fleet = consumer_fleet(NAME, pause="it is tried")
        order = {**campaign(fleetRef={"name": NAME}), "metadata": {"name": NAME}}
        cluster.apply(group, kafka_connection(bootstrapServers=SILENT), DEPLOYMENT, fleet, order)
        cluster.kubectl("create", "serviceaccount", "nobody")
        token = cluster.kubectl("create", "token", "nobody").strip()
        content = json.loads(cluster.kubectl("config", "view", "--raw", "--minify", "-o", "json"))
        there = Place(written(folder / "there", content, cluster), cluster.namespace, folder)
        nobody = Place(written(folder / "nobody", content, cluster, token), cluster.namespace, folder)
        stranger = Place(written(folder / "stranger", content, cluster, "expired"), cluster.namespace, folder)
        yield {**dict.fromkeys(Case, there), Case.FORBIDDEN: nobody, Case.NOT_LET_IN: stranger}
    finally:
        cluster.kubectl("delete", "namespace", cluster.namespace, "--wait=false", "--ignore-not-found")


def written(path: Path, content: Json, cluster: Cluster, token: str = "") -> Path:
    """A kubeconfig that stands in the cluster's namespace."""
    (context,), (user,) = content["contexts"], content["users"]
    context = {**context, "context": {**context["context"], "namespace": cluster.namespace}}
    user = {"name": user["name"], "user": {"token": token}} if token else user
    path.touch(mode=0o600)
    path.write_text(json.dumps({**content, "contexts": [context], "users": [user]}))
    return path


@pytest.mark.parametrize(("key", "case"), cells(Case.WRONG_NAME, Case.NO_NAMESPACE, Case.NOT_LET_IN, Case.FORBIDDEN))
def test_it_says_what_is_missing(
    key: str, case: Case, places: dict[Case, Place], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    try_cell(places[case], ROWS[key], case, capsys, monkeypatch)


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (Case.NOT_LET_IN, "Unauthorized (401): log in again, for the credentials are missing, wrong or expired.\n"),
        (
            Case.FORBIDDEN,
            'cannot list resource "consumergroups" in API group "slackwater.dev" at the cluster scope (403):',
        ),
    ],
)
def test_the_operator_is_refused(case: Case, words: str, places: dict[Case, Place]) -> None:
    environment = {"KUBECONFIG": str(places[case].kubeconfig), "SLACKWATER_PORT": "0"}
    done = ran("run", environment=environment)
    assert done.code == 1
    assert words in sentence_of(done)


def test_who_shows_no_credentials_is_told_to_log_in(
    places: dict[Case, Place], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a log-in plugin of the kubeconfig fails."""
    content = json.loads(places[Case.NOT_LET_IN].kubeconfig.read_text())
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "false", "interactiveMode": "Never"}
    (user,) = content["users"]
    file = tmp_path / "plugin"
    file.touch(mode=0o600)
    file.write_text(json.dumps({**content, "users": [{**user, "user": {"exec": plugin}}]}))
    monkeypatch.setenv("KUBECONFIG", str(file))
    said = sentence_of(typed(capsys, "list"))
    assert "log in again, for the credentials are missing, wrong or expired, or use another --context." in said


@contextmanager
def granted(place: Place, admin: Path, verbs: str, *resources: str) -> Iterator[None]:
    """To the account that has no rights."""
    cluster = Cluster(admin, place.namespace)
    cluster.kubectl("create", "role", "some", f"--verb={verbs}", *(f"--resource={each}" for each in resources))
    cluster.kubectl("create", "rolebinding", "some", "--role=some", f"--serviceaccount={place.namespace}:nobody")
    try:
        yield
    finally:
        cluster.kubectl("delete", "role,rolebinding", "some")


def test_who_may_not_look_for_namespaces_is_told_of_groups(places: dict[Case, Place], kubeconfig: Path) -> None:
    """A right in one namespace is no right to know of the others."""
    place = places[Case.FORBIDDEN]
    with granted(place, kubeconfig, "get,list", "consumergroups.slackwater.dev"):
        done = ran("status", "another", environment={"KUBECONFIG": str(place.kubeconfig)})
    words = f"there is no ConsumerGroup another in namespace {place.namespace}: there is {NAME}."
    assert words in sentence_of(done)


def test_who_may_look_is_told_that_it_may_not_steer(places: dict[Case, Place], kubeconfig: Path) -> None:
    place = places[Case.FORBIDDEN]
    ours = ("consumergroups.slackwater.dev", "kafkaconnections.slackwater.dev")
    with granted(place, kubeconfig, "get,list", *ours, "statefulsets.apps", "controllerrevisions.apps", "pods"):
        done = ran("pause", NAME, environment={"KUBECONFIG": str(place.kubeconfig)})
    assert done.code == 1
    assert 'cannot patch resource "consumergroups"' in (said := sentence_of(done))
    assert said.endswith("(403): ask for a role that allows it, or use another --context.\n")
