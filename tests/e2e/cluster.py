"""The cluster as the tests see it: plain objects, read and written by the kubernetes package's REST client."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.waiting import wait_for

Json = dict[str, Any]


@dataclass(frozen=True)
class Cluster:
    kubeconfig: Path
    namespace: str

    def kubectl(self, *arguments: str, stdin: str | None = None, check: bool = True) -> str:
        command = ["kubectl", f"--kubeconfig={self.kubeconfig}", f"--namespace={self.namespace}", *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0 or not check, f"kubectl {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    def apply(self, *objects: Mapping[str, Any]) -> None:
        self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def get(self, kind: str, name: str) -> Json | None:
        text = self.kubectl("get", kind, name, "-o", "json", "--ignore-not-found")
        return json.loads(text) if text else None

    def pods(self, group: str) -> list[Json]:
        """By name; without those that are on their way out."""
        found = json.loads(self.kubectl("get", "pods", "-l", f"slackwater.dev/group={group}", "-o", "json"))["items"]
        alive = [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]
        return sorted(alive, key=lambda pod: str(pod["metadata"]["name"]))

    def events(self, name: str) -> list[Json]:
        found = json.loads(self.kubectl("get", "events", "-o", "json"))["items"]
        return [event for event in found if event["involvedObject"]["name"] == name]

    def status(self, group: str) -> Json:
        return (self.get("cg", group) or {}).get("status", {})

    def condition(self, group: str, kind: str) -> Json:
        found = (c for c in self.status(group).get("conditions", ()) if c["type"] == kind)
        return next(found, {})

    def patch(self, kind: str, name: str, change: Mapping[str, Any]) -> None:
        self.kubectl("patch", kind, name, "--type=merge", "-p", json.dumps(change))

    def annotate(self, group: str, name: str, value: str | None) -> None:
        self.kubectl("annotate", "--overwrite", "cg", group, f"slackwater.dev/{name}" + (f"={value}" if value is not None else "-"))

    def wait_complete(self, group: str, deadline_s: float = 180.0) -> None:
        """Until the operator has seen the newest spec, and every pod runs it."""
        wait_for(f"the rollout of {group}", lambda: self._is_complete(group), deadline_s, lambda: self.summary(group))

    def _is_complete(self, group: str) -> bool:
        obj = self.get("cg", group)
        status = (obj or {}).get("status", {})
        return (
            obj is not None
            and status.get("observedGeneration") == obj["metadata"]["generation"]
            and status.get("rollout", {}).get("phase") == "Complete"
            and status.get("updatedReplicas") == obj["spec"]["replicas"]
            and status.get("readyReplicas") == obj["spec"]["replicas"]
        )

    def summary(self, group: str) -> str:
        status = self.status(group)
        gated = self.condition(group, "RolloutGated")
        pods = [(p["metadata"]["name"], p["status"].get("phase")) for p in self.pods(group)]
        return f"phase {status.get('phase')}, {gated.get('reason')}: {gated.get('message')}, rollout {status.get('rollout')}, pods {pods}"
