"""`slackwater import` on a real cluster: what it prints is what `slackwater plan` and the API server take."""

from __future__ import annotations

import json

import pytest

from tests.cli.command import Done, ran
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

NAME = "invoices"


def workload(kind: str, name: str, env: dict[str, str]) -> Json:
    """Scaled to 0: only what is written in it matters here."""
    labels = {"app": name}
    variables = [{"name": each, "value": value} for each, value in env.items()]
    container = {"name": "app", "image": "registry.example.com/invoices:1", "env": variables}
    spec = {
        "replicas": 0,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    }
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


@pytest.fixture(scope="module")
def running(stage: Stage) -> Stage:
    env = {"KAFKA_BOOTSTRAP_SERVERS": stage.kafka.bootstrap_servers, "KAFKA_GROUP_ID": "billing", "TOPIC": stage.topic}
    stage.cluster.apply(workload("Deployment", NAME, env), workload("StatefulSet", "silent", {}))
    return stage


def typed(stage: Stage, *arguments: str, given: str = "") -> Done:
    environment = {"KUBECONFIG": str(stage.cluster.kubeconfig)}
    return ran(*arguments, "-n", stage.cluster.namespace, given=given, environment=environment)


def test_what_is_imported_can_be_planned_and_applied(running: Stage) -> None:
    done = typed(running, "import", f"deploy/{NAME}", "--client", "Librdkafka")
    assert done.code == 0
    assert "Delete the Deployment, or scale it to 0, first" in done.err
    plan = typed(running, "plan", "-f", "-", "-o", "json", given=done.out)
    assert (plan.code, plan.err) == (0, "")
    assert json.loads(plan.out)["act"]["purpose"] == "CREATE"
    running.cluster.kubectl("apply", "--dry-run=server", "-f", "-", stdin=done.out)


def test_what_nothing_tells_is_asked_for(running: Stage) -> None:
    done = typed(running, "import", "statefulset/silent")
    assert done.code == 2
    for option in ("--group-id", "--topic", "--client", "--env-prefix", "--connection"):
        assert option in done.sentence.partition(": give ")[2]


def test_a_wrong_name_gets_the_nearest_one(running: Stage) -> None:
    done = typed(running, "import", "deploy/invoice")
    assert (done.code, done.sentence.endswith(f": did you mean {NAME}?")) == (1, True)


def test_a_stateful_set_of_a_group_is_not_imported_again(running: Stage) -> None:
    running.create(running.group("imported"))
    done = typed(running, "import", "sts/imported")
    assert (done.code, "belongs to ConsumerGroup imported already" in done.sentence) == (1, True)
