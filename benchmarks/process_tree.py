"""Memory of a program with all it starts, seen from outside: Java, Python workers and all."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_LOOK_EVERY_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Run:
    seconds: float
    peak_mib: float
    """Proportional set size of the whole tree: pages that processes share count once."""


def run(command: Sequence[str], environment: dict[str, str]) -> Run:
    """Run it to its end. Raises CalledProcessError where it fails."""
    began = time.monotonic()
    with subprocess.Popen(command, env=environment) as process:
        peak, over = [0.0], threading.Event()
        watcher = threading.Thread(target=_watch, args=(process.pid, over, peak), daemon=True)
        watcher.start()
        code = process.wait()
        over.set()
        watcher.join()
    if code:
        raise subprocess.CalledProcessError(code, command)
    return Run(round(time.monotonic() - began, 1), round(peak[0], 0))


def _watch(root: int, over: threading.Event, peak: list[float]) -> None:
    while not over.wait(_LOOK_EVERY_S):
        peak[0] = max(peak[0], sum(map(_pss_mib, _tree(root))))


def _tree(root: int) -> list[int]:
    found = [root]
    for pid in found:
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            found.extend(map(int, _text(task).split()))
    return found


def _pss_mib(pid: int) -> float:
    for line in _text(Path(f"/proc/{pid}/smaps_rollup")).splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def _text(path: Path) -> str:
    """Empty where the process is gone meanwhile."""
    try:
        return path.read_text()
    except OSError:
        return ""
