"""Memory and work of a program with all it starts, seen from outside: Java, Python workers and all."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_LOOK_EVERY_S: Final = 0.5
_TICKS_A_SECOND: Final = os.sysconf("SC_CLK_TCK")
_USER_TICKS: Final = 11
"""Its place in /proc/PID/stat after the name in brackets; the system's ticks follow it, the start's are 8 places on."""


@dataclass(frozen=True, slots=True)
class Run:
    seconds: float
    cpu_seconds: float
    """Of all cores and processes: what it would have taken had nothing else run here, and one core. A process' last
    half second may be missing."""
    peak_mib: float
    """Proportional set size of the whole tree: pages that processes share count once."""


@dataclass(slots=True)
class _Seen:
    peak_mib: float = 0.0
    cpu_ticks: dict[tuple[int, str], int] = field(default_factory=dict)
    """By process and its start: each one's last word counts, also when it is gone."""

    def look(self, root: int) -> None:
        pids = _tree(root)
        self.peak_mib = max(self.peak_mib, sum(map(_pss_mib, pids)))
        for pid in pids:
            if fields := _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split():
                ticks = sum(map(int, fields[_USER_TICKS : _USER_TICKS + 2]))
                self.cpu_ticks[pid, fields[_USER_TICKS + 8]] = ticks


def run(command: Sequence[str], environment: dict[str, str]) -> Run:
    """Run it to its end. Raises CalledProcessError where it fails."""
    began = time.monotonic()
    with subprocess.Popen(command, env=environment) as process:
        seen, over = _Seen(), threading.Event()
        watcher = threading.Thread(target=_watch, args=(process.pid, over, seen), daemon=True)
        watcher.start()
        code = process.wait()
        seconds = time.monotonic() - began
        over.set()
        watcher.join()
    if code:
        raise subprocess.CalledProcessError(code, command)
    cpu_seconds = sum(seen.cpu_ticks.values()) / _TICKS_A_SECOND
    return Run(round(seconds, 1), round(cpu_seconds, 1), round(seen.peak_mib, 0))


def _watch(root: int, over: threading.Event, seen: _Seen) -> None:
    while not over.wait(_LOOK_EVERY_S):
        seen.look(root)


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
