"""Where the demo plays: the sandbox and the operator. Brings up what is not up, and takes down only that."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from demo import manifests
from demo.cluster import Cluster
from demo.kafka import Kafka
from demo.learning.loop import Loop
from demo.manifests import NAMESPACE, OPERATOR_NAMESPACE
from demo.modes import LEARNING, MODES, Mode
from demo.operator_view import OperatorView
from demo.view import View
from sandbox import lifecycle, processes, toolchain
from sandbox.binaries import ensure_helm
from sandbox.commands import run
from sandbox.console import console, step
from sandbox.errors import CommandFailed, SandboxError, StartFailed
from sandbox.images import OPERATOR
from sandbox.layout import Layout, read_state
from sandbox.provider import ClusterProvider

CHART = Path(__file__).parents[1] / "charts" / "slackwater"
RELEASE = "slackwater"
_INSTALLED_WITHIN_S = 120


class Stage:
    """Every method raises SandboxError where something does not come up or does not go away."""

    cluster: Cluster
    kafka: Kafka

    def __init__(self, layout: Layout, brokers: int | None = None) -> None:
        """`brokers`: how many the sandbox is to have; None: those that are up, else one."""
        self._layout = layout
        self._brokers = brokers
        self._undo = ExitStack()
        self._goes_down_whole = False
        """All that the demo makes goes with the sandbox, which the demo has started, and so ends as well."""

    def set_up(self) -> None:
        """Start what is not up, and remove what an earlier demo left that was cut off."""
        layout = self._layout
        is_ours = not any(processes.is_running(layout, name) for name in processes.names(layout))
        if is_ours:
            self._undo.callback(self._take_down)
        lifecycle.up(layout, lifecycle.Wish(brokers=self._brokers))
        state = read_state(layout)
        made = (ClusterProvider.OWN, ClusterProvider.KIND)
        self._goes_down_whole = is_ours and state.get("cluster") in made and not state.get("bootstrap_given")
        self.cluster = Cluster(toolchain.kubectl(layout), Path(str(state["kubeconfig"])))
        self.kafka = Kafka(str(state["bootstrap_servers"]))
        self._undo.callback(self.kafka.close)
        self._clear_away()
        self._later(self._clear_away)
        self.cluster.apply(manifests.namespaces())

    def install_operator(self) -> None:
        """Install the operator by Helm, for the demo's namespace only."""
        self._refuse_rival()
        there = self.cluster.knows_groups()
        if not there:  # Helm installs the types, but never removes them
            self._later(self.cluster.forget_groups)
            self._later(self._clear_away)  # before them: undoing goes backwards
        with step("Installing the operator by Helm", "a pod of its own image, under its own service account"):
            repository, _, tag = OPERATOR.partition(":")
            values = {
                "image.repository": repository,
                "image.tag": tag,
                "watchNamespaces": f"{{{NAMESPACE}}}",
                "crds.install": str(not there).lower(),  # what somebody else has put there is not Helm's
                "telemetry": manifests.place(manifests.TELEMETRY),
                "recommendations": manifests.place(manifests.RECOMMENDATIONS),
            }
            options = [f"--set={name}={value}" for name, value in values.items()]
            options += ["--wait", f"--timeout={_INSTALLED_WITHIN_S}s"]
            try:
                self._helm("install", RELEASE, str(CHART), *options, deadline_s=_INSTALLED_WITHIN_S + 10)
            except CommandFailed as error:
                log = (*error.log, *self.cluster.symptoms())
                raise StartFailed("The operator could not be installed.", log=log) from error
        self.cluster.apply([manifests.connection(self.kafka.bootstrap_servers)])

    def view(self, mode: Mode) -> View:
        """What a person is to see of a mode: the operator's own live view of it, if it has one."""
        if not mode.runs_on_operator:
            return View(console)
        return View(console, OperatorView(self.cluster.kubeconfig, NAMESPACE, mode.workload))

    def learning_loop(self) -> Loop:
        return Loop(self._layout, self.cluster, self.kafka, self.view, console)

    def retire(self, mode: Mode) -> None:
        """A mode that was played makes room for the next one; its end is awaited in `clear`."""
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

    def _clear_away(self) -> None:
        """Whatever of a demo there is, this one's or one's that was cut off."""
        self.cluster.delete_groups()
        self._helm("uninstall", RELEASE, "--wait", "--ignore-not-found")
        self.cluster.delete_namespaces()
        self.cluster.take_nodes()
        self._clear_brokers()

    def _clear_brokers(self) -> None:
        self.kafka.remove((*MODES, LEARNING), (manifests.TELEMETRY, manifests.RECOMMENDATIONS))

    def _refuse_rival(self) -> None:
        """Two operators that look after the same groups would each undo what the other does."""
        for found in self.cluster.operators():
            variables = found["spec"]["template"]["spec"]["containers"][0].get("env", ())
            watched = next((entry.get("value") for entry in variables if entry["name"] == "SLACKWATER_NAMESPACE"), None)
            if not watched:
                raise SandboxError(
                    f"An operator that looks after all namespaces is installed in {found['metadata']['namespace']}.",
                    todo="The demo brings its own: uninstall that one, or use another cluster.",
                )

    def _helm(self, *words: str, deadline_s: float = 90) -> str:
        environment = {"KUBECONFIG": str(self.cluster.kubeconfig)}
        argv: list[str | Path] = [ensure_helm(self._layout), *words, f"--namespace={OPERATOR_NAMESPACE}"]
        return run(argv, env=environment, deadline_s=deadline_s).stdout
