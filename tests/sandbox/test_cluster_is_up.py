"""A cluster is up if its parts run and its API server answers, late though it may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox import cluster, control_plane, processes
from sandbox.layout import Layout

LAYOUT = Layout(cache=Path("/nowhere/cache"), run=Path("/nowhere/run"))


@pytest.mark.parametrize(
    ("running", "answers", "within_s", "up"),
    [
        (True, [True], 20.0, True),
        (True, [False, False, True], 20.0, True),
        (True, [False, False], -1.0, False),
        (False, [True], 20.0, False),
    ],
)
def test_a_busy_api_server_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, running: bool, answers: list[bool], within_s: float, up: bool
) -> None:
    left = iter(answers)
    monkeypatch.setattr(processes, "is_running", lambda *_: running)
    monkeypatch.setattr(control_plane, "is_ready", lambda _: next(left))
    monkeypatch.setattr(cluster, "ANSWERS_WITHIN_S", within_s)
    assert cluster.is_up(LAYOUT) is up
