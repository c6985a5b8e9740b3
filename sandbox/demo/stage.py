"""Where the demo plays: the sandbox and the operator. Brings up what is not up, and takes down only that."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from sandbox import lifecycle, processes, toolchain
from sandbox.binaries import ensure_helm
from sandbox.commands import run
from sandbox.console import step
from sandbox.demo.cluster import Cluster
from sandbox.demo.kafka import Kafka
from sandbox.demo.modes import MODES, Mode
from sandbox.layout import Layout, read_state

CHART = Path(__file__).parents[2] / "charts" / "slackwater"
RELEASE = "slackwater"
OPERATOR_NAMESPACE = "slackwater-system"
_INSTALLED_WITHIN_S = 120


@dataclass(slots=True)
class Stage:
    """Raises SandboxError wherever something does not come up or does not go away."""

    layout: Layout
    cluster: Cluster = field(init=False)
    kafka: Kafka = field(init=False)
    _is_set_up: bool = False
    _is_ours: bool = False
    """The demo has started the sandbox, so it ends it as well."""
    _operator_is_ours: bool = False
    _resources_are_ours: bool = False
    """The CRDs were not there before; Helm installs them but never removes them."""

    def set_up(self) -> None:
        """Start what is not up, and remove what an earlier demo left that was cut off."""
        layout = self.layout
        with lifecycle.exclusive(layout):
            self._is_ours = not any(processes.is_running(layout, name) for name in processes.names(layout))
            lifecycle.up(layout, lifecycle.Wish())
        state = read_state(layout)
        self.cluster = Cluster(toolchain.kubectl(layout), Path(str(state["kubeconfig"])))
        self.kafka = Kafka(str(state["bootstrap_servers"]))
        self._is_set_up = True
        self._remove_modes()

    def install_operator(self) -> None:
        """Install it by Helm under its own service account, unless it is installed already; that one is used as is."""
        if any(release["name"] == RELEASE for release in json.loads(self._helm("list", "--all-namespaces", "-o=json"))):
            return
        self._resources_are_ours = not self.cluster.knows_consumer_groups()
        self._operator_is_ours = True
        with step("Installing the operator by Helm", "a pod of its own image, under its own service account"):
            wait = ("--wait", f"--timeout={_INSTALLED_WITHIN_S}s")
            namespace = (f"--namespace={OPERATOR_NAMESPACE}", "--create-namespace")
            self._helm("install", RELEASE, str(CHART), *namespace, *wait, deadline_s=_INSTALLED_WITHIN_S + 10)

    def retire(self, mode: Mode) -> None:
        """A mode that was played makes room for the next one; its end is awaited in `clear`."""
        if mode.runs_on_operator:
            self.cluster.dismiss_consumers(mode)
        else:
            self.cluster.dismiss(mode)

    def clear(self) -> None:
        """Take down what the demo has brought up, whatever else fails."""
        if self._is_ours:
            with lifecycle.exclusive(self.layout):
                lifecycle.down(self.layout)
            return
        if not self._is_set_up:
            return
        with step("Removing what the demo has made", "the sandbox was up before, and stays up"):
            self._remove_modes()
            if self._operator_is_ours:
                self._helm("uninstall", RELEASE, f"--namespace={OPERATOR_NAMESPACE}", "--wait", "--ignore-not-found")
                self.cluster.delete_namespace(OPERATOR_NAMESPACE)
            if self._resources_are_ours:
                self.cluster.forget_consumer_groups()

    def _remove_modes(self) -> None:
        self.cluster.delete(self.cluster.namespaces())
        self.kafka.remove(MODES)

    def _helm(self, *words: str, deadline_s: float = 90) -> str:
        return run(
            [ensure_helm(self.layout), *words], env={"KUBECONFIG": str(self.cluster.kubeconfig)}, deadline_s=deadline_s
        ).stdout
