"""The chart on an API server of its own, and all who write: people, GitOps, autoscalers and the operator."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.chart.helm import CHART, helm
from tests.e2e.stage.own_api_server import own_api_server
from tests.e2e.stage.waiting import wait_for

HOME: Final = "operations"
TEAM: Final = "team-a"
OPERATOR: Final = f"system:serviceaccount:{HOME}:slackwater"
FLEETS: Final = ("create,update,patch,get", "consumerfleets.slackwater.dev,fleetcampaigns.slackwater.dev")
PODS: Final = "you need the right to create StatefulSets in this namespace"
MEMORY: Final = "the status is the operator's memory"
NOT_OURS: Final = "the operator writes only what belongs to a ConsumerGroup"
WRITES_OURS: Final = ("create,update,patch,get", "consumergroups.slackwater.dev,kafkaconnections.slackwater.dev")
OURS: Final = ("consumergroups", "kafkaconnections", "consumerfleets", "fleetcampaigns")
PEOPLE: Final = {
    "tenant": [WRITES_OURS],
    "developer": [WRITES_OURS, ("create", "statefulsets.apps"), ("get", "secrets")],
    "reader-of-one": [WRITES_OURS, ("get", "secrets/kafka-login")],
    "administrator": [
        WRITES_OURS,
        FLEETS,
        ("get,update,patch", ",".join(f"{each}.slackwater.dev/status" for each in OURS)),
    ],
    "system:serviceaccount:argocd:argocd-controller": [
        (WRITES_OURS[0], ",".join(f"{each}.slackwater.dev" for each in OURS)),
        ("create", "statefulsets.apps"),
        ("get", "secrets"),
    ],
    "system:serviceaccount:team-a:deployer": [WRITES_OURS],
    "autoscaler": [
        ("get", "consumergroups.slackwater.dev"),
        ("get,update,patch", "consumergroups.slackwater.dev/scale"),
    ],
}
LOGIN: Final = {"tls": {}, "authentication": {"type": "ScramSha512", "secretRef": {"name": "kafka-login"}}}
AUTHORITY: Final = {"tls": {"caSecretRef": {"name": "kafka-ca"}}}


@dataclass(frozen=True, slots=True)
class Writes:
    """What one of them writes in the team's namespace, by impersonation."""

    kubeconfig: str

    def kubectl(self, *arguments: str, who: str = "", given: Any = None) -> subprocess.CompletedProcess[str]:
        namespace = (given or {}).get("metadata", {}).get("namespace", TEAM)
        command = ["kubectl", f"--kubeconfig={self.kubeconfig}", f"--namespace={namespace}", *arguments]
        command += [f"--as={who}"] if who else []
        text = None if given is None else json.dumps(given)
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)

    def refusal(self, who: str, *arguments: str, given: Any = None) -> str:
        """Why that was refused; empty where it was not."""
        done = self.kubectl(*arguments, who=who, given=given)
        return done.stderr if done.returncode else ""

    def apply(self, who: str, manifest: Any) -> str:
        return self.refusal(who, "apply", "--server-side", "--force-conflicts", "-f", "-", given=manifest)

    def apply_as_gitops(self, who: str, manifest: Any) -> str:
        """All of the object, as its own field manager: Argo CD and Flux do it so."""
        manager = ("--field-manager=argocd-controller", "--force-conflicts")
        return self.refusal(who, "apply", "--server-side", *manager, "-f", "-", given=manifest)

    def apply_status(self, who: str, whole: Any, status: Any) -> str:
        """As the operator does."""
        written = {each: whole[each] for each in ("apiVersion", "kind", "metadata")} | {"status": status}
        apply = ("apply", "--server-side", "--force-conflicts", "--subresource=status", "-f", "-")
        return self.refusal(who, *apply, given=written)

    def grant(self, namespace: str, who: str, rights: Any) -> None:
        for number, (verbs, resources) in enumerate(rights):
            name = f"{re.sub('[^a-z-]', '-', who)}-{number}"
            resource, _, only = resources.partition("/") if resources.startswith("secrets") else (resources, "", "")
            named = [f"--resource-name={only}"] if only else []
            role = ("create", "role", name, f"--verb={verbs}", f"--resource={resource}", *named)
            where = f"--namespace={namespace}"
            assert not self.refusal("", *role, where)
            assert not self.refusal("", "create", "rolebinding", name, f"--role={name}", f"--user={who}", where)


@contextmanager
def installed(folder: Path, namespaces: tuple[str, ...], *settings: str) -> Iterator[Writes]:
    """The chart in HOME, and everyone's rights in each of these namespaces; until its policies hold."""
    with own_api_server(folder) as server:
        found = Writes(str(server.kubeconfig))
        for namespace in (HOME, *namespaces):
            assert not found.refusal("", "create", "namespace", namespace)
        words = [f"--set={each}" for each in settings]
        helm("install", "slackwater", str(CHART), f"--namespace={HOME}", *words, kubeconfig=server.kubeconfig)
        for namespace in namespaces:
            for who, rights in PEOPLE.items():
                found.grant(namespace, who, rights)
        wait_for("the policies to hold", lambda: _hold(found), 30.0)
        yield found


def _hold(found: Writes) -> bool:
    """The one that was made last; a policy holds a moment after it was made."""
    probe = {"apiVersion": "slackwater.dev/v1alpha1", "kind": "ConsumerFleet", "metadata": {"name": "probe"}}
    assert not found.apply("", {**probe, "spec": {"selector": {}}})
    return MEMORY in found.apply_status("administrator", probe, {"observedGeneration": 1})
