"""Where it plays: the demo's stage, with three brokers of the sandbox's own."""

from __future__ import annotations

from typing import Final

from demo.cascade.brokers import Brokers
from demo.cascade.modes import BROKERS
from demo.stage import Stage
from sandbox import processes
from sandbox.errors import SandboxError
from sandbox.layout import Layout, read_state

_DOWN: Final = "End that one first, and what it has stored: make sandbox-down"


class CascadeStage(Stage):
    """Every method raises SandboxError where something does not come up or does not go away."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout, brokers=BROKERS)

    def set_up(self) -> None:
        """Another number of brokers would mean new, empty ones: somebody else's data are not thrown away for that."""
        state = read_state(self._layout)
        is_up = any(processes.is_running(self._layout, name) for name in processes.names(self._layout))
        if is_up and state.get("brokers") not in (None, BROKERS):
            raise SandboxError(f"A sandbox with {state['brokers']} brokers is up; this takes {BROKERS}.", todo=_DOWN)
        super().set_up()
        if read_state(self._layout).get("bootstrap_given"):
            raise SandboxError(
                "Brokers are given by the environment; this reads the logs of its own.",
                todo="Take the brokers' addresses out of the environment (docs/sandbox.md).",
            )

    def brokers(self) -> Brokers:
        """To be asked for once all is set up."""
        numbers = range(1, BROKERS + 1)
        logs = [processes.log_file(self._layout, f"kafka-{number}") for number in numbers]
        return Brokers(self.kafka.bootstrap_servers, logs)

    def _clear_brokers(self) -> None:
        super()._clear_brokers()
        self.brokers().remove()
