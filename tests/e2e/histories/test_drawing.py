"""The histories and their judge, without a cluster: a judge that finds nothing must be able to find something."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.histories.drawing import COMMANDS, FEWEST, FIELDS, MOST, STRIKES, WIDE, draw
from tests.e2e.histories.test_histories import away_by_us
from tests.e2e.stage.recorder import Record

SEEDS = range(1, 201)


def test_a_seed_is_a_history() -> None:
    assert [draw(seed) for seed in SEEDS] == [draw(seed) for seed in SEEDS]


def test_two_hundred_of_them_hold_every_deed_and_are_as_long_as_is_asked() -> None:
    histories = [draw(seed) for seed in SEEDS]
    assert all(FEWEST <= len(history.steps) <= MOST for history in histories)
    assert {step.name for history in histories for step in history.steps} == {*FIELDS, *COMMANDS, *STRIKES, *WIDE}
    assert not any(step.name in WIDE for history in histories if history.narrow for step in history.steps)


@pytest.mark.parametrize(("struck", "most"), [(set(), 2), ({"u-0"}, 1), ({"u-0", "u-1"}, 0)])
def test_two_that_end_together_are_found_unless_one_was_struck(struck: set[str], most: int) -> None:
    records = [pod("g-0", ready=True), pod("g-1", ready=True), pod("g-0", ending=True), pod("g-1", ending=True)]
    assert max(len(away) for _, away in away_by_us(records, "g", struck)) == most


def test_one_that_is_back_is_not_away_and_one_that_was_down_never_was() -> None:
    one_by_one = [pod("g-0", ready=True), pod("g-1", ready=True), pod("g-0", ending=True)]
    one_by_one += [pod("g-0", uid="again", ready=True), pod("g-1", ending=True)]
    assert max(len(away) for _, away in away_by_us(one_by_one, "g", set())) == 1
    down = [pod("g-0"), pod("g-1", ready=True), pod("g-0", ending=True), pod("g-1", ending=True)]
    assert max(len(away) for _, away in away_by_us(down, "g", set())) == 1


def pod(name: str, uid: str = "", *, ready: bool = False, ending: bool = False) -> Record:
    metadata: dict[str, Any] = {"name": name, "uid": uid or f"u-{name[-1]}", "labels": {"slackwater.dev/group": "g"}}
    if ending:
        metadata["deletionTimestamp"] = "now"
    status = {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    return Record(0.0, "pods", False, {"metadata": metadata, "status": status})
