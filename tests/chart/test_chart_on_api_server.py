"""A real API server takes the chart, and grants the operator just what it needs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from tests.chart.helm import CHART, helm, only, render, settings

pytestmark = pytest.mark.e2e

OF_WHAT_IS_THERE = ("--take-ownership", "--force-conflicts")
"""The types may have come by another way, or with another version: as the chart's README says."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A release in a namespace of its own, in which only restricted pods may run."""

    kubeconfig: Path
    name: str  # of the release, its namespace and its service account

    def kubectl(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        command = ["kubectl", f"--kubeconfig={self.kubeconfig}", *arguments]
        return subprocess.run(command, input=given, capture_output=True, text=True, timeout=60, check=False)

    def operator_may(self, verb: str, resource: str, namespace: str) -> bool:
        account = f"system:serviceaccount:{self.name}:{self.name}"
        kind, _, part = resource.partition("/")
        # kubectl takes what stands after the slash for an object's name.
        what = (kind, f"--subresource={part}") if part in ("status", "exec") else (resource,)
        done = self.kubectl("auth", "can-i", verb, *what, f"--namespace={namespace}", f"--as={account}")
        return done.stdout.strip() == "yes"


@pytest.fixture(scope="module")
def installed(kubeconfig: Path) -> Iterator[Installed]:
    """Without pods: what runs in them is the business of other tests."""
    release = Installed(kubeconfig, f"slackwater-{uuid4().hex[:8]}")
    restricted = "pod-security.kubernetes.io/enforce=restricted"
    assert release.kubectl("create", "namespace", release.name).returncode == 0
    assert release.kubectl("label", "namespace", release.name, restricted).returncode == 0
    values = settings(
        {
            "watchNamespaces": f"{{{release.name}}}",
            "secretNames": "{kafka}",
            "nodeSelector.slackwater": "nowhere",
        }
    )
    try:
        words = ("install", release.name, str(CHART), f"--namespace={release.name}", *values)
        helm(*words, *OF_WHAT_IS_THERE, kubeconfig=kubeconfig)
        yield release
        helm("uninstall", release.name, f"--namespace={release.name}", "--wait=hookOnly", kubeconfig=kubeconfig)
    finally:
        release.kubectl("delete", "namespace", release.name, "--wait=false")


def test_the_crds_are_there(installed: Installed) -> None:
    served = installed.kubectl("api-resources", "--api-group=slackwater.dev", "-o", "name").stdout.split()
    assert sorted(served) == [
        "clusterkafkaconnections.slackwater.dev",
        "consumerfleets.slackwater.dev",
        "consumergroups.slackwater.dev",
        "fleetcampaigns.slackwater.dev",
        "kafkaconnections.slackwater.dev",
    ]


def test_an_upgrade_and_a_rollback_leave_the_lease_to_who_holds_it(installed: Installed) -> None:
    name, namespace = installed.name, f"--namespace={installed.name}"
    held = {"holderIdentity": "somebody", "leaseDurationSeconds": 15, "leaseTransitions": 3}
    patch = ("patch", "lease", f"{name}-leader", namespace, "--type=merge", "-p", json.dumps({"spec": held}))
    assert installed.kubectl(*patch).returncode == 0
    upgrade = ("upgrade", name, str(CHART), namespace, "--reuse-values", "--set=leaseSeconds=20")
    for words in (upgrade, ("rollback", name, "1", namespace)):
        helm(*words, kubeconfig=installed.kubeconfig)
        found = installed.kubectl("get", "lease", f"{name}-leader", namespace, "-o", "json").stdout
        assert json.loads(found)["spec"] == held


def test_the_restricted_standard_admits_the_pod(installed: Installed) -> None:
    template = only(render(), "Deployment")["spec"]["template"]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "as-in-the-chart"}, "spec": template["spec"]}
    pod["spec"]["serviceAccountName"] = installed.name
    words = ("create", "--dry-run=server", f"--namespace={installed.name}", "-f", "-")
    assert installed.kubectl(*words, given=json.dumps(pod)).stderr == ""


@pytest.mark.parametrize(
    ("verb", "resource"),
    [
        ("patch", "consumergroups.slackwater.dev/status"),
        ("watch", "consumerfleets.slackwater.dev"),
        ("patch", "consumerfleets.slackwater.dev/status"),
        ("patch", "statefulsets.apps"),
        ("delete", "pods"),
        ("get", "secrets/kafka"),
        ("create", "events"),
        ("get", "leases.coordination.k8s.io/LEADER"),
        ("patch", "leases.coordination.k8s.io/LEADER"),
    ],
)
def test_the_operator_may_do_its_work(installed: Installed, verb: str, resource: str) -> None:
    assert installed.operator_may(verb, resource.replace("LEADER", f"{installed.name}-leader"), installed.name)


@pytest.mark.parametrize(
    ("verb", "resource"),
    [
        ("get", "secrets"),
        ("get", "secrets/another"),
        ("get", "leases.coordination.k8s.io/another"),
        ("create", "leases.coordination.k8s.io"),
        ("list", "secrets"),
        ("watch", "secrets"),
        ("create", "pods"),
        ("create", "pods/exec"),
        ("delete", "consumergroups.slackwater.dev"),
        ("delete", "consumerfleets.slackwater.dev"),
        ("patch", "deployments.apps"),
        ("create", "rolebindings.rbac.authorization.k8s.io"),
    ],
)
def test_the_operator_may_do_no_more(installed: Installed, verb: str, resource: str) -> None:
    assert not installed.operator_may(verb, resource, installed.name)


def test_an_operator_of_one_namespace_may_do_nothing_in_another(installed: Installed) -> None:
    """But let go of the ConsumerGroups of a namespace that has taken its Role along."""
    for verb, resource in (
        ("list", "pods"),
        ("get", "statefulsets.apps"),
        ("list", "kafkaconnections.slackwater.dev"),
        ("delete", "consumergroups.slackwater.dev"),
    ):
        assert not installed.operator_may(verb, resource, "default"), (verb, resource)
    assert installed.operator_may("patch", "consumergroups.slackwater.dev", "default")
