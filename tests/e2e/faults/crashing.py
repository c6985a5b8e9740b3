"""The operator that ends itself by SIGKILL right after one of its writes: `python -m tests.e2e.faults.crashing`.

CRASH_AFTER_WRITES=N counts over the whole process; 0 means that it lives. CRASH_COUNTS=acts leaves Events out of the
count: they are for people to read, and nothing depends on them. WRITES_LOG names a file that gets a line for each
write.
"""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.paths import EVENT
from slackwater.shell.operator import run

WRITES: Final = ("apply", "apply_status", "set_finalizers", "merge", "delete", "create")
"""The methods of KubernetesApi that send what changes the cluster; a test holds that there is no other."""

Write = Callable[..., Awaitable[Any]]


class Countdown:
    """Counts writes that have succeeded, and kills the process at the last one that it may make."""

    def __init__(self, last: int, with_events: bool, log: Path | None) -> None:
        self._last = last
        self._with_events = with_events
        self._log = log
        self._count = 0

    def counting(self, name: str, write: Write) -> Write:
        @functools.wraps(write)
        async def counted(*arguments: Any, **options: Any) -> Any:
            result = await write(*arguments, **options)
            self._written(name, arguments)
            return result

        return counted

    def _written(self, name: str, arguments: tuple[Any, ...]) -> None:
        if EVENT in arguments and not self._with_events:
            return
        self._count += 1
        if self._log is not None:
            with self._log.open("a") as log:
                log.write(f"{name} {_what(arguments)}\n")
        if self._count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)


def _what(arguments: tuple[Any, ...]) -> str:
    """The kind of what was written, however the method is told."""
    first = arguments[1]  # after self: a Kind or a manifest
    return str(first["kind"] if isinstance(first, dict) else first.name)


def main() -> None:
    log = os.environ.get("WRITES_LOG")
    countdown = Countdown(
        last=int(os.environ.get("CRASH_AFTER_WRITES") or 0),
        with_events=os.environ.get("CRASH_COUNTS") != "acts",
        log=Path(log) if log else None,
    )
    for name in WRITES:
        setattr(KubernetesApi, name, countdown.counting(name, getattr(KubernetesApi, name)))
    run()


if __name__ == "__main__":
    main()
