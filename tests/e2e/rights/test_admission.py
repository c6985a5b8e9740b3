"""The operator lends its rights to nobody: the chart's admission policies, tried on an API server by all who write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.api.campaign_refusals import campaign
from tests.api.manifests import cluster_kafka_connection, consumer_fleet, consumer_group, kafka_connection
from tests.e2e.rights.admission import (
    AUTHORITY,
    HOME,
    LOGIN,
    MEMORY,
    NOT_OURS,
    OPERATOR,
    PODS,
    TEAM,
    Writes,
    installed,
)

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def writes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writes]:
    with installed(tmp_path_factory.mktemp("admission"), (TEAM,)) as found:
        yield found


def test_who_may_make_no_pods_makes_none_by_a_consumer_group(writes: Writes) -> None:
    assert PODS in writes.apply("tenant", consumer_group("mine"))
    assert writes.apply("developer", consumer_group("mine")) == ""
    assert PODS in writes.apply("tenant", consumer_group("mine", membersPerPod=2))


def test_commands_labels_and_the_number_of_pods_ask_for_no_such_right(writes: Writes) -> None:
    """An autoscaler scales, GitOps' labels and people's commands are annotations, the operator sets its finalizer."""
    assert writes.apply("developer", consumer_group("used")) == ""
    assert writes.refusal("tenant", "annotate", "cg", "used", "slackwater.dev/pause=holiday") == ""
    assert writes.refusal("tenant", "label", "cg", "used", "app=payments") == ""
    assert writes.refusal("autoscaler", "scale", "consumergroups.slackwater.dev", "used", "--replicas=4") == ""
    finalizer = {"metadata": {"finalizers": ["slackwater.dev/members"]}}
    assert writes.refusal(OPERATOR, "patch", "cg", "used", "--type=merge", "-p", json.dumps(finalizer)) == ""
    assert writes.refusal(OPERATOR, "patch", "cg", "used", "--type=merge", "-p", '{"metadata":{"finalizers":[]}}') == ""


GITOPS: Final = "system:serviceaccount:argocd:argocd-controller"
DEPLOYER: Final = "system:serviceaccount:team-a:deployer"
HPA: Final = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"
"""The controller's own account: Kubernetes' own role lets it update every `scale`."""
SCALES: Final = "/apis/slackwater.dev/v1alpha1/namespaces/team-a/consumergroups/{}/scale"


def test_a_gitops_controller_applies_whole_objects_again_and_again(writes: Writes) -> None:
    """With rights of its own to what it deploys; and it takes nothing from the operator, nor from an autoscaler."""
    whole = [consumer_group("synced"), kafka_connection("synced", **(LOGIN | AUTHORITY)), consumer_fleet("synced")]
    for manifest in [*whole, *whole]:
        assert writes.apply_as_gitops(GITOPS, manifest) == ""
    assert writes.apply_status(OPERATOR, whole[0], {"phase": "Ready"}) == ""
    changed = consumer_group("synced", topics=["orders", "refunds"])
    changed["metadata"]["labels"] = {"app.kubernetes.io/instance": "payments"}
    assert writes.apply_as_gitops(GITOPS, changed) == ""
    kept = json.loads(writes.kubectl("get", "cg", "synced", "-o", "json").stdout)
    assert (kept["spec"]["topics"], kept["status"]["phase"]) == (["orders", "refunds"], "Ready")


def test_a_deployer_without_these_rights_applies_what_is_there_and_changes_nothing(writes: Writes) -> None:
    """A whole apply of the same spec is no change of it, whoever holds the fields."""
    whole = [(consumer_group("deployed"), PODS), (kafka_connection("deployed", **LOGIN), "kafka-login")]
    for manifest, refused in whole:
        assert refused in writes.apply_as_gitops(DEPLOYER, manifest)
        assert writes.apply_as_gitops(GITOPS, manifest) == ""
        manifest["metadata"]["labels"] = {"app": "payments"}
        assert writes.apply_as_gitops(DEPLOYER, manifest) == ""
    assert PODS in writes.apply_as_gitops(DEPLOYER, consumer_group("deployed", topics=["others"]))
    elsewhere = kafka_connection("deployed", **(LOGIN | {"bootstrapServers": "attacker:9092"}))
    assert "kafka-login" in writes.apply_as_gitops(DEPLOYER, elsewhere)


def test_the_horizontal_pod_autoscaler_scales_by_the_subresource(writes: Writes) -> None:
    """It reads the Scale, and puts it back with another number; kubectl may patch instead."""
    assert writes.apply("developer", consumer_group("scaled")) == ""
    path = SCALES.format("scaled")
    scale = json.loads(writes.kubectl("get", "--raw", path, who=HPA).stdout)
    scale["spec"]["replicas"] = 7
    assert writes.refusal(HPA, "replace", "--raw", path, "-f", "-", given=scale) == ""
    assert writes.kubectl("get", "cg", "scaled", "-o", "jsonpath={.spec.replicas}").stdout == "7"
    stale = writes.refusal(HPA, "replace", "--raw", path, "-f", "-", given=scale)
    assert "the object has been modified" in stale, "it put what it had read before"
    scale = json.loads(writes.kubectl("get", "--raw", path, who=HPA).stdout)
    scale["spec"]["replicas"] = 2**31 - 1
    too_many = writes.refusal(HPA, "replace", "--raw", path, "-f", "-", given=scale)
    assert "set replicas to 10000 or less" in too_many
    assert "forbidden" in writes.refusal(HPA, "label", "cg", "scaled", "app=x")


def test_a_status_is_written_by_the_operator_and_by_who_may_everywhere(writes: Writes) -> None:
    """Who administers one namespace could claim another's group in Kafka by it."""
    assert writes.apply("developer", consumer_group("claims")) == ""
    assert writes.apply("developer", kafka_connection("connects")) == ""
    assert writes.apply("administrator", consumer_fleet("bounds")) == ""
    assert writes.apply("administrator", campaign()) == ""
    claimed = {"rollout": {"claimed": {"clusterId": "A", "at": "1970-01-01T00:00:00Z"}}}
    seen = {"observedGeneration": 1}
    for whole, status in (
        (consumer_group("claims"), claimed),
        (kafka_connection("connects"), seen),
        (consumer_fleet("bounds"), seen),
        (campaign(), seen),
    ):
        assert MEMORY in writes.apply_status("administrator", whole, status)
        assert "forbidden" in writes.apply_status("tenant", whole, status)
        assert writes.apply_status(OPERATOR, whole, status) == ""
        assert writes.apply_status("", whole, status) == "", "who administers the cluster may restore a backup"
    told = writes.kubectl("get", "cg", "claims", "-o", "jsonpath={.status.rollout.claimed.clusterId}").stdout
    assert told == "A"


