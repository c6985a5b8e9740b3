"""The cluster as the tests see it: a namespace, read by the API, changed by kubectl as a person would."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.e2e.stage.api import Api
from tests.e2e.stage.waiting import wait_for

Json = dict[str, Any]


@dataclass(frozen=True)
class Cluster:
    kubeconfig: Path
    namespace: str

    @cached_property
    def api(self) -> Api:
        return Api(self.kubeconfig)

    def kubectl(self, *arguments: str, stdin: str | None = None, check: bool = True) -> str:
        command = ["kubectl", f"--kubeconfig={self.kubeconfig}", f"--namespace={self.namespace}", *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0 or not check, f"kubectl {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    def apply(self, *objects: Mapping[str, Any]) -> None:
        self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def patch(self, kind: str, name: str, change: Mapping[str, Any]) -> None:
        self.kubectl("patch", kind, name, "--type=merge", "-p", json.dumps(change))

    def annotate(self, group: str, name: str, value: str | None) -> None:
        """Set one of our annotations on a ConsumerGroup; None removes it."""
        change = f"slackwater.dev/{name}" + (f"={value}" if value is not None else "-")
        self.kubectl("annotate", "--overwrite", "cg", group, change)

    def get(self, kind: str, name: str) -> Json | None:
        return self.api.get(kind, self.namespace, name)

    def pods(self, group: str) -> list[Json]:
        """By name; without those that are on their way out."""
        found, _ = self.api.list_all("pods", self.namespace, f"slackwater.dev/group={group}")
        alive = [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]
        return sorted(alive, key=lambda pod: str(pod["metadata"]["name"]))

    def events(self, name: str) -> list[Json]:
        found, _ = self.api.list_all("events", self.namespace)
        return [event for event in found if event["involvedObject"]["name"] == name]

    def story(self, group: str, since: float) -> tuple[str, ...]:
        """What Events of the group, its StatefulSets and its pods tell since that time (unix seconds), in order."""
        found, _ = self.api.list_all("events", self.namespace)
        ours = [event for event in found if f"{event['involvedObject']['name']}-".startswith(f"{group}-")]
        told = sorted(
            (_told_at(event), event["involvedObject"]["name"], event["reason"], event["message"]) for event in ours
        )
        began = datetime.fromtimestamp(since, UTC).isoformat(timespec="seconds")[:19]
        return tuple(" ".join(each) for each in told if each[0] >= began)

    def status(self, group: str) -> Json:
        status: Json = (self.get("cg", group) or {}).get("status", {})
        return status

    def condition(self, group: str, kind: str) -> Json:
        return condition(self.get("cg", group) or {}, kind)

    def wait_condition(
        self, group: str, kind: str, status: str, reason: str | None = None, deadline_s: float = 300.0
    ) -> Json:
        """Until the condition says so; returns it."""

        def look() -> Json | None:
            found = self.condition(group, kind)
            return found if found.get("status") == status and reason in (None, found["reason"]) else None

        what = f"{kind}={status} ({reason}) of {group}"
        return wait_for(what, look, deadline_s, lambda: self.summary(group))

    def wait_phase(self, group: str, phase: str, deadline_s: float = 300.0) -> None:
        """Until the operator has seen the newest spec, and says so in `status.phase`."""

        def look() -> bool:
            return _is_observed(obj := self.get("cg", group)) and (obj or {})["status"].get("phase") == phase

        wait_for(f"phase {phase} of {group}", look, deadline_s, lambda: self.summary(group))

    def wait_complete(self, group: str, deadline_s: float = 180.0) -> None:
        """Until the operator has seen the newest spec, and every pod runs it."""
        wait_for(f"the rollout of {group}", lambda: self._is_complete(group), deadline_s, lambda: self.summary(group))

    def _is_complete(self, group: str) -> bool:
        obj = self.get("cg", group)
        if obj is None or not _is_observed(obj):
            return False
        status, replicas = obj["status"], obj["spec"]["replicas"]
        counts = (status.get("updatedReplicas"), status.get("readyReplicas"))
        return status.get("rollout", {}).get("phase") == "Complete" and counts == (replicas, replicas)

    def summary(self, group: str) -> str:
        status, gated = self.status(group), self.condition(group, "RolloutGated")
        pods = [(p["metadata"]["name"], p["status"].get("phase")) for p in self.pods(group)]
        held = f"{gated.get('reason')}: {gated.get('message')}"
        return f"phase {status.get('phase')}, {held}, rollout {status.get('rollout')}, pods {pods}"


def condition(obj: Mapping[str, Any], kind: str) -> Json:
    """One condition of an object; empty when it has none of that type."""
    found = (c for c in (obj.get("status") or {}).get("conditions", ()) if c["type"] == kind)
    return next(found, {})


def _told_at(event: Mapping[str, Any]) -> str:
    """When for the last time; the kubelet tells whole seconds, the operator parts of one."""
    series = event.get("series") or {}
    told = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return str(told or event["metadata"]["creationTimestamp"])


def _is_observed(obj: Mapping[str, Any] | None) -> bool:
    return obj is not None and obj.get("status", {}).get("observedGeneration") == obj["metadata"]["generation"]
