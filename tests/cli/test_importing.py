"""The ConsumerGroup that stands for a workload: what is found out, what is asked for, and what is left behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from slackwater.adapters.cluster.paths import DEPLOYMENT, STATEFUL_SET
from slackwater.api.client import Library
from slackwater.api.errors import InvalidSpec
from slackwater.api.parsing import parse_consumer_group, parse_kafka_connection
from slackwater.cli.errors import CannotBeImported, OptionMissing
from slackwater.cli.importing.command import as_text, consequences
from slackwater.cli.importing.manifest import Imported, Said, imported
from slackwater.cli.importing.settings_found import found_in
from slackwater.cli.planning.files import read_manifests
from tests.api.manifests import kafka_connection
from tests.api.refusals import CLAIM

ENV = {
    "KAFKA_BOOTSTRAP_SERVERS": "broker-1:9092,broker-0:9092",
    "KAFKA_GROUP_ID": "billing.payments",
    "KAFKA_TOPICS": "orders, refunds",
}
SAID = Said(library=Library.LIBRDKAFKA)


def variables(**values: Any) -> list[dict[str, Any]]:
    """A value that is a mapping is where it comes from."""
    return [
        {"name": name, "valueFrom": value} if isinstance(value, dict) else {"name": name, "value": value}
        for name, value in values.items()
    ]


def workload(env: dict[str, Any] | None = None, kind: str = "StatefulSet", **spec: Any) -> dict[str, Any]:
    """As the API server gives it, defaults and all."""
    container = {
        "name": "app",
        "image": "payments:1",
        "env": variables(**(ENV if env is None else env)),
        "resources": {"limits": {"memory": "512Mi"}},
        "volumeMounts": [{"name": "scratch", "mountPath": "/tmp"}],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }
    template = {
        "metadata": {"creationTimestamp": None, "labels": {"app": "payments", "pod-template-hash": "5d4c7b9f66"}},
        "spec": {
            "containers": [container],
            "volumes": [{"name": "scratch", "emptyDir": {}}],
            "restartPolicy": "Always",
            "dnsPolicy": "ClusterFirst",
            "securityContext": {},
            "schedulerName": "default-scheduler",
            "terminationGracePeriodSeconds": 45,
        },
    }
    fields = {"replicas": 6, "selector": {"matchLabels": {"app": "payments"}}, "template": template}
    metadata = {"name": "payments", "namespace": "shop"}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": fields | spec}


def group(result: Imported) -> dict[str, Any]:
    return result.documents[-1]


def test_what_runs_is_taken_as_it_runs() -> None:
    result = imported(workload(), SAID, [kafka_connection()])
    assert group(result) == {
        "apiVersion": "slackwater.dev/v1alpha1",
        "kind": "ConsumerGroup",
        "metadata": {"name": "payments", "namespace": "shop"},
        "spec": {
            "groupId": "billing.payments",
            "connectionRef": {"name": "main"},
            "topics": ["orders", "refunds"],
            "replicas": 6,
            "client": {"library": "Librdkafka"},
            "template": {
                "metadata": {"labels": {"app": "payments"}},
                "spec": {
                    "containers": [
                        {
                            "name": "app",
                            "image": "payments:1",
                            "env": [{"name": "KAFKA_TOPICS", "value": "orders, refunds"}],
                            "resources": {"limits": {"memory": "512Mi"}},
                            "volumeMounts": [{"name": "scratch", "mountPath": "/tmp"}],
                            "imagePullPolicy": "IfNotPresent",
                        }
                    ],
                    "volumes": [{"name": "scratch", "emptyDir": {}}],
                    "terminationGracePeriodSeconds": 45,
                },
            },
        },
    }
    assert result.remarks == ()


def test_a_connection_is_written_where_there_is_none() -> None:
    result = imported(workload(), SAID, [])
    connection, of_group = result.documents
    assert parse_kafka_connection(connection).spec.bootstrap_servers == ENV["KAFKA_BOOTSTRAP_SERVERS"]
    assert connection["metadata"] == {"name": "payments", "namespace": "shop"}
    assert of_group["spec"]["connectionRef"] == {"name": "payments"}
    assert any("add spec.tls and spec.authentication" in remark for remark in result.remarks)


def test_a_connection_to_other_brokers_is_not_taken_for_ours() -> None:
    with pytest.raises(OptionMissing, match="give --connection"):
        imported(workload(), SAID, [kafka_connection(bootstrapServers="elsewhere:9092")])


def test_a_connection_that_is_named_counts_and_a_difference_is_told() -> None:
    said = Said(library=Library.LIBRDKAFKA, connection="main")
    result = imported(workload(), said, [kafka_connection(bootstrapServers="elsewhere:9092")])
    assert len(result.documents) == 1
    assert any("see that both are one Kafka cluster" in remark for remark in result.remarks)


def test_all_that_nothing_tells_is_asked_for_at_once() -> None:
    with pytest.raises(OptionMissing) as caught:
        imported(workload(env={}), Said(), [])
    for option in ("--group-id", "--topic", "--client", "--env-prefix", "--connection"):
        assert option in str(caught.value).partition(": give ")[2]


def test_what_is_said_needs_no_finding_out() -> None:
    said = Said("orders", "main", Library.JAVA, ("orders",), None, "APP_")
    spec = group(imported(workload(env={}), said, [kafka_connection()]))["spec"]
    assert (spec["groupId"], spec["topics"], spec["client"]) == (
        "orders",
        ["orders"],
        {"library": "Java", "envPrefix": "APP_"},
    )
    assert "env" not in spec["template"]["spec"]["containers"][0]


def test_two_values_are_no_answer() -> None:
    env = ENV | {"GROUP_ID": "another"}
    with pytest.raises(OptionMissing, match=r"KAFKA_GROUP_ID says billing\.payments but GROUP_ID says another"):
        imported(workload(env), SAID, [])


def test_a_value_from_elsewhere_is_no_answer() -> None:
    env = ENV | {"KAFKA_GROUP_ID": {"configMapKeyRef": {"name": "settings", "key": "group"}}}
    with pytest.raises(OptionMissing, match="KAFKA_GROUP_ID is not a plain value"):
        imported(workload(env), SAID, [])


def test_another_group_id_than_the_workloads_is_told() -> None:
    result = imported(workload(), Said(library=Library.JAVA, group_id="fresh"), [])
    assert any("group fresh has offsets of its own" in remark for remark in result.remarks)


def test_settings_that_the_operator_sets_move_into_the_spec() -> None:
    env = ENV | {
        "KAFKA_SESSION_TIMEOUT_MS": "30000",
        "KAFKA_HEARTBEAT_INTERVAL_MS": "2500",
        "KAFKA_MAX_POLL_INTERVAL_MS": "600000",
        "KAFKA_MAX_POLL_RECORDS": "200",
        "KAFKA_GROUP_INSTANCE_ID": {"fieldRef": {"fieldPath": "metadata.name"}},
        "KAFKA_PARTITION_ASSIGNMENT_STRATEGY": "cooperative-sticky",
        "LOG_LEVEL": "info",
    }
    result = imported(workload(env), SAID, [])
    spec = group(result)["spec"]
    assert spec["timeouts"] == {
        "session": "30s",
        "heartbeat": "2s500ms",
        "maxPollInterval": "10m",
        "maxPollRecords": 200,
    }
    left = [each["name"] for each in spec["template"]["spec"]["containers"][0]["env"]]
    assert left == ["KAFKA_TOPICS", "KAFKA_PARTITION_ASSIGNMENT_STRATEGY", "LOG_LEVEL"]
    assert "protocol" not in spec
    assert any(remark.startswith("KAFKA_GROUP_INSTANCE_ID is left out: ") for remark in result.remarks)


def test_the_new_protocol_is_kept_and_what_it_does_not_bear_is_told() -> None:
    env = ENV | {
        "KAFKA_GROUP_PROTOCOL": "consumer",
        "KAFKA_SESSION_TIMEOUT_MS": "30000",
        "KAFKA_PARTITION_ASSIGNMENT_STRATEGY": "range",
    }
    result = imported(workload(env), SAID, [])
    assert group(result)["spec"]["protocol"] == {"target": "Consumer"}
    for name in ("KAFKA_SESSION_TIMEOUT_MS", "KAFKA_PARTITION_ASSIGNMENT_STRATEGY"):
        assert any(remark.startswith(f"{name} is left out: ") for remark in result.remarks)


def test_a_number_that_is_none_is_told() -> None:
    result = imported(workload(ENV | {"KAFKA_SESSION_TIMEOUT_MS": "45s"}), SAID, [])
    assert "timeouts" not in group(result)["spec"]
    assert any("set timeouts.session" in remark for remark in result.remarks)


def test_a_variable_made_of_one_that_moves_is_told() -> None:
    result = imported(workload(ENV | {"LOG_TAG": "of $(KAFKA_GROUP_ID)"}), SAID, [])
    assert any(remark.startswith("LOG_TAG uses KAFKA_GROUP_ID") for remark in result.remarks)


def test_spring_boot_is_known_by_its_names() -> None:
    env = {
        "SPRING_KAFKA_BOOTSTRAP_SERVERS": "broker:9092",
        "SPRING_KAFKA_CONSUMER_GROUP_ID": "payments",
        "SPRING_KAFKA_LISTENER_CONCURRENCY": "3",
    }
    spec = group(imported(workload(env), Said(topics=("orders",)), []))["spec"]
    assert spec["client"] == {"library": "Java", "envPrefix": "SPRING_KAFKA_CONSUMER_PROPERTIES_"}
    assert spec["membersPerPod"] == 3
    assert "groupId" not in spec


@pytest.mark.parametrize(
    "words", [["--group-id", "payments", "-v"], ["run", "--group-id=payments"], ["--group", "payments"]]
)
def test_arguments_tell_as_well(words: list[str]) -> None:
    assert found_in({"args": words}).group_id.value == "payments"


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("--group-id=$(TEAM)", "billing"),
        ("--group-id=$(TEAM).$(APP)-$(TEAM)", "billing.payments-billing"),
        ("--group-id=$$(TEAM)", "$(TEAM)"),
        ("--group-id=$$$(TEAM)", "$billing"),
        ("--group-id=cost$", "cost$"),
        ("--group-id=$(TEAM", "$(TEAM"),
        ("--group-id=$()", "$()"),
    ],
)
def test_arguments_are_read_as_kubernetes_hands_them_over(word: str, value: str) -> None:
    told = found_in({"args": [word], "env": variables(TEAM="billing", APP="payments")}).group_id
    assert (told.value, told.hidden) == (value, [])


@pytest.mark.parametrize("args", [["--group-id=$(GROUP)"], ["--group-id", "x.$(GROUP)"], ["--group-id=$(FROM_ENV)"]])
def test_an_argument_of_a_value_from_elsewhere_is_no_answer(args: list[str]) -> None:
    """The reference itself was taken for the group's id."""
    started = workload({"GROUP": {"secretKeyRef": {"name": "kafka", "key": "group"}}, "KAFKA_TOPICS": "orders"})
    started["spec"]["template"]["spec"]["containers"][0]["args"] = args
    said = Said(library=Library.JAVA, env_prefix="KAFKA_", connection="main")
    with pytest.raises(OptionMissing, match=r"\(--group-id is not a plain value\): give --group-id"):
        imported(started, said, [kafka_connection()])


