"""From creation to deletion: what a group becomes, how it is scaled, what is said when something is missing."""

from __future__ import annotations

import time

import pytest

from sandbox import kafka as brokers
from sandbox.layout import Layout
from tests.e2e.stage.cluster import Cluster, Json, condition
from tests.e2e.stage.groups import connection, with_env
from tests.e2e.stage.kafka import Kafka
from tests.e2e.stage.progress import down_over_time, incarnations
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(3), pytest.mark.timeout(240)]

QUICK_SESSION = {"session": "6s", "heartbeat": "2s"}


@pytest.fixture(scope="module")
def living(stage: Stage) -> dict[str, Json]:
    """Groups of all kinds, made together; by name."""
    narrow, doomed = f"{stage.topic}-narrow", f"{stage.topic}-doomed"
    stage.kafka.make_topic(narrow, 1)
    stage.kafka.make_topic(doomed, 1)
    groups = [
        stage.group("scaled", timeouts=QUICK_SESSION),
        stage.group("retained", replicas=1),
        stage.group("discarded", replicas=1, deletionPolicy="DeleteGroup"),
        stage.group("topicless", doomed, replicas=1),
        stage.group("modern", replicas=2, protocol={"target": "Consumer"}),
        stage.group("edited", replicas=2),
        stage.group("restarted", replicas=2),
        stage.group("oversized", narrow, replicas=2),
    ]
    stage.create(*groups)
    stage.kafka.remove_topics(doomed)
    return {group["metadata"]["name"]: group for group in groups}


def uids(stage: Stage, group: str) -> dict[str, list[str]]:
    return incarnations(stage.recorder.records("pods"), group)


def test_creation(stage: Stage, living: dict[str, Json]) -> None:
    """Pods that are members under their own names, and all that goes with them."""
    status = stage.cluster.status("retained")
    assert (status["phase"], status["readyReplicas"]) == ("Ready", 1)
    assert status["selector"] == "slackwater.dev/group=retained"
    assert set(stage.kafka.look(stage.group_id("retained")).members) == {"retained-0"}
    for kind in ("statefulset", "service", "poddisruptionbudget"):
        assert stage.cluster.kubectl("get", kind, "retained", "-o", "name").strip()


def test_scaled_up_and_down_by_the_scale_subresource(stage: Stage, living: dict[str, Json]) -> None:
    before = uids(stage, "scaled")
    stage.cluster.kubectl("scale", "cg", "scaled", "--replicas=5")
    wait_members(stage, "scaled", 5)
    stage.cluster.wait_condition("scaled", "Ready", "True")
    stage.cluster.kubectl("scale", "cg", "scaled", "--replicas=2")
    wait_members(stage, "scaled", 2)
    stage.cluster.wait_phase("scaled", "Ready")
    assert stage.cluster.kubectl("get", "cg", "scaled", "-o", "jsonpath={.status.replicas}") == "2"
    after = uids(stage, "scaled")
    assert {name: after[name] for name in before} == before


def wait_members(stage: Stage, name: str, count: int) -> None:
    """Exactly the lowest ordinals, every partition owned."""
    wanted = {f"{name}-{ordinal}" for ordinal in range(count)}
    wait_for(f"{count} members", lambda: set(stage.kafka.look(stage.group_id(name)).members) == wanted)


def delete(cluster: Cluster, name: str) -> None:
    cluster.kubectl("delete", "cg", name, "--wait=false")
    wait_for(f"{name} to be gone", lambda: cluster.get("cg", name) is None, seen=lambda: cluster.get("cg", name))


def test_deletion_takes_the_members_out_and_leaves_the_offsets(stage: Stage, living: dict[str, Json]) -> None:
    """Their sessions would last 45 s: an empty group at once is the finalizer's doing (F10)."""
    group_id = stage.group_id("retained")
    wait_for("a commit", lambda: stage.kafka.committed(group_id))
    delete(stage.cluster, "retained")
    assert stage.cluster.pods("retained") == []
    gone = stage.kafka.look(group_id)
    assert (gone.state, gone.members) == ("EMPTY", {})
    assert stage.kafka.committed(group_id)


