"""Where the demo plays: the sandbox and the operator. Brings up what is not up, and takes down only that."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from sandbox import lifecycle, processes, toolchain
from sandbox.binaries import ensure_helm
from sandbox.commands import run
from sandbox.console import step
from sandbox.demo.cluster import Cluster
from sandbox.demo.kafka import Kafka
from sandbox.demo.modes import MODES, Mode
from sandbox.errors import CommandFailed, StartFailed
from sandbox.images import OPERATOR
from sandbox.layout import Layout, read_state
from sandbox.provider import ClusterProvider

CHART = Path(__file__).parents[2] / "charts" / "slackwater"
RELEASE = "slackwater"
OPERATOR_NAMESPACE = "slackwater-system"
_INSTALLED_WITHIN_S = 120


class Stage:
    """Every method raises SandboxError where something does not come up or does not go away."""

    cluster: Cluster
    kafka: Kafka

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._undo = ExitStack()
        self._goes_down_whole = False
        """All that the demo makes goes with the sandbox, which the demo has started, and so ends as well."""

    def set_up(self) -> None:
        """Start what is not up, and remove what an earlier demo left that was cut off."""
        layout = self._layout
        is_ours = not any(processes.is_running(layout, name) for name in processes.names(layout))
        if is_ours:
            self._undo.callback(self._take_down)
        lifecycle.up(layout, lifecycle.Wish())
        state = read_state(layout)
        made = (ClusterProvider.OWN, ClusterProvider.KIND)
        self._goes_down_whole = is_ours and state.get("cluster") in made and not state.get("bootstrap_given")
        self.cluster = Cluster(toolchain.kubectl(layout), Path(str(state["kubeconfig"])))
        self.kafka = Kafka(str(state["bootstrap_servers"]))
        self._remove_modes()
        self._later(self._remove_modes)

    def install_operator(self) -> None:
        """Install it by Helm under its own service account, unless it is installed already; that one is used as is."""
        if any(release["name"] == RELEASE for release in json.loads(self._helm("list", "--all-namespaces", "-o=json"))):
            return
        if not self.cluster.knows_consumer_groups():  # Helm installs the types, but never removes them
            self._later(self.cluster.forget_consumer_groups)
        self._later(self._uninstall_operator)
        self._later(self._remove_modes)  # while the operator is there: it holds finalizers
        with step("Installing the operator by Helm", "a pod of its own image, under its own service account"):
            repository, _, tag = OPERATOR.partition(":")
            image = (f"--set=image.repository={repository}", f"--set=image.tag={tag}")
            wait = ("--wait", f"--timeout={_INSTALLED_WITHIN_S}s")
            where = (f"--namespace={OPERATOR_NAMESPACE}", "--create-namespace")
            try:
                self._helm("install", RELEASE, str(CHART), *where, *image, *wait, deadline_s=_INSTALLED_WITHIN_S + 10)
            except CommandFailed as error:
                log = (*error.log, *self.cluster.symptoms(OPERATOR_NAMESPACE))
                raise StartFailed("The operator could not be installed.", log=log) from error

    def retire(self, mode: Mode) -> None:
        """A mode that was played makes room for the next one; its end is awaited in `clear`."""
        if mode.runs_on_operator:
            self.cluster.dismiss_consumers(mode)
        else:
            self.cluster.dismiss(mode)

    def clear(self) -> None:
        """Take down what the demo has brought up, all of it even if a part of it fails."""
        if self._goes_down_whole:
            self._undo.close()
            return
        with step("Removing what the demo has made", "what was up before stays up"):
            self._undo.close()

    def _later(self, undo: Callable[[], None]) -> None:
        if not self._goes_down_whole:
            self._undo.callback(undo)

    def _take_down(self) -> None:
        lifecycle.down(self._layout)

    def _remove_modes(self) -> None:
        self.cluster.delete(self.cluster.namespaces())
        self.kafka.remove(MODES)

    def _uninstall_operator(self) -> None:
        self._helm("uninstall", RELEASE, f"--namespace={OPERATOR_NAMESPACE}", "--wait", "--ignore-not-found")
        self.cluster.delete_namespace(OPERATOR_NAMESPACE)

    def _helm(self, *words: str, deadline_s: float = 90) -> str:
        environment = {"KUBECONFIG": str(self.cluster.kubeconfig)}
        return run([ensure_helm(self._layout), *words], env=environment, deadline_s=deadline_s).stdout