def test_a_container_whose_group_id_is_hidden_in_an_argument_is_a_consumer() -> None:
    assert found_in({"args": ["--group-id", "$(GROUP)"]}).is_a_consumer


def test_a_flag_without_a_value_and_a_strangers_variable_tell_nothing() -> None:
    found = found_in({"command": ["run", "--group-id", "--verbose"], "env": variables(AD_GROUP_ID="7")})
    assert not found.is_a_consumer


def test_the_consumer_is_told_from_its_sidecar() -> None:
    with_sidecar = workload()
    containers = with_sidecar["spec"]["template"]["spec"]["containers"]
    containers.insert(0, {"name": "proxy", "image": "proxy:1"})
    spec = group(imported(with_sidecar, SAID, []))["spec"]
    assert spec["client"]["container"] == "app"
    assert [each["name"] for each in spec["template"]["spec"]["containers"]] == ["proxy", "app"]
    containers[0]["env"] = variables(GROUP_ID="theirs")
    with pytest.raises(OptionMissing, match="--container"):
        imported(with_sidecar, SAID, [])
    with pytest.raises(OptionMissing, match="there is no container ap, but proxy, app"):
        imported(with_sidecar, Said(container="ap"), [])


def test_a_group_that_is_there_already_is_not_made_again() -> None:
    owned = workload()
    owner = {"apiVersion": "slackwater.dev/v1alpha1", "kind": "ConsumerGroup", "name": "payments", "controller": True}
    owned["metadata"]["ownerReferences"] = [owner]
    with pytest.raises(CannotBeImported, match="StatefulSet payments belongs to ConsumerGroup payments already"):
        imported(owned, SAID, [])


