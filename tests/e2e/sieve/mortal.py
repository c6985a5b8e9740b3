"""The operator that can be killed at any moment, and begins again at once: `python -m tests.e2e.sieve.mortal`.

SIEVE_LIFE names a file with the process to kill. What begins again has loaded everything, but has done nothing yet.
SIEVE_KAFKA names a file with a JSON object, a group's id → the fault that its writes to Kafka meet, each once; beside
it, under `.met`, stands a line for each that met one. A broker has other words for what an API server refuses: see
`kafka_faults`.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from pathlib import Path
from typing import Final

from slackwater.shell.operator import run
from tests.e2e.sieve.kafka_faults import spoil

_PR_SET_PDEATHSIG: Final = 1
_BEGINS_WITHIN_S: Final = 10.0
_LOOK_AGAIN_S: Final = 0.01


def main() -> None:
    life = Path(os.environ["SIEVE_LIFE"])
    spoil(Path(os.environ["SIEVE_KAFKA"]))
    while True:
        child = os.fork()
        if child == 0:
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            run()
            os._exit(0)
        _name(life, child)
        _, status = os.waitpid(child, 0)
        if not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL):
            sys.exit(f"the operator ended by itself: {status}")


def kill(life: Path) -> None:
    """From another process: SIGKILL for the operator; returns when the next one has begun."""
    child = life.read_text()
    os.kill(int(child), signal.SIGKILL)
    end = time.monotonic() + _BEGINS_WITHIN_S
    while life.read_text() == child:
        assert time.monotonic() < end, "the operator does not begin again"
        time.sleep(_LOOK_AGAIN_S)


def _name(life: Path, child: int) -> None:
    """At once: whoever reads the file finds a number in it."""
    new = life.with_suffix(".new")
    new.write_text(str(child))
    new.rename(life)


if __name__ == "__main__":
    main()