def test_deletion_policy_delete_group(stage: Stage, living: dict[str, Json]) -> None:
    delete(stage.cluster, "discarded")
    assert stage.kafka.look(stage.group_id("discarded")).state == "DEAD"


def test_deletion_after_the_topic(stage: Stage, living: dict[str, Json]) -> None:
    """Whoever cleans up does not think of an order."""
    delete(stage.cluster, "topicless")
    assert stage.kafka.look(stage.group_id("topicless")).members == {}


def test_a_group_of_the_consumer_protocol_rolls(stage: Stage, living: dict[str, Json]) -> None:
    stage.cluster.apply(with_env(living["modern"], VERSION="2"))
    stage.cluster.wait_complete("modern")
    assert {name: len(each) for name, each in uids(stage, "modern").items()} == {"modern-0": 2, "modern-1": 2}
    assert stage.cluster.status("modern")["group"]["type"] == "Consumer"


def test_more_members_than_partitions_is_a_warning(stage: Stage, living: dict[str, Json]) -> None:
    oversized = stage.cluster.condition("oversized", "Oversized")
    assert (oversized["status"], oversized["reason"]) == ("True", "MoreMembersThanPartitions")
    assert oversized["message"] == "2 members for 1 partition: 1 of them owns nothing"
    stage.cluster.apply(with_env(living["oversized"], VERSION="2"))
    stage.cluster.wait_complete("oversized")


@pytest.mark.parametrize(
    "edit",
    [
        {"template": {"spec": {"terminationGracePeriodSeconds": 1}}},
        {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}},
        {"replicas": 3},
    ],
    ids=["template", "partition", "replicas"],
)
def test_a_statefulset_edited_by_hand_is_put_right(stage: Stage, living: dict[str, Json], edit: Json) -> None:
    """No pod of the group moves for it."""
    pods = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in stage.cluster.pods("edited")}
    before = wait_for("a parked StatefulSet", lambda: parked(stage.cluster, "edited"))
    stage.cluster.patch("statefulset", "edited", {"spec": edit})

    def put_right() -> bool:
        found = parked(stage.cluster, "edited")
        later = found is not None and found["metadata"]["generation"] > before["metadata"]["generation"] + 1
        return bool(later and found and found["spec"] == before["spec"])

    wait_for("the edit to be undone", put_right, seen=lambda: stage.cluster.get("statefulset", "edited"))

    def are_the_same() -> bool:
        return pods == {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in stage.cluster.pods("edited")}

    wait_for("the same pods as before, and no other", are_the_same)
    assert {name: uids(stage, "edited")[name] for name in pods} == {name: [uid] for name, uid in pods.items()}


def parked(cluster: Cluster, name: str) -> Json | None:
    """The StatefulSet, where it holds every pod and its controller has read the last change."""
    obj = cluster.get("statefulset", name) or {}
    seen = obj["status"].get("observedGeneration") == obj["metadata"]["generation"]
    update = obj["spec"]["updateStrategy"].get("rollingUpdate") or {}
    return obj if seen and update.get("partition") == obj["spec"]["replicas"] else None


def test_kubectl_rollout_restart_goes_through_the_gates(stage: Stage, living: dict[str, Json]) -> None:
    """Its annotation is nobody's mistake: the pods follow, but one at a time and while the group is calm."""
    began = time.time()
    stage.cluster.kubectl("rollout", "restart", "statefulset/restarted")
    wait_for("every pod again", lambda: {len(each) for each in uids(stage, "restarted").values()} == {2})
    stage.cluster.wait_complete("restarted")
    down = down_over_time(stage.recorder.records("pods"), "restarted", 2)
    assert {len(names) for at, names in down if at >= began} == {0, 1}
    wait_for("Events of both restarts", lambda: told(stage, "restarted").count("RestartingPod") == 2)


def told(stage: Stage, name: str) -> list[str]:
    return [event["reason"] for event in stage.cluster.events(name)]


