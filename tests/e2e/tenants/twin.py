"""A process that does nothing but beat, as the operator's event loop does: what it stands still, the machine took.

Where it has no turn of the processors, the operator has none either. `python -m tests.e2e.tenants.twin FILE` writes
there how long it has stood still at most.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from slackwater.shell.heartbeat import beat
from tests.e2e.stage.operator import ROOT


class Twin:
    """Of one operator process, from its start on."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.end()
        self._file.unlink(missing_ok=True)
        self._process = subprocess.Popen([sys.executable, "-m", __name__, str(self._file)], cwd=ROOT, env=os.environ)

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def longest_stall_s(self) -> float:
        assert self._process is not None
        assert self._process.poll() is None, "the twin has ended"
        return float(self._file.read_text()) if self._file.exists() else 0.0


def noted(file: Path) -> Callable[[float], None]:
    """What is called with each stall, and writes the longest; who reads finds all of a number, or that before."""
    longest = [0.0]

    def note(for_s: float) -> None:
        if for_s > longest[0]:
            longest[0] = for_s
            whole = file.with_suffix(".new")
            whole.write_text(str(for_s))
            whole.replace(file)

    return note


if __name__ == "__main__":
    asyncio.run(beat(noted(Path(sys.argv[1]))))