def test_the_status_of_a_cluster_connection_is_the_operators(writes: Writes) -> None:
    """No namespace has it, so that no right in one reaches it."""
    shared = cluster_kafka_connection("claimed")
    assert writes.apply("", shared) == ""
    for who in ("tenant", "administrator", GITOPS):
        assert "forbidden" in writes.apply_status(who, shared, {"observedGeneration": 1})
    assert writes.apply_status(OPERATOR, shared, {"observedGeneration": 1}) == ""


def test_who_may_not_read_a_secret_has_it_sent_nowhere(writes: Writes) -> None:
    assert writes.apply("tenant", kafka_connection("plain")) == ""
    refused = writes.apply("tenant", kafka_connection("theirs", **(LOGIN | AUTHORITY)))
    assert "you need the right to get kafka-login and kafka-ca" in refused
    assert writes.apply("reader-of-one", kafka_connection("theirs", **LOGIN)) == ""
    assert "kafka-login and kafka-ca" in writes.apply(
        "reader-of-one", kafka_connection("theirs", **(LOGIN | AUTHORITY))
    )
    assert writes.apply("developer", kafka_connection("theirs", **(LOGIN | AUTHORITY))) == ""
    elsewhere = {"spec": {"bootstrapServers": "attacker:9092"}}
    assert "kafka-login" in writes.refusal(
        "tenant", "patch", "kafkaconnection", "theirs", "--type=merge", "-p", json.dumps(elsewhere)
    )


def test_of_a_cluster_connection_the_secrets_are_the_operators(writes: Writes) -> None:
    """Who may make one, and read each Secret elsewhere, sends none of those beside the operator anywhere."""
    for verb, who in (("create,update,patch,get", "platform"), ("create,update,patch,get", "guest")):
        role = f"connections-{who}"
        resource = "--resource=clusterkafkaconnections.slackwater.dev"
        assert not writes.refusal("", "create", "clusterrole", role, f"--verb={verb}", resource)
        assert not writes.refusal("", "create", "clusterrolebinding", role, f"--clusterrole={role}", f"--user={who}")
    at_home, at_the_teams = ("platform", HOME), ("guest", TEAM)
    for who, namespace in (at_home, at_the_teams):
        named = ("--namespace", namespace)
        assert not writes.refusal("", "create", "role", "secrets", "--verb=get", "--resource=secrets", *named)
        assert not writes.refusal("", "create", "rolebinding", "secrets", "--role=secrets", f"--user={who}", *named)
    shared = cluster_kafka_connection("shared", **(LOGIN | AUTHORITY))
    refused = writes.apply("guest", shared)
    assert f"you need the right to get kafka-login and kafka-ca in namespace {HOME}" in refused
    assert writes.apply("platform", shared) == ""
    assert writes.apply("guest", cluster_kafka_connection("plain")) == ""


