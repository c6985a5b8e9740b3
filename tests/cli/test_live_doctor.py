"""`slackwater doctor` on a real cluster, with and without rights, with and without a broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.api.manifests import kafka_connection
from tests.cli.command import ran
from tests.e2e.stage.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

NAME = "diagnosed"


@pytest.fixture(scope="module")
def used(stage: Stage) -> Stage:
    """With a group that uses the KafkaConnection main."""
    stage.create(stage.group(NAME))
    return stage


def examined(stage: Stage, *arguments: str, kubeconfig: Path | None = None) -> dict[str, tuple[str, str]]:
    """Result and message by subject."""
    environment = {"KUBECONFIG": str(kubeconfig or stage.cluster.kubeconfig)}
    done = ran("doctor", "-n", stage.cluster.namespace, "-o", "json", *arguments, environment=environment)
    assert done.err == ""
    document: dict[str, Any] = json.loads(done.out)
    assert done.code == (0 if document["well"] else 1)
    assert document["well"] is all(each["result"] != "missing" for each in document["findings"])
    return {each["subject"]: (each["result"], each["message"]) for each in document["findings"]}


def test_all_but_the_operators_deployment_is_there(used: Stage) -> None:
    """The operator of the tests is a process, and so there may be no Deployment of one."""
    found = examined(used, "--kafka")
    missing = {subject for subject, (result, _) in found.items() if result == "missing"}
    assert missing <= {"operator"}
    kafka, place = f"Kafka of {used.cluster.namespace}/main", used.cluster.namespace
    assert found["CRD consumergroups.slackwater.dev"][0] == "ok"
    assert found[f"KafkaConnection {place}/main"] == ("ok", "the operator says: Kafka answers")
    assert "group.version 1" in found[f"{kafka}: KIP-848"][1]
    assert found[f"{kafka}: session timeouts"][1].startswith("the brokers allow classic ")
    assert found[f"ACLs on group {used.group_id(NAME)}"] == ("ok", "the connection's Kafka user may Describe, Read")


def test_the_table_has_a_line_for_each_finding(used: Stage) -> None:
    environment = {"KUBECONFIG": str(used.cluster.kubeconfig)}
    done = ran("doctor", "-n", used.cluster.namespace, environment=environment)
    found = examined(used)
    assert done.err == ""
    assert len(done.out.splitlines()) == len(found)


def test_a_deployment_is_found_and_its_account_has_no_right(used: Stage) -> None:
    """It has the chart's labels, in the namespace of the test, and is scaled to 0."""
    place = used.cluster.namespace
    labels = {"app.kubernetes.io/name": "slackwater"}
    pod = {"serviceAccountName": "mate", "containers": [{"name": "operator", "image": "slackwater"}]}
    used.cluster.apply(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "ship", "labels": labels},
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            },
        }
    )
    found = examined(used)
    assert found[f"operator {place}/ship"][1].startswith("it is scaled to 0")
    account = f"rights of service account {place}/mate"
    assert found[account][0] == "missing"
    assert "patch consumergroups/status.slackwater.dev" in found[account][1]
    used.cluster.kubectl("delete", "deployment", "ship")


def test_somebody_without_a_right_is_told_what_does_not_work(used: Stage, tmp_path: Path) -> None:
    token = used.cluster.kubectl("create", "token", "default").strip()
    content = json.loads(used.cluster.kubectl("config", "view", "--raw", "--minify", "-o", "json"))
    content["users"] = [{"name": content["users"][0]["name"], "user": {"token": token}}]
    kubeconfig = tmp_path / "nobody"
    kubeconfig.touch(mode=0o600)
    kubeconfig.write_text(json.dumps(content))
    found = examined(used, "--kafka", kubeconfig=kubeconfig)
    results = {subject: result for subject, (result, _) in found.items()}
    assert results == {
        "cluster": "ok",
        "CRD consumergroups.slackwater.dev": "not checked",
        "CRD kafkaconnections.slackwater.dev": "not checked",
        "CRD clusterkafkaconnections.slackwater.dev": "not checked",
        "CRD consumerfleets.slackwater.dev": "not checked",
        "CRD fleetcampaigns.slackwater.dev": "not checked",
        "operator": "not checked",
        "the operator's rights": "not checked",
        "your rights: looking": "missing",
        "your rights: steering": "missing",
        "your rights: asking Kafka from here": "warning",
        "PodDisruptionBudgets": "not checked",
        "KafkaConnections": "not checked",
    }


def test_a_broker_that_there_is_not_is_missing(used: Stage) -> None:
    place = used.cluster.namespace
    used.cluster.apply(kafka_connection("nowhere", bootstrapServers="127.0.0.1:1"))
    found = examined(used, "--kafka")
    used.cluster.kubectl("delete", "kafkaconnection", "nowhere")
    assert found[f"KafkaConnection {place}/nowhere"][0] == "not checked"
    result, message = found[f"Kafka of {place}/nowhere"]
    assert result == "missing"
    assert message.startswith("Kafka at 127.0.0.1:1 ")