def test_volumes_of_each_pods_own_come_along_as_somebody_wrote_them() -> None:
    filled_in = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "state", "creationTimestamp": None, "labels": {"team": "billing"}},
        "spec": {**CLAIM["spec"], "volumeMode": "Filesystem"},
        "status": {"phase": "Pending"},
    }
    policy = {"whenDeleted": "Retain", "whenScaled": "Delete"}
    claims: dict[str, Any] = {"volumeClaimTemplates": [filled_in], "persistentVolumeClaimRetentionPolicy": policy}
    spec = group(imported(workload(**claims), SAID, [kafka_connection()]))["spec"]
    assert spec["volumeClaimTemplates"] == [
        {"metadata": {"name": "state", "labels": {"team": "billing"}}, "spec": CLAIM["spec"]}
    ]
    assert spec["persistentVolumeClaimRetentionPolicy"] == policy
    kept = {**claims, "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"}}
    result = imported(workload(**kept), SAID, [kafka_connection()])
    assert "persistentVolumeClaimRetentionPolicy" not in group(result)["spec"]
    assert not [each for each in result.remarks if "olume" in each]


def test_whatever_else_is_lost_is_named() -> None:
    other = workload(
        serviceName="payments-peers",
        podManagementPolicy="OrderedReady",
        minReadySeconds=5,
        somethingNew={"a": 1},
        revisionHistoryLimit=10,
    )
    other["metadata"] |= {
        "labels": {"team": "billing"},
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
        "ownerReferences": [{"apiVersion": "x/v1", "kind": "App", "name": "billing", "controller": True}],
    }
    remarks = "\n".join(imported(other, SAID, [kafka_connection()]).remarks)
    for named in ("serviceName", "podManagementPolicy", "minReadySeconds", "somethingNew", "team", "App billing"):
        assert named in remarks
    assert "revisionHistoryLimit" not in remarks
    assert "last-applied" not in remarks


def test_a_name_that_no_group_can_have_is_refused() -> None:
    long = workload()
    long["metadata"]["name"] = "p" * 49
    with pytest.raises(InvalidSpec, match="at most 48"):
        imported(long, SAID, [])


def test_what_is_printed_can_be_planned_from(tmp_path: Path) -> None:
    """The comments name what is lost."""
    result = imported(workload(serviceName="peers"), SAID, [])
    text = as_text("StatefulSet shop/payments", result)
    file = tmp_path / "payments.yaml"
    file.write_text(text)
    manifests = read_manifests(str(file))
    assert parse_consumer_group(manifests.group).group_id == "billing.payments"
    assert len(manifests.connections) == 1
    assert "# - spec.serviceName peers is left out" in text
    assert list(yaml.safe_load_all(text)) == list(result.documents)


@pytest.mark.parametrize(("kind", "words"), [(STATEFUL_SET, "restarts no pod"), (DEPLOYMENT, "Delete the Deployment")])
def test_for_whom_pods_would_restart_is_said(kind: Any, words: str) -> None:
    lines = consequences(kind, "payments", imported(workload(), SAID, []))
    assert words in lines[0]
    assert "6 pods" in lines[0]
