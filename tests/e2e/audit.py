"""What the operator wrote, and when, by the API server's own audit log."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from sandbox.layout import Layout
from tests.e2e.rights import RELEASE


@dataclass(frozen=True, slots=True)
class Write:
    """`at`: seconds since the epoch, when the API server had the request."""

    at: float
    verb: str
    resource: str
    name: str


def operator_writes(namespace: str, resource: str, name: str, since: float) -> list[Write]:
    """What the operator of this namespace changed with success, oldest first. Skips where nobody keeps such a log."""
    log = Path(Layout.from_environment().run) / "audit.log"
    if not log.exists():
        pytest.skip("this cluster keeps no audit log that can be read here")
    account = f"system:serviceaccount:{namespace}:{RELEASE}"
    found = []
    with log.open() as lines:
        for line in lines:
            if account not in line or '"stage":"ResponseComplete"' not in line:
                continue
            event = json.loads(line)
            target = event.get("objectRef", {})
            at = datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp()
            done = event["verb"] in ("patch", "create", "delete") and event["responseStatus"]["code"] < 300
            if done and (target.get("resource"), target.get("name")) == (resource, name) and at >= since:
                found.append(Write(at, event["verb"], resource, name))
    return sorted(found, key=lambda write: write.at)
