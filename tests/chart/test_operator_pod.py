"""The operator's pod: restricted, asked about its health, told its settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from slackwater.shell.places import FilePlace, TopicPlace
from slackwater.shell.settings import read_settings
from slackwater.shell.store import Key
from tests.chart.helm import Manifest, only, render

pytestmark = pytest.mark.e2e  # Helm is built by the sandbox


def test_every_container_is_restricted() -> None:
    spec = pod_spec()
    assert spec["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "runAsGroup": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    for container in [*spec.get("initContainers", []), *spec["containers"]]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_the_pod_shares_nothing_with_its_node() -> None:
    spec = pod_spec()
    assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
    assert [sorted(volume) for volume in spec["volumes"]] == [["emptyDir", "name"]]


def test_the_kubelet_asks_whether_it_lives_and_whether_it_is_ready() -> None:
    container = operator()
    assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "http"}
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "http"}
    assert container["ports"] == [{"name": "http", "containerPort": 8080}]


def test_the_service_leads_to_the_pod() -> None:
    manifests = render()
    labels = only(manifests, "Deployment")["spec"]["template"]["metadata"]["labels"]
    service = only(manifests, "Service")["spec"]
    assert service["selector"].items() <= labels.items()
    assert [port["targetPort"] for port in service["ports"]] == ["http"]


def test_two_releases_do_not_take_each_others_pods() -> None:
    selector = only(render(), "Deployment")["spec"]["selector"]["matchLabels"]
    assert selector["app.kubernetes.io/instance"] == "slackwater"


def test_the_operator_is_told_its_settings() -> None:
    assert environment() == {
        "SLACKWATER_NAMESPACE": "",
        "SLACKWATER_POD_NAMESPACE": "operations",
        "SLACKWATER_LEASE": "operations/slackwater-leader",
        "SLACKWATER_LEASE_S": "15",
        "SLACKWATER_IDENTITY": {"fieldRef": {"fieldPath": "metadata.name"}},
        "SLACKWATER_LOG_FORMAT": "json",
        "SLACKWATER_LOG_LEVEL": "info",
    }


def test_no_service_is_taken_for_a_setting() -> None:
    assert pod_spec()["enableServiceLinks"] is False


def test_each_setting_has_a_value() -> None:
    given = {
        "leaseSeconds": "30",
        "observation__movingIntervalSeconds": "0.5",
        "observation__restIntervalSeconds": "60",
        "observation__largestAnswerMegabytes": "8",
        "observation__mostPartitions": "1000000",
        "observation__mostPerNamespace": "2000000",
        "observation__mostFleets": "30",
        "observation__mostCampaigns": "40",
        "telemetry": "kafka:team-a/main/telemetry",
        "recommendations": "kafka:team-a/main/recommendations",
        "metrics__readers": "Authorized",
        "log__format": "text",
        "log__level": "debug",
    }
    told = environment(**given)
    others = ("SLACKWATER_NAMESPACE", "SLACKWATER_POD_NAMESPACE", "SLACKWATER_LEASE", "SLACKWATER_IDENTITY")
    assert [value for name, value in told.items() if name not in others] == list(given.values())


def test_the_operator_reads_the_settings_as_they_are_given() -> None:
    values = {
        "telemetry": "kafka:team-a/main/events",
        "recommendations": "file:/data/all.jsonl",
        "observation__largestAnswerMegabytes": "8",
        "observation__mostPartitions": "1000000",
        "observation__mostPerNamespace": "2000000",
        "observation__mostFleets": "30",
        "observation__mostCampaigns": "40",
    }
    given = environment(watchNamespaces="{team-a,team-b}", **values)
    settings = read_settings({name: value for name, value in given.items() if isinstance(value, str)})
    assert settings.namespace == ("team-a", "team-b")
    assert settings.secrets_namespace == ""
    assert (settings.largest_answer_mb, settings.most_partitions, settings.most_per_namespace) == (
        8,
        1_000_000,
        2_000_000,
    )
    assert (settings.most_fleets, settings.most_campaigns) == (30, 40)
    assert settings.telemetry == TopicPlace(Key("team-a", "main"), "events")
    assert settings.recommendations == FilePlace(Path("/data/all.jsonl"))


@pytest.mark.parametrize("values", [{}, {"telemetry": "kafka:team-a/main/telemetry"}])
def test_without_files_there_is_no_place_for_them(values: dict[str, str]) -> None:
    spec = pod_spec(**values)
    assert mounts(spec) == {"/tmp": {"emptyDir": {"sizeLimit": "64Mi"}}}
    assert "fsGroup" not in spec["securityContext"]


@pytest.mark.parametrize("values", [{"telemetry": "file:/data/events"}, {"recommendations": "file:/data/all.jsonl"}])
def test_files_get_a_volume_that_the_operator_may_write(values: dict[str, str]) -> None:
    spec = pod_spec(**values)
    assert mounts(spec)["/data"] == {"emptyDir": {}}
    assert spec["securityContext"]["fsGroup"] == spec["securityContext"]["runAsGroup"]


def test_the_volume_may_be_a_claim() -> None:
    spec = pod_spec(telemetry="file:/data/events", dataClaim="history")
    assert mounts(spec)["/data"] == {"persistentVolumeClaim": {"claimName": "history"}}


def test_the_image_is_the_charts_version_unless_given() -> None:
    assert operator()["image"] == "slackwater/operator:0.1.0"
    assert operator(image__tag="dev")["image"] == "slackwater/operator:dev"


def pod_spec(**values: str) -> Manifest:
    spec: Manifest = only(render(**values), "Deployment")["spec"]["template"]["spec"]
    return spec


def mounts(spec: Manifest) -> dict[str, Any]:
    """What is mounted in the container, by its path."""
    volumes = {v["name"]: {kind: v[kind] for kind in v if kind != "name"} for v in spec["volumes"]}
    (container,) = spec["containers"]
    return {mount["mountPath"]: volumes[mount["name"]] for mount in container["volumeMounts"]}


def operator(**values: str) -> dict[str, Any]:
    (container,) = pod_spec(**values)["containers"]
    return dict(container)


def environment(**values: str) -> dict[str, Any]:
    return {each["name"]: each.get("value", each.get("valueFrom")) for each in operator(**values)["env"]}
