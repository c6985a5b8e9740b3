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
    "apps/statefulsets": {"get", "list", "watch", "create", "patch", "delete"},
    "apps/controllerrevisions": {"get"},
    "policy/poddisruptionbudgets": {"list", "watch", "create", "patch"},
    "/services": {"list", "watch", "create", "patch"},
    "/pods": {"get", "list", "watch", "delete"},
    "/secrets": {"get"},
    "/events": {"create"},
}
ROLES = {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}


def test_the_rights_are_these() -> None:
    assert rights(only(render(), "ClusterRole")) == RIGHTS


def test_they_are_the_same_for_one_namespace() -> None:
    assert rights(only(render(watchNamespace="team-a"), "Role")) == RIGHTS


def test_no_right_is_a_wildcard() -> None:
    words = {word for rule in only(render(), "ClusterRole")["rules"] for words in rule.values() for word in words}
    assert not [word for word in words if "*" in word]


def test_watching_all_namespaces_takes_a_cluster_role() -> None:
    assert roles(render()) == {("ClusterRole", None), ("ClusterRoleBinding", None)}


def test_watching_one_namespace_takes_nothing_outside_it() -> None:
    assert roles(render(watchNamespace="team-a")) == {("Role", "team-a"), ("RoleBinding", "team-a")}


@pytest.mark.parametrize(("namespace", "scope"), [("", "Cluster"), ("team-a", "")])
def test_they_are_bound_to_the_operator_alone(namespace: str, scope: str) -> None:
    manifests = render(watchNamespace=namespace)
    binding = only(manifests, f"{scope}RoleBinding")
    assert binding["roleRef"]["kind"] == f"{scope}Role"
    assert binding["roleRef"]["name"] == only(manifests, f"{scope}Role")["metadata"]["name"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": RELEASE, "namespace": NAMESPACE}]
    assert only(manifests, "Deployment")["spec"]["template"]["spec"]["serviceAccountName"] == RELEASE


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
