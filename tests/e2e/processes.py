"""The consumer processes of pods, found on this machine: the sandbox's node is this machine itself."""

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
    pid = _consumer_of(pod["status"]["containerStatuses"][0]["containerID"].rpartition("/")[2])
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _consumer_of(container_id: str) -> int:
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and _is_consumer(process, container_id):
            return int(process.name)
    pytest.skip("the pods' processes are not on this machine")


def _is_consumer(process: Path, container_id: str) -> bool:
    try:
        inside = container_id in (process / "cgroup").read_text()
        return inside and _PROGRAM in (process / "cmdline").read_bytes()
    except OSError:  # it has ended meanwhile
        return False
