"""The judge of who was away, without a cluster: one that finds nothing must be able to find something."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.histories.judging import away_by_us
from tests.e2e.stage.recorder import Record


@pytest.mark.parametrize(("struck", "most"), [(set(), 2), ({"u-0"}, 1), ({"u-0", "u-1"}, 0)])
def test_two_that_end_together_are_found_unless_one_was_struck(struck: set[str], most: int) -> None:
    records = [pod("g-0", ready=True), pod("g-1", ready=True), pod("g-0", ending=True), pod("g-1", ending=True)]
    assert most_away(records, struck) == most


def test_one_that_is_back_is_not_away_and_one_that_was_down_never_was() -> None:
    one_by_one = [pod("g-0", ready=True), pod("g-1", ready=True), pod("g-0", ending=True)]
    one_by_one += [pod("g-0", uid="again", ready=True), pod("g-1", ending=True)]
    assert most_away(one_by_one) == 1
    down = [pod("g-0"), pod("g-1", ready=True), pod("g-0", ending=True), pod("g-1", ending=True)]
    assert most_away(down) == 1


def test_one_that_is_gone_without_an_end_is_away() -> None:
    both = [pod("g-0", ready=True), pod("g-1", ready=True)]
    assert most_away([*both, pod("g-0", ready=True, gone=True), pod("g-1", ending=True)]) == 2


@pytest.mark.parametrize(("replacement_is_ready", "most"), [(True, 0), (False, 1)])
def test_one_that_is_handed_over_is_not_missed(replacement_is_ready: bool, most: int) -> None:
    old, new = pod("g-0", ready=True), pod("g-next-0", uid="new", ready=replacement_is_ready)
    assert most_away([old, new, pod("g-0", ending=True)]) == most


@pytest.mark.parametrize(
    ("scales", "most"),
    [
        ([(0.0, 3)], 2),
        ([(0.0, 3), (9.0, 1)], 0),
        ([(0.0, 1), (5.0, 3)], 2),
        ([(0.0, 3), (11.0, 1)], 0),
        ([(0.0, 3), (20.0, 1)], 2),
        ([(0.0, 3), (9.0, 2)], 1),
    ],
)
def test_whom_the_set_scales_away_at_that_time_the_people_took(scales: list[tuple[float, int]], most: int) -> None:
    records = [pod("g-1", ready=True), pod("g-2", ready=True), pod("g-1", at=10.0, ending=True)]
    records.append(pod("g-2", at=10.0, ending=True))
    sets = [stateful_set(at, replicas) for at, replicas in scales]
    assert max(len(away) for _, away in away_by_us(records, "g", set(), sets)) == most


@pytest.mark.parametrize(("scaled_at", "most"), [(20.0, 1), (40.0, 2)])
def test_who_is_away_and_scaled_away_then_is_not_missed(scaled_at: float, most: int) -> None:
    records = [pod("g-0", ready=True), pod("g-1", ready=True), pod("g-1", at=10.0, ending=True)]
    records.append(pod("g-0", at=30.0, ending=True))
    sets = [stateful_set(0.0, 2), stateful_set(scaled_at, 1)]
    assert max(len(away) for _, away in away_by_us(records, "g", set(), sets)) == most


@pytest.mark.parametrize(("up", "most"), [(True, 1), (False, 2)])
def test_the_gate_of_ours_says_nothing_of_who_is_away(up: bool, most: int) -> None:
    back = pod("g-0", uid="again")
    back.obj["spec"] = {"readinessGates": [{"conditionType": "slackwater.dev/rejoined"}]}
    back.obj["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    back.obj["status"]["conditions"].append({"type": "ContainersReady", "status": "True" if up else "False"})
    records = [pod("g-0", ready=True), pod("g-1", ready=True), pod("g-0", ending=True), back]
    assert most_away([*records, pod("g-1", ending=True)]) == most


def most_away(records: list[Record], struck: set[str] | None = None) -> int:
    return max(len(away) for _, away in away_by_us(records, "g", struck or set()))


def pod(
    name: str, uid: str = "", at: float = 0.0, *, ready: bool = False, ending: bool = False, gone: bool = False
) -> Record:
    metadata: dict[str, Any] = {"name": name, "uid": uid or f"u-{name[-1]}", "labels": {"slackwater.dev/group": "g"}}
    metadata["ownerReferences"] = [{"name": name.rpartition("-")[0]}]
    if ending:
        metadata["deletionTimestamp"] = "now"
    status = {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    return Record(at, "pods", gone, {"metadata": metadata, "status": status})


def stateful_set(at: float, replicas: int) -> Record:
    return Record(at, "statefulsets", False, {"metadata": {"name": "g"}, "spec": {"replicas": replicas}})
