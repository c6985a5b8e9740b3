"""What an operator asked of the API server, and when, by the API server's own audit log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.e2e.stage.audit_log import Event, events_of, received_at
from tests.e2e.stage.rights import RELEASE

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


def all_writes(namespace: str, since: float, log: Path | None = None) -> list[Write]:
    """What the operator of this namespace wanted changed, refused or not, oldest first. `log`: of another API server
    than the sandbox's.

    Skips the test where nobody keeps such a log.
    """
    events = events_of(f"{namespace}:{RELEASE}", since, log)
    found = (_write(event) for event in events if event["verb"] in _WRITING and event["stage"] == "ResponseComplete")
    return sorted(found, key=lambda write: write.at)


def operator_writes(namespace: str, resource: str, name: str, since: float) -> list[Write]:
    """What the operator of this namespace changed with success about one object, oldest first."""
    return [w for w in all_writes(namespace, since) if (w.resource, w.name) == (resource, name) and w.code < 300]


def _write(event: Event) -> Write:
    target = event.get("objectRef") or {}
    return Write(
        at=received_at(event),
        verb=event["verb"],
        resource="/".join(part for part in (target.get("resource"), target.get("subresource")) if part),
        name=target.get("name", ""),
        code=event["responseStatus"]["code"],
        token=(event["user"].get("extra") or {}).get(_TOKEN_ID, [""])[0].removeprefix("JTI="),
    )
