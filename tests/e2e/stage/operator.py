"""The operator as a process of this machine, with the rights of the chart's service account, to be killed at will."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.stage.waiting import wait_for

ROOT = Path(__file__).resolve().parents[3]
PORT = 18080 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
"""Of the operator of a stage: the modules that play at the same time have one each."""
_COMMAND = Path(sys.executable).with_name("slackwater")
_MORTAL = {
    "CRASH_AFTER_WRITES": "tests.e2e.faults.crashing",
    "DEATHS": "tests.e2e.faults.dying",
    "SIEVE_LIFE": "tests.e2e.sieve.mortal",
}
"""Variable that an operator which ends itself is told by → the module that it is."""


@dataclass
class OperatorProcess:
    kubeconfig: Path
    log: Path
    environment: dict[str, str] = field(default_factory=dict)
    port: int = PORT
    process: subprocess.Popen[bytes] | None = None

    def start(self, **environment: str) -> None:
        """Start it; with CRASH_AFTER_WRITES or DEATHS it is one that ends after writes (see `crashing`, `dying`), with
        SIEVE_LIFE one that others kill (see `mortal`)."""
        given = {"KUBECONFIG": str(self.kubeconfig), "SLACKWATER_PORT": str(self.port), "SLACKWATER_LOG_FORMAT": "json"}
        mortal = next((module for variable, module in _MORTAL.items() if variable in environment), None)
        command = [sys.executable, "-m", mortal] if mortal else [str(_COMMAND), "run"]
        settings = {**os.environ, **given, **self.environment, **environment}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, env=settings, stdout=log, stderr=log)

    def wait_ready(self) -> None:
        wait_for("the operator to be ready", self._is_ready, 60.0, self.log_tail)

    def kill(self) -> None:
        """SIGKILL: what it had in memory is gone."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """SIGSTOP: it sees nothing, and does nothing, until the block ends."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def stop(self) -> int:
        """SIGTERM; the exit code."""
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(120)

    def wait_dead(self, deadline_s: float = 300.0) -> None:
        process = self.process
        assert process is not None
        wait_for("the operator to die", lambda: process.poll() is not None, deadline_s, self.log_tail)

    def metrics(self) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=60) as answer:
            return str(answer.read().decode())

    def log_tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])

    def _is_ready(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"the operator ended: {self.log_tail()}"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False
