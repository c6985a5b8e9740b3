"""The operator may do what it does, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.chart.helm import NAMESPACE, RELEASE, Manifest, only, render

pytestmark = pytest.mark.e2e  # Helm is built by the sandbox

RIGHTS = {
    "slackwater.dev/consumergroups": {"get", "list", "watch", "patch"},
    "slackwater.dev/consumergroups/status": {"patch"},
    "slackwater.dev/consumergroups/finalizers": {"update"},
    "slackwater.dev/kafkaconnections": {"get", "list", "watch"},
    "slackwater.dev/kafkaconnections/status": {"patch"},
    "slackwater.dev/consumerfleets": {"list", "watch"},
    "slackwater.dev/consumerfleets/status": {"patch"},
    "slackwater.dev/fleetcampaigns": {"list", "watch"},
    "slackwater.dev/fleetcampaigns/status": {"patch"},
    "apps/statefulsets": {"get", "list", "watch", "create", "patch", "delete"},
    "apps/controllerrevisions": {"get"},
    "policy/poddisruptionbudgets": {"list", "watch", "create", "patch", "delete"},
    "/services": {"list", "watch", "create", "patch"},
    "/pods": {"get", "list", "watch", "delete"},
    "/pods/status": {"patch"},
    "/events": {"create", "list"},
}
EVERYWHERE = {
    "slackwater.dev/clusterkafkaconnections": {"get", "list", "watch"},
    "slackwater.dev/clusterkafkaconnections/status": {"patch"},
}
"""What no namespace holds, and only the operator of all namespaces uses."""
LEADER = {("Role", NAMESPACE), ("RoleBinding", NAMESPACE)}
ROLES = {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}


FOR_PEOPLE = ("slackwater-view", "slackwater-edit")


def operators(**values: str) -> list[Manifest]:
    """Without the roles that Kubernetes' own take up for people (tests/e2e/rights/test_admission.py)."""
    return [each for each in render(**values) if each["metadata"]["name"] not in FOR_PEOPLE]


def test_the_rights_are_these() -> None:
    assert rights(only(operators(), "ClusterRole")) == RIGHTS | EVERYWHERE


def test_they_are_the_same_for_one_namespace() -> None:
    assert rights(only(operators(watchNamespaces="{team-a}"), "Role", RELEASE)) == RIGHTS


def test_in_its_own_namespace_it_reads_fleets_and_campaigns_for_all_of_them_and_nothing_else() -> None:
    of_fleets = ("/consumerfleets", "/fleetcampaigns")
    fleets = {resource: verbs for resource, verbs in RIGHTS.items() if any(kind in resource for kind in of_fleets)}
    role = only(operators(watchNamespaces="{team-a}"), "Role", f"{RELEASE}-fleets")
    assert role["metadata"]["namespace"] == NAMESPACE
    assert rights(role) == fleets
    watched = operators(watchNamespaces=f"{{team-a,{NAMESPACE}}}")
    assert f"{RELEASE}-fleets" not in [each["metadata"]["name"] for each in watched], "it has them there already"


def test_who_asks_for_tokens_may_ask_and_nothing_else() -> None:
    manifests = operators(metrics__readers="Authorized")
    name = f"{RELEASE}-{NAMESPACE}-metrics"
    assert rights(only(manifests, "ClusterRole", name)) == {
        "authentication.k8s.io/tokenreviews": {"create"},
        "authorization.k8s.io/subjectaccessreviews": {"create"},
    }
    reader = only(manifests, "ClusterRole", f"{name}-reader")
    assert reader["rules"] == [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
    bound = [each["roleRef"]["name"] for each in manifests if each["kind"] == "ClusterRoleBinding"]
    assert name in bound
    assert f"{name}-reader" not in bound


def test_no_right_is_a_wildcard() -> None:
    roles = [each for each in operators(anySecret="true") if each["kind"] in ("Role", "ClusterRole")]
    words = {word for role in roles for rule in role["rules"] for words in rule.values() for word in words}
    assert len(roles) == 2
    assert not [word for word in words if "*" in word]


def test_watching_all_namespaces_takes_a_cluster_role() -> None:
    assert roles(operators()) == {("ClusterRole", None), ("ClusterRoleBinding", None), *LEADER}


def test_watching_some_namespaces_takes_finalizers_outside_them_and_nothing_else() -> None:
    watched = {(kind, namespace) for kind in ("Role", "RoleBinding") for namespace in ("team-a", "team-b")}
    manifests = operators(watchNamespaces="{team-a,team-b}")
    assert roles(manifests) == watched | LEADER | {("ClusterRole", None), ("ClusterRoleBinding", None)}
    assert rights(only(manifests, "ClusterRole")) == {"slackwater.dev/consumergroups": {"get", "list", "patch"}}
    assert NAMESPACE in only(manifests, "ClusterRole")["metadata"]["name"], "another release may have the same name"
    assert roles(operators(watchNamespaces="{team-a,team-b}", finalizersEverywhere="false")) == watched | LEADER


def test_no_secret_is_read_unless_it_is_named() -> None:
    (rule,) = secret_rules(secretNames="{kafka,kafka-ca}")
    assert (rule["verbs"], rule["resourceNames"]) == (["get"], ["kafka", "kafka-ca"])


def test_any_secret_may_be_read_by_name_where_somebody_says_so() -> None:
    assert secret_rules(anySecret="true") == [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]


def test_there_is_one_lease_for_which_nothing_has_to_be_created() -> None:
    manifests = operators()
    lease, role = only(manifests, "Lease"), only(manifests, "Role")
    assert role["rules"] == [
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "resourceNames": [lease["metadata"]["name"]],
            "verbs": ["get", "patch"],
        }
    ]
    assert role["metadata"]["namespace"] == lease["metadata"]["namespace"] == NAMESPACE
    assert "spec" not in lease, "an upgrade would take it from who holds it"


@pytest.mark.parametrize(("values", "scope"), [({}, "Cluster"), ({"watchNamespaces": "{team-a}"}, "")])
def test_they_are_bound_to_the_operator_alone(values: dict[str, str], scope: str) -> None:
    manifests = operators(**values)
    binding = only(manifests, f"{scope}RoleBinding", RELEASE)
    assert binding["roleRef"]["kind"] == f"{scope}Role"
    assert binding["roleRef"]["name"] == only(manifests, f"{scope}Role", RELEASE)["metadata"]["name"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": RELEASE, "namespace": NAMESPACE}]
    assert only(manifests, "Deployment")["spec"]["template"]["spec"]["serviceAccountName"] == RELEASE


def secret_rules(**values: str) -> list[Manifest]:
    return [rule for rule in only(operators(**values), "ClusterRole")["rules"] if "secrets" in rule["resources"]]


def rights(role: Manifest) -> dict[str, set[str]]:
    """Each resource, with its API group before it, and what may be done to it. A resource in two rules is a mistake."""
    pairs: list[tuple[str, Any]] = [
        (f"{group}/{resource}", set(rule["verbs"]))
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    ]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def roles(manifests: list[Manifest]) -> set[tuple[str, str | None]]:
    return {(m["kind"], m["metadata"].get("namespace")) for m in manifests if m["kind"] in ROLES}
