"""What is noted of containers as they are told: when each ran first, and when its startup probe was seen to end."""

from __future__ import annotations

from typing import Any

from slackwater.adapters.cluster.runs import STARTED, told_of


def pod(container: str, **status: Any) -> dict[str, Any]:
    each = {"containerID": container, "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}, **status}
    return {"status": {"containerStatuses": [each]}}


def test_when_a_startup_probe_was_seen_to_end() -> None:
    told = told_of(pod("a", started=False), {}, 10.0)
    told = told_of(pod("a", started=False), told, 20.0)
    told = told_of(pod("a", started=True), told, 30.0)
    told = told_of(pod("a", started=True), told, 40.0)
    assert (told["a"], told["a" + STARTED]) == (10.0, 30.0)
    again = told_of(pod("b", started=False), told, 50.0)
    assert again["b"] == 50.0
    assert "a" not in again
    assert "b" + STARTED not in again


def test_of_one_that_ran_before_we_looked_or_has_no_probe_it_is_not_known() -> None:
    told = told_of(pod("a", started=True), {}, 10.0)
    assert told == {"a": 10.0} == told_of(pod("a"), {}, 10.0)
