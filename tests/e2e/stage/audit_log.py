"""The API server's audit log as it stands on the disk: one file, and the one before it when it was rotated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest

from sandbox.layout import Layout

Event = dict[str, Any]

_STAGES: Final = ('"stage":"ResponseComplete"', '"stage":"ResponseStarted"')
"""A watch has begun, and says so; that it is over it says minutes later."""


def events_of(account: str, since: float, log: Path | None = None) -> list[Event]:
    """What a service account (`<namespace>:<name>`) asked since then (seconds since the epoch), as events of
    audit.k8s.io; each watch may be told of twice. Fails where a part of the log is gone by now.

    Without `log` it is the sandbox's; the test is skipped where nobody keeps such a log.
    """
    log = log or Layout.from_environment().audit_log
    if not log.exists():
        pytest.skip("this cluster keeps no audit log that can be read here")
    while True:
        files = _files(log, since)
        found = [event for file in files for event in _read(file, f'"system:serviceaccount:{account}"')]
        if _files(log, since) == files:  # else it was rotated meanwhile
            return [event for event in found if received_at(event) >= since]


def received_at(event: Event) -> float:
    """Seconds since the epoch."""
    return datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp()


def _read(file: Path, account: str) -> Iterator[Event]:
    with file.open() as lines:
        for line in lines:
            # The last line may still be being written.
            if account in line and any(stage in line for stage in _STAGES) and line.endswith("\n"):
                yield json.loads(line)


def _files(log: Path, since: float) -> list[Path]:
    """Those that hold what came since then, the oldest first. The API server names a rotated one by its date."""
    rotated = sorted(log.parent.glob(f"{log.stem}-*{log.suffix}"))
    if rotated:
        with rotated[0].open() as lines:
            oldest = received_at(json.loads(next(lines)))
        assert oldest <= since, f"what came before {rotated[0].name} was thrown away: the audit log is too small"
    return [*(file for file in rotated if file.stat().st_mtime >= since), log]
