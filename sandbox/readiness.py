"""A process says itself that it is ready, as it would tell systemd: see sd_notify(3).

For servers whose port or socket answers before they can do what they are there for.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

VARIABLE = "NOTIFY_SOCKET"
READY = b"READY=1"
LONGEST_MESSAGE = 4096


@contextmanager
def told_at(path: Path) -> Iterator[Callable[[], bool]]:
    """Listen at `path`, to be given to the process as `NOTIFY_SOCKET`; yields a probe: has it said that it is ready?

    The path has at most 107 characters, as every Unix socket's. What a process says afterwards goes nowhere.
    """
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.setblocking(False)
        listener.bind(str(path))

        def is_ready() -> bool:
            with suppress(BlockingIOError):
                while message := listener.recv(LONGEST_MESSAGE):
                    if READY in message.splitlines():
                        return True
            return False

        try:
            yield is_ready
        finally:
            path.unlink(missing_ok=True)
