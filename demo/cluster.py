"""The cluster through kubectl: it says what it refuses in sentences, and is what people would type themselves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo.manifests import APP, NAMESPACE, NODES, OPERATOR_NAMESPACE, load_name
from demo.modes import Mode
from sandbox.commands import run
from sandbox.errors import SandboxError

_DELETED_WITHIN_S = 180
"""On a machine that has much else to do the namespace controller takes its time."""
_ONE_LINE = ("--no-headers", "--output=custom-columns=:reason,:message")
_TYPES = ("consumergroups", "kafkaconnections", "clusterkafkaconnections", "consumerfleets", "fleetcampaigns")
_RESOURCES = ("customresourcedefinitions", *(f"{each}.slackwater.dev" for each in _TYPES))


@dataclass(frozen=True, slots=True)
class Cluster:
    """A kubectl and the kubeconfig it uses. Every method raises CommandFailed with kubectl's own words."""

    kubectl: Path
    kubeconfig: Path

    def apply(self, objects: Iterable[Mapping[str, Any]]) -> None:
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self._run("apply", "--filename=-", text=json.dumps(listed))

    def look(self, mode: Mode) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The object that runs the mode's consumers, and their pods, at one moment."""
        labelled = f"--selector={APP}={mode.workload}"
        items = json.loads(self._run("get", f"{mode.kind},pods", labelled, "--output=json"))["items"]
        pods = [item for item in items if item["kind"] == "Pod"]
        workload = next((item for item in items if item["kind"] != "Pod"), None)
        if workload is None:
            raise SandboxError(f"The {mode.kind} {mode.workload} is gone: somebody else has deleted it.")
        return workload, pods

    def crash(self, pod: str) -> None:
        """Kill every process that runs in the pod, which has to have one namespace for them all."""
        # What does the killing may be taken down with its container before it can tell of its success.
        self._run("exec", pod, "--", "sh", "-c", "kill -9 -1", check=False)

    def delete_pods(self, names: Iterable[str]) -> None:
        """Begin to."""
        self._run("delete", "pods", *names, "--wait=false")

    def give_nodes(self) -> None:
        """Let the nodes take pods that ask for NODES; other pods do not notice."""
        self._run("label", "nodes", "--all", "--overwrite", *(f"{name}={value}" for name, value in NODES.items()))

    def take_nodes(self) -> None:
        """Let them take no more of these pods; those that run go on."""
        self._run("label", "nodes", "--all", *(f"{name}-" for name in NODES))

    def as_yaml(self, mode: Mode) -> str:
        """The ConsumerGroup as `kubectl get --output=yaml` shows it."""
        return self._run("get", "consumergroup", mode.workload, "--output=yaml")

    def dismiss(self, mode: Mode) -> None:
        """Begin to remove a mode's consumers and their load."""
        things = (f"{mode.kind}/{mode.workload}", f"deployment/{load_name(mode)}")
        self._run("delete", *things, "--wait=false", "--ignore-not-found")  # a mode may have failed before it made them

    def delete_groups(self) -> None:
        """Remove all ConsumerGroups of the demo, and wait until they are gone: before their KafkaConnection and their
        operator, which takes their members out of the brokers' books."""
        if self.knows_groups():
            self._delete("consumergroups", "--all")

    def delete_all(self, *kinds: str) -> None:
        """Remove every object of these kinds in the demo's namespace, and wait until they are gone."""
        self._delete(",".join(kinds), "--all")

    def delete_namespaces(self) -> None:
        """Remove all else, and wait until it is gone."""
        self._delete("namespaces", NAMESPACE, OPERATOR_NAMESPACE)

    def knows_groups(self) -> bool:
        """Whether Slackwater's resource types are installed."""
        return bool(self._run("get", *_RESOURCES, "--ignore-not-found", "--output=name").strip())

    def forget_groups(self) -> None:
        """Remove the resource types, unless somebody has come to use them."""
        if not self._run("get", ",".join(_TYPES), "--all-namespaces", "--output=name").strip():
            self._delete(*_RESOURCES)

    def operators(self) -> list[dict[str, Any]]:
        """Every installed operator's Deployment, whoever has installed it."""
        found = self._run("get", "deployments", "--all-namespaces", f"--selector={APP}=slackwater", "--output=json")
        items: list[dict[str, Any]] = json.loads(found)["items"]
        return items

    def symptoms(self) -> list[str]:
        """What may explain why the operator does not get Ready: its pods' warnings, and the end of their logs."""
        where = f"--namespace={OPERATOR_NAMESPACE}"
        lines = self._run("get", "events", where, "--field-selector=type=Warning", *_ONE_LINE).splitlines()
        for pod in self._run("get", "pods", where, "--output=name").split():
            argv = [str(self.kubectl), f"--kubeconfig={self.kubeconfig}", where, "logs", "--tail=10", pod]
            lines += run(argv, check=False).stdout.splitlines()
        return lines

    def _delete(self, *words: str) -> None:
        patience = f"--timeout={_DELETED_WITHIN_S}s"
        self._run("delete", *words, "--ignore-not-found", patience, deadline_s=_DELETED_WITHIN_S + 10)

    def _run(self, *words: str, text: str | None = None, deadline_s: float = 30, check: bool = True) -> str:
        argv = [str(self.kubectl), f"--kubeconfig={self.kubeconfig}", f"--namespace={NAMESPACE}"]
        return run([*argv, *words], text=text, deadline_s=deadline_s, check=check).stdout
