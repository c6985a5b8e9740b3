"""The cluster through kubectl: it says what it refuses in sentences, and is what people would type themselves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.commands import run
from sandbox.demo.manifests import LABEL, NAME
from sandbox.demo.modes import Mode
from sandbox.errors import SandboxError

_DELETED_WITHIN_S = 90
_ONE_LINE = ("--no-headers", "--output=custom-columns=:reason,:message")
_RESOURCES = ("customresourcedefinitions", "consumergroups.slackwater.dev", "kafkaconnections.slackwater.dev")


@dataclass(frozen=True, slots=True)
class Cluster:
    """A kubectl and the kubeconfig it uses. Every method raises CommandFailed with kubectl's own words."""

    kubectl: Path
    kubeconfig: Path

    def apply(self, objects: Iterable[Mapping[str, Any]]) -> None:
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self._run("apply", "--filename=-", text=json.dumps(listed))

    def look(self, mode: Mode) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The object that runs the mode's consumers, and all pods of its namespace, at one moment."""
        found = self._run("get", f"{mode.kind},pods", "--output=json", namespace=mode.namespace)
        items = json.loads(found)["items"]
        pods = [item for item in items if item["kind"] == "Pod"]
        workload = next((item for item in items if item["kind"] != "Pod" and item["metadata"]["name"] == NAME), None)
        if workload is None:
            raise SandboxError(f"The {mode.kind} {NAME} in {mode.namespace} is gone: somebody else has deleted it.")
        return workload, pods

    def namespaces(self) -> tuple[str, ...]:
        """Those that a demo made, this one or one that was cut off."""
        found = self._run("get", "namespaces", f"--selector={LABEL}", "--output=name")
        return tuple(line.removeprefix("namespace/") for line in found.split())

    def dismiss(self, mode: Mode) -> None:
        """Begin to remove a mode's namespace."""
        self._run("delete", "namespace", mode.namespace, "--wait=false")

    def dismiss_consumers(self, mode: Mode) -> None:
        """Begin to remove a ConsumerGroup and its load. Its KafkaConnection stays: the operator still needs it."""
        self._run("delete", f"{mode.kind}/{NAME}", "deployment/load", "--wait=false", namespace=mode.namespace)

    def delete(self, namespaces: Iterable[str]) -> None:
        """Remove namespaces with all that is in them, and wait until they are gone."""
        names = list(namespaces)
        if not names:
            return
        if self.knows_consumer_groups():
            for name in names:  # before its KafkaConnection, without which the operator could not remove its members
                self._delete("consumergroups", "--all", namespace=name)
        self._delete("namespaces", *names)

    def delete_namespace(self, name: str) -> None:
        self._delete("namespace", name)

    def knows_consumer_groups(self) -> bool:
        """Whether Slackwater's resources are installed."""
        return bool(self._run("get", *_RESOURCES, "--ignore-not-found", "--output=name").strip())

    def forget_consumer_groups(self) -> None:
        """Remove the resource types themselves."""
        self._delete(*_RESOURCES)

    def symptoms(self, namespace: str) -> list[str]:
        """What may explain why the pods of a namespace do not get Ready: warnings, and the end of their logs."""
        lines = self._run(
            "get", "events", "--field-selector=type=Warning", *_ONE_LINE, namespace=namespace
        ).splitlines()
        for pod in self._run("get", "pods", "--output=name", namespace=namespace).split():
            argv = [
                self.kubectl,
                f"--kubeconfig={self.kubeconfig}",
                f"--namespace={namespace}",
                "logs",
                "--tail=10",
                pod,
            ]
            lines += run(argv, check=False).stdout.splitlines()
        return lines

    def _delete(self, *words: str, namespace: str | None = None) -> None:
        patience = f"--timeout={_DELETED_WITHIN_S}s"
        self._run(
            "delete", *words, "--ignore-not-found", patience, namespace=namespace, deadline_s=_DELETED_WITHIN_S + 10
        )

    def _run(self, *words: str, namespace: str | None = None, text: str | None = None, deadline_s: float = 30) -> str:
        argv = [str(self.kubectl), f"--kubeconfig={self.kubeconfig}"]
        argv += [f"--namespace={namespace}"] if namespace else []
        return run([*argv, *words], text=text, deadline_s=deadline_s).stdout