def owned_by(kind: str, name: str) -> dict[str, Any]:
    api = "slackwater.dev/v1alpha1" if kind == "ConsumerGroup" else "v1"
    return {"apiVersion": api, "kind": kind, "name": name, "uid": "0"}


def service(name: str, **metadata: Any) -> dict[str, Any]:
    spec = {"clusterIP": "None", "ports": [{"port": 1}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, **metadata}, "spec": spec}


def stateful_set(name: str, **metadata: Any) -> dict[str, Any]:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 0, "serviceName": name, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name, **metadata}, "spec": spec}


def budget(name: str, **metadata: Any) -> dict[str, Any]:
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": name}}}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }


def pod(name: str, **labels: str) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i"}]
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers}}


def test_the_operators_account_writes_only_what_belongs_to_a_consumer_group(writes: Writes) -> None:
    ours = {"ownerReferences": [owned_by("ConsumerGroup", "used")]}
    assert writes.apply(OPERATOR, service("ours", **ours)) == ""
    assert NOT_OURS in writes.apply(OPERATOR, service("nobodys"))
    assert NOT_OURS in writes.apply(OPERATOR, service("anothers", ownerReferences=[owned_by("ConfigMap", "x")]))
    assert writes.apply("", stateful_set("theirs")) == ""
    assert NOT_OURS in writes.apply(OPERATOR, stateful_set("theirs", **ours)), "nor does it take over what is there"
    assert NOT_OURS in writes.refusal(OPERATOR, "delete", "statefulset", "theirs")
    assert writes.apply(OPERATOR, stateful_set("ours", **ours)) == ""
    assert writes.refusal(OPERATOR, "delete", "statefulset", "ours") == ""


def test_it_changes_no_spec_and_runs_nothing_of_kubernetes_own(writes: Writes) -> None:
    """Whoever has its token could run any image by a ConsumerGroup of others, or with a reference that is made up."""
    assert writes.apply("developer", consumer_group("others")) == ""
    image = {"spec": {"template": {"spec": {"containers": [{"name": "consumer", "image": "evil"}]}}}}
    refused = writes.refusal(OPERATOR, "patch", "cg", "others", "--type=merge", "-p", json.dumps(image))
    assert "the operator changes no ConsumerGroup's spec" in refused
    ours = {"ownerReferences": [owned_by("ConsumerGroup", "x")]}
    refused = writes.apply(OPERATOR, stateful_set("x", namespace="kube-system", **ours))
    assert "the operator runs nothing in a namespace of Kubernetes itself" in refused


def test_it_takes_up_again_what_was_given_back(writes: Writes) -> None:
    """`kubectl delete --cascade=orphan` takes the owner off; the label stays."""
    ours = {"ownerReferences": [owned_by("ConsumerGroup", "used")]}
    left, plain = {"labels": {"slackwater.dev/group": "left"}}, {"labels": {"app": "left"}}
    assert writes.apply("", budget("left", **left)) == ""
    assert writes.apply(OPERATOR, budget("left", **left, **ours)) == ""
    assert writes.apply("", budget("theirs", **plain)) == ""
    assert NOT_OURS in writes.apply(OPERATOR, budget("theirs", **plain, **ours))
    assert writes.apply("", stateful_set("left", **left)) == ""
    assert NOT_OURS in writes.apply(OPERATOR, stateful_set("left", **left, **ours)), "pods are adopted by people"


def test_it_deletes_pods_of_groups_and_no_others(writes: Writes) -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    assert writes.apply("", account) == ""  # its controller does not run here
    assert writes.apply("", pod("used-0", **{"slackwater.dev/group": "used"})) == ""
    assert writes.apply("", pod("database-0")) == ""
    assert NOT_OURS in writes.refusal(OPERATOR, "delete", "pod", "database-0", "--force", "--grace-period=0")
    assert writes.refusal(OPERATOR, "delete", "pod", "used-0", "--force", "--grace-period=0") == ""


def test_edit_and_view_take_our_types_up(writes: Writes) -> None:
    roles = json.loads(writes.kubectl("get", "clusterroles", "-o", "json").stdout)["items"]
    labels = {role["metadata"]["name"]: role["metadata"].get("labels") or {} for role in roles}
    prefix = "rbac.authorization.k8s.io/aggregate-to-"
    assert {f"{prefix}{each}" for each in ("view", "edit", "admin")} <= labels["slackwater-view"].keys()
    assert {f"{prefix}{each}" for each in ("edit", "admin")} <= labels["slackwater-edit"].keys()
    assert f"{prefix}view" not in labels["slackwater-edit"]