def test_a_missing_connection_is_waited_for(stage: Stage) -> None:
    stage.cluster.apply(stage.group("early", replicas=1, connectionRef={"name": "later"}))
    degraded = stage.cluster.wait_condition("early", "Degraded", "True", "ConnectionMissing")
    assert "KafkaConnection later" in degraded["message"]
    assert stage.cluster.get("statefulset", "early") is None
    stage.cluster.apply(connection(stage.kafka.bootstrap_servers, "later"))
    stage.cluster.wait_complete("early")
    stage.cluster.wait_condition("early", "Degraded", "False")


def test_a_template_that_kubernetes_refuses_is_said_to_be(stage: Stage) -> None:
    group = stage.group("unfit", replicas=1)
    group["spec"]["template"]["spec"]["dnsPolicy"] = "Nonsense"
    stage.cluster.apply(group)
    refused = stage.cluster.wait_condition("unfit", "Degraded", "True")
    assert "dnsPolicy" in refused["message"]
    stage.cluster.apply(stage.group("unfit", replicas=1))
    stage.cluster.wait_complete("unfit")
    stage.cluster.wait_condition("unfit", "Degraded", "False")


def test_a_secured_connection_with_a_wrong_password_is_said_and_mended(stage: Stage, kafka: Kafka) -> None:
    """SCRAM-SHA-512 within TLS, for the operator and for the consumers. No watch tells of a corrected Secret (F27)."""
    known = brokers.credentials(Layout.from_environment())
    servers = kafka.bootstrap_servers.replace(str(brokers.PLAINTEXT_PORT), str(brokers.SASL_SSL_PORT))
    stage.cluster.apply(
        secret("ca", {"ca.crt": known.ca.read_text()}),
        secret("login", {"username": known.user, "password": known.password}),
        secret("operator-login", {"username": known.user, "password": "mistyped"}),
        connection(
            servers,
            "secured",
            tls={"caSecretRef": {"name": "ca"}},
            authentication={"type": "ScramSha512", "secretRef": {"name": "operator-login"}},
        ),
        secured_consumers(stage.group("secured", replicas=1, connectionRef={"name": "secured"})),
    )
    refused = stage.cluster.wait_condition("secured", "Degraded", "True", "ConnectionInvalid")
    assert "refused the credentials" in refused["message"]
    assert "mistyped" not in refused["message"]
    wait_for("the connection to say so", lambda: ready(stage, "secured") == ("False", "ConnectionInvalid"))
    stage.cluster.apply(secret("operator-login", {"username": known.user, "password": known.password}))
    stage.cluster.wait_complete("secured")
    assert set(kafka.look(stage.group_id("secured")).members) == {"secured-0"}
    wait_for("the connection to be Ready", lambda: ready(stage, "secured") == ("True", "Connected"))


def ready(stage: Stage, connection_name: str) -> tuple[str, str]:
    found = condition(stage.cluster.get("kafkaconnection", connection_name) or {}, "Ready")
    return found.get("status", ""), found.get("reason", "")


def secret(name: str, data: dict[str, str]) -> Json:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}


def secured_consumers(group: Json) -> Json:
    """What the consumers need to log in is their template's business."""
    changed = with_env(
        group,
        KAFKA_SECURITY_PROTOCOL="SASL_SSL",
        KAFKA_SASL_MECHANISM="SCRAM-SHA-512",
        KAFKA_SASL_USERNAME={"secretKeyRef": {"name": "login", "key": "username"}},
        KAFKA_SASL_PASSWORD={"secretKeyRef": {"name": "login", "key": "password"}},
        KAFKA_SSL_CA_LOCATION="/ca/ca.crt",
    )
    pod = changed["spec"]["template"]["spec"]
    pod["containers"][0]["volumeMounts"] = [*pod["containers"][0]["volumeMounts"], {"name": "ca", "mountPath": "/ca"}]
    pod["volumes"] = [*pod["volumes"], {"name": "ca", "secret": {"secretName": "ca"}}]
    return changed
