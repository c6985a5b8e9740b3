"""What an operator asked of the API server, and when, by the API server's own audit log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest

from sandbox.layout import Layout
from tests.e2e.rights import RELEASE

_TOKEN_ID: Final = "authentication.kubernetes.io/credential-id"
_WRITING: Final = ("create", "update", "patch", "delete", "deletecollection")


@dataclass(frozen=True, slots=True)
class Write:
    """`at`: seconds since the epoch, when the API server had the request."""

    at: float
    verb: str
    resource: str
    """With its sub-resource, such as consumergroups/status."""
    name: str
    code: int
    """HTTP status of the answer."""
    token: str = ""
    """The id of the service account's token, by which two operators of one account can be told apart."""


def all_writes(namespace: str, since: float) -> list[Write]:
    """What the operator of this namespace wanted changed, refused or not, oldest first.

    Skips the test where nobody keeps such a log.
    """
    found = (_write(event) for event in _events_of(namespace) if event["verb"] in _WRITING)
    return sorted((write for write in found if write.at >= since), key=lambda write: write.at)


def operator_writes(namespace: str, resource: str, name: str, since: float) -> list[Write]:
    """What the operator of this namespace changed with success about one object, oldest first."""
    return [w for w in all_writes(namespace, since) if (w.resource, w.name) == (resource, name) and w.code < 300]


def _events_of(namespace: str) -> Iterator[dict[str, Any]]:
    log = Path(Layout.from_environment().audit_log)
    if not log.exists():
        pytest.skip("this cluster keeps no audit log that can be read here")
    account = f"system:serviceaccount:{namespace}:{RELEASE}"
    with log.open() as lines:
        for line in lines:
            # The last line may still be being written.
            if account in line and '"stage":"ResponseComplete"' in line and line.endswith("\n"):
                yield json.loads(line)


def _write(event: dict[str, Any]) -> Write:
    target = event.get("objectRef") or {}
    return Write(
        at=datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp(),
        verb=event["verb"],
        resource="/".join(part for part in (target.get("resource"), target.get("subresource")) if part),
        name=target.get("name", ""),
        code=event["responseStatus"]["code"],
        token=(event["user"].get("extra") or {}).get(_TOKEN_ID, [""])[0].removeprefix("JTI="),
    )
