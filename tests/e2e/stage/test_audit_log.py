"""The audit log as the tests read it: none of it is missed, and a part that is gone is not taken for silence."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.e2e.rights.used_rights import Right, forbidden, used
from tests.e2e.stage.audit_log import events_of, received_at

ACCOUNT = "team-a:slackwater"
BEGAN = 1_800_000_000.0

Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Puts events that were received at these moments, in seconds since BEGAN, into a file of the log."""
    monkeypatch.setenv("SLACKWATER_SANDBOX_RUN", str(tmp_path))

    def write(file: str, *moments: float, account: str = ACCOUNT, rest: str = "") -> None:
        lines = (json.dumps(event(moment, account), separators=(",", ":")) for moment in moments)
        path = tmp_path / file
        path.write_text("".join(f"{line}\n" for line in lines) + rest)
        os.utime(path, (BEGAN + moments[-1], BEGAN + moments[-1]))

    return write


def event(moment: float, account: str = ACCOUNT) -> dict[str, object]:
    received = datetime.fromtimestamp(BEGAN + moment, UTC).isoformat(timespec="microseconds")
    return {
        "stage": "ResponseComplete",
        "user": {"username": f"system:serviceaccount:{account}"},
        "requestReceivedTimestamp": received.replace("+00:00", "Z"),
    }


def moments() -> list[float]:
    return [received_at(found) - BEGAN for found in events_of(ACCOUNT, BEGAN)]


def test_what_came_before_and_what_others_asked_is_left_out(write: Write) -> None:
    write("audit.log", -1, 0, 1, rest='{"half of a line')
    assert moments() == [0, 1]
    write("audit.log", 0, 1, account="team-a:slackwater-2")
    assert moments() == []


def test_the_file_before_is_read_when_it_was_rotated_meanwhile(write: Write) -> None:
    write("audit-2027-01-15T08-00-00.000.log", -5, 1, 2)
    write("audit.log", 3, 4)
    assert moments() == [1, 2, 3, 4]


def test_a_file_that_was_thrown_away_is_said(write: Write) -> None:
    write("audit-2027-01-15T08-00-00.000.log", 1, 2)
    write("audit.log", 3, 4)
    with pytest.raises(AssertionError, match="the audit log is too small"):
        moments()


def request(verb: str, code: int, **target: str) -> dict[str, object]:
    return {"verb": verb, "requestURI": "/apis/x", "objectRef": target, "responseStatus": {"code": code}}


def test_to_apply_what_is_not_there_creates_it() -> None:
    target = {"resource": "statefulsets", "apiGroup": "apps", "name": "orders"}
    patch, create = Right("patch", "statefulsets.apps"), Right("create", "statefulsets.apps")
    assert used([request("patch", 200, **target)]) == {patch}
    assert used([request("patch", 201, **target)]) == {patch, create}


def test_a_sub_resource_is_another_right() -> None:
    target = {"resource": "consumergroups", "apiGroup": "slackwater.dev", "subresource": "status"}
    assert used([request("patch", 200, **target)]) == {Right("patch", "consumergroups/status.slackwater.dev")}


def test_what_was_forbidden_is_named() -> None:
    refused, granted = request("delete", 403, resource="pods"), request("list", 200, resource="pods")
    assert forbidden([refused, granted]) == ["delete /apis/x"]
