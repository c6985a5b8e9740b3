"""A real API server takes the CRDs, and `kubectl apply` refuses by itself, with the sentence that the models give."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from slackwater.api.parsing import parse_consumer_fleet, parse_consumer_group, parse_kafka_connection
from tests.api.kubectl import Kubectl, Refused
from tests.api.manifests import ABSENT, Manifest, consumer_fleet, consumer_group, kafka_connection, template
from tests.api.refusal import Refusal
from tests.api.refusals import REFUSALS

pytestmark = pytest.mark.e2e

CRDS = Path(__file__).parents[2] / "crds"
EXAMPLES = Path(__file__).parents[2] / "examples"
COLUMNS = ["NAME", "DESIRED", "READY", "UPDATED", "MEMBERS", "STATE", "PROTOCOL", "LAG", "PHASE", "AGE"]
CANNOT_CHANGE = "a group's id cannot be changed, since its offsets would stay behind: put groupId back"


@pytest.fixture(scope="module")
def kubectl(kubeconfig: Path) -> Iterator[Kubectl]:
    """kubectl in a namespace of its own, on an API server that has the CRDs."""
    kubectl = Kubectl(kubeconfig, f"resources-{uuid4().hex[:8]}")
    kubectl.run("apply", "--server-side", "--force-conflicts", "-f", str(CRDS))
    kubectl.run("wait", "--for=condition=Established", "--timeout=30s", "-f", str(CRDS))
    kubectl.run("create", "namespace", kubectl.namespace)
    yield kubectl
    # No operator need be there to take its finalizer away, and nobody waits for the namespace to be gone.
    kubectl.run("delete", "namespace", kubectl.namespace, "--wait=false")


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.name)
def test_kubectl_apply_refuses_with_a_sentence(kubectl: Kubectl, refusal: Refusal) -> None:
    with pytest.raises(Refused) as refused:
        kubectl.apply(refusal.manifest)
    assert refusal.server_sentence in str(refused.value)
    assert refusal.path in str(refused.value)
    assert "evaluating rule" not in str(refused.value), "a rule must not stumble over what another rule refuses"


def test_one_mistake_is_one_complaint(kubectl: Kubectl) -> None:
    with pytest.raises(Refused) as refused:
        kubectl.apply(consumer_group(timeouts={"session": "45 seconds", "heartbeat": "3s"}))
    assert str(refused.value).count("Invalid value") == 1


@pytest.mark.parametrize(
    "manifest",
    [
        consumer_group(name="least"),
        consumer_group(name="own-assignor", template=template(env=("KAFKA_PARTITION_ASSIGNMENT_STRATEGY",))),
        consumer_group(name="consumer-protocol", protocol={"target": "Consumer"}, timeouts={"maxPollInterval": "30s"}),
        consumer_group(name="stopped", replicas=0, rollout={"maxLag": {"growth": 1000}}),
        consumer_group(name="tight", timeouts={"session": "6s", "heartbeat": "2s", "maxPollInterval": "6s"}),
        consumer_group(
            name="kept-by-the-broker",
            protocol={"target": "Consumer"},
            timeouts={"consumer": {"session": "45s", "heartbeat": "15s"}},
        ),
        consumer_group(name="kept-later", timeouts={"session": "6s", "consumer": {"heartbeat": "1h"}}),
        consumer_group(
            name="streams",
            client={"library": "KafkaStreams", "version": "3.9.1"},
            protocol={"target": "Cooperative", "upgradeFrom": "2.3"},
        ),
        consumer_group(
            name="own-upgrade",
            client={"library": "KafkaStreams"},
            template=template(env=("KAFKA_UPGRADE_FROM",)),
        ),
        consumer_group(
            name="profiles",
            client={"library": "Other"},
            protocol={
                "target": "Consumer",
                "profiles": {
                    "Eager": {"partition.assignment.strategy": "range", "session.timeout.ms": "10000"},
                    "EagerAndCooperative": {"partition.assignment.strategy": "range,cooperative-sticky"},
                    "Cooperative": {"partition.assignment.strategy": "cooperative-sticky"},
                    "Consumer": {"group.protocol": "consumer", "group.remote.assignor": ""},
                },
            },
        ),
        consumer_group(
            name="profiles-at-length",
            client={"library": "Other"},
            protocol={"profiles": {"Eager": {f"setting.{number}": "x" * 1024 for number in range(16)}}},
        ),
        consumer_group(name="shares", rollout={"canary": [{"percent": 10, "hold": "5m"}, {"percent": 50}]}),
        consumer_group(name="several", rollout={"maxUnavailable": 3}),
        consumer_group(name="a-share", rollout={"maxUnavailable": "30%"}),
        consumer_group(
            name="canaries", rollout={"canary": [{"replicas": 1}, {"replicas": 3, "hold": "5m"}], "stableFor": "0s"}
        ),
    ],
    ids=lambda manifest: manifest["metadata"]["name"],
)
def test_the_api_server_fills_in_what_the_model_would(kubectl: Kubectl, manifest: Manifest) -> None:
    kubectl.apply(manifest)
    stored = kubectl.read("consumergroup", manifest["metadata"]["name"])
    assert parse_consumer_group(stored).spec == parse_consumer_group(manifest).spec


def test_a_connection_is_filled_in_as_well(kubectl: Kubectl) -> None:
    manifest = kafka_connection(
        tls={"caSecretRef": {"name": "ca"}}, authentication={"type": "ScramSha512", "secretRef": {"name": "login"}}
    )
    kubectl.apply(manifest)
    assert parse_kafka_connection(kubectl.read("kc", "main")).spec == parse_kafka_connection(manifest).spec


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {
            "budgets": [
                {"name": "all", "max": "10%"},
                {"name": "apart", "per": "Label", "label": "example.com/tier", "max": 10_000, "spacing": "1h"},
                {"name": "upgrades", "reasons": ["ProtocolUpgrade"], "max": 2, "outside": "nights"},
            ],
            "timeZone": "Europe/Berlin",
            "windows": [{"name": "nights", "schedule": "*/5 1,2 * JAN MON-FRI/2", "duration": "168h"}],
            "freezes": [
                {"name": "once", "from": "2026-11-26T00:00", "to": "2026-12-01T00:00"},
                {"name": "again", "schedule": "0 0 1 * *", "duration": "24h"},
            ],
            "halt": {"failures": 0, "disturbed": "100%"},
            "override": {"until": "2026-11-24T18:00", "reason": "INC-4711"},
            "order": [{"selector": {"matchLabels": {"tier": "0"}}, "headStart": "24h"}],
            "settleFor": "24h",
        },
    ],
    ids=["least", "much"],
)
def test_a_fleet_is_filled_in_as_well(kubectl: Kubectl, spec: Manifest) -> None:
    manifest = consumer_fleet(**spec)
    kubectl.apply(manifest)
    assert parse_consumer_fleet(kubectl.read("fleet", "platform")).spec == parse_consumer_fleet(manifest).spec


def test_the_template_is_stored_as_it_was_written(kubectl: Kubectl) -> None:
    written = template(env=("LOG_LEVEL",), tolerations=[{"key": "spot"}], terminationGracePeriodSeconds=5)
    kubectl.apply(consumer_group(name="template", template=written))
    assert kubectl.read("cg", "template")["spec"]["template"] == written


@pytest.mark.parametrize(
    ("before", "after"),
    [("payments", "refunds"), (ABSENT, "refunds"), ("payments", ABSENT)],
    ids=["changed", "set where it was the name", "taken away where it was not the name"],
)
def test_the_group_id_cannot_change(kubectl: Kubectl, before: object, after: object) -> None:
    name = f"id-{uuid4().hex[:8]}"
    kubectl.apply(consumer_group(name=name, groupId=before))
    with pytest.raises(Refused, match=CANNOT_CHANGE):
        kubectl.apply(consumer_group(name=name, groupId=after))


def test_the_group_id_may_be_spelled_out(kubectl: Kubectl) -> None:
    kubectl.apply(consumer_group(name="spelled-out"))
    kubectl.apply(consumer_group(name="spelled-out", groupId="spelled-out"))
    kubectl.apply(consumer_group(name="spelled-out", replicas=2))
    assert "groupId" not in kubectl.read("cg", "spelled-out")["spec"]


def test_kubectl_scale_works(kubectl: Kubectl) -> None:
    kubectl.apply(consumer_group(name="scaled"))
    kubectl.run("scale", "cg/scaled", "--replicas=4")
    assert kubectl.read("cg", "scaled")["spec"]["replicas"] == 4


def test_kubectl_get_shows_the_group_at_a_glance(kubectl: Kubectl) -> None:
    kubectl.apply(consumer_group(name="shown", replicas=6))
    status = (
        '{"status": {"phase": "Rolling", "replicas": 6, "readyReplicas": 5, "updatedReplicas": 2,'
        ' "group": {"state": "Stable", "members": 6, "lag": 17, "new": "is kept"}, "protocol": {"current": "Eager"}}}'
    )
    kubectl.run("patch", "cg", "shown", "--subresource=status", "--type=merge", "--patch", status)
    heading, row = kubectl.run("get", "cg", "shown").splitlines()
    assert heading.split() == COLUMNS
    assert row.split()[:9] == ["shown", "6", "5", "2", "6", "Stable", "Eager", "17", "Rolling"]
    assert kubectl.read("cg", "shown")["status"]["group"]["new"] == "is kept"


def test_kubectl_get_wide_shows_how_far_an_upgrade_is(kubectl: Kubectl) -> None:
    kubectl.apply(consumer_group(name="upgrading"))
    protocol = (
        '{"current": "EagerAndCooperative", "from": "Eager", "to": "Cooperative", "target": "Cooperative",'
        ' "strategy": "TwoBounce", "step": "1 of 2", "waitingFor": "pod upgrading-0"}'
    )
    upgrade = (
        '{"from": "Eager", "to": "Cooperative", "strategy": "TwoBounce", "path": ["Cooperative"], "step": 1,'
        ' "new": "is kept"}'
    )
    status = f'{{"status": {{"protocol": {protocol}, "rollout": {{"upgrade": {upgrade}}}}}}}'
    kubectl.run("patch", "cg", "upgrading", "--subresource=status", "--type=merge", "--patch", status)
    heading, row = kubectl.run("get", "cg", "upgrading", "-o", "wide").splitlines()
    assert heading.split() == [*COLUMNS, "GROUP", "CONNECTION", "STRATEGY", "STEP", "MESSAGE"]
    assert "TwoBounce" in row
    assert "1 of 2" in row
    stored = kubectl.read("cg", "upgrading")["status"]
    assert stored["protocol"] == json.loads(protocol)
    assert stored["rollout"]["upgrade"] == json.loads(upgrade)


def test_a_campaign_remembers_waves_that_say_little(kubectl: Kubectl) -> None:
    """Its plan leaves out what is as if not given, as a soak of nothing."""
    spec = {"fleetRef": {"name": "platform"}, "action": {"restart": {}}}
    metadata = {"name": "waves"}
    kubectl.apply(
        {"apiVersion": "slackwater.dev/v1alpha1", "kind": "FleetCampaign", "metadata": metadata, "spec": spec}
    )
    plan = [{"name": "canary", "size": 1, "soak": "5s"}, {"name": "rest"}]
    status = json.dumps({"status": {"plan": plan}})
    kubectl.run("patch", "fleetcampaign", "waves", "--subresource=status", "--type=merge", "--patch", status)
    assert kubectl.read("fleetcampaign", "waves")["status"]["plan"] == plan


def test_the_status_is_not_written_with_the_spec(kubectl: Kubectl) -> None:
    kubectl.apply(consumer_group(name="no-status") | {"status": {"phase": "Invented"}})
    assert "status" not in kubectl.read("cg", "no-status")


def test_kubectl_explain_says_what_a_field_is(kubectl: Kubectl) -> None:
    assert "calm this long before each step" in kubectl.run("explain", "cg.spec.rollout.stableFor")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.name)
def test_the_examples_are_taken(kubectl: Kubectl, path: Path) -> None:
    kubectl.run("apply", "--dry-run=server", "-f", str(path))
