"""The processes of pods, found on this machine: the sandbox's node is this machine itself."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

Json = dict[str, Any]
_PROGRAM: Final = b"sandbox.workload.consumer"


@contextmanager
def stopped(pod: Json) -> Iterator[None]:
    """SIGSTOP for the pod's consumer, SIGCONT at the end. Skips where pods run on another machine."""
    pid = consumer_of(pod)
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def kill(pod: Json) -> bool:
    """SIGKILL for the first process of the pod's container, and so for all of it; False when none runs just now."""
    statuses = pod["status"].get("containerStatuses") or ()
    for status in statuses:
        container_id = status.get("containerID", "").rpartition("/")[2]
        if "running" in status["state"] and (pid := _first_process_of(container_id)):
            os.kill(pid, signal.SIGKILL)
            return True
    return False


def _first_process_of(container_id: str) -> int | None:
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and _is_first(process, container_id):
            return int(process.name)
    return None


def _is_first(process: Path, container_id: str) -> bool:
    """Number 1 in the container's own namespace of processes."""
    try:
        if container_id not in (process / "cgroup").read_text():
            return False
        words = next(line for line in (process / "status").read_text().splitlines() if line.startswith("NSpid:"))
    except OSError:  # it has ended meanwhile
        return False
    return words.split()[-1] == "1"


def consumer_of(pod: Json) -> int:
    """The pid of the pod's consumer on this machine. Skips where pods run on another one."""
    if (pid := running_consumer(pod)) is None:
        pytest.skip("the pods' processes are not on this machine")
    return pid


def running_consumer(pod: Json) -> int | None:
    """The pid of the pod's consumer on this machine; None where none runs just now."""
    for status in pod["status"].get("containerStatuses") or ():
        container_id = status.get("containerID", "").rpartition("/")[2]
        for process in Path("/proc").iterdir() if container_id else ():
            if process.name.isdecimal() and _is_consumer(process, container_id):
                return int(process.name)
    return None


def _is_consumer(process: Path, container_id: str) -> bool:
    try:
        inside = container_id in (process / "cgroup").read_text()
        return inside and _PROGRAM in (process / "cmdline").read_bytes()
    except OSError:  # it has ended meanwhile
        return False
