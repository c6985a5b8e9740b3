"""What is remembered from a clock that was ahead: one row for each moment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.world.handover import Begun, Handover, Held, Replacement
from slackwater.core.world.history import CLOCK_SET_BACK_S
from slackwater.core.world.memory import (
    Canary,
    LastHolder,
    Release,
    RolloutMemory,
    Upgrade,
)
from slackwater.core.world.pods import Run
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.refusal import Refusal
from slackwater.core.world.remaking import Remaking
from slackwater.core.world.set_back import not_in_the_future
from slackwater.core.world.step import Step
from slackwater.core.world.turn import TurnRecord
from tests.core.factories import NOW

HELD = Held({"payments-0": "a"}, Run("uid", NOW + 3600, 0))
"""A node's clock gave its start: it says which run it was."""


def handed_over(started_at: float = NOW - 9, alone_since: float | None = None, **changes: float) -> RolloutMemory:
    replacement = Replacement("v2", changes.get("running_since"))
    return RolloutMemory(handover=Handover(0, "alt", started_at, Begun(HELD), replacement, alone_since=alone_since))


def remembered(field: str, at: float) -> RolloutMemory:
    upgrade = Upgrade(Profile.EAGER, StrategyName.DRAIN_CUTOVER, (Profile.CONSUMER,))
    return {
        "started_at": RolloutMemory(started_at=at),
        "step": RolloutMemory(step=Step(2, at, {"payments-2": "a"}, made=True)),
        "ended_since": RolloutMemory(ended_since=at),
        "canary": RolloutMemory(canary=Canary(0, at)),
        "upgrade": RolloutMemory(upgrade=replace(upgrade, stopped_at=at)),
        "released": RolloutMemory(released={"payments-1": Release("a", at, tries=3)}),
        "refused": RolloutMemory(refused={"payments-1": Refusal(at, 2, uid="uid", started_at=NOW + 3600)}),
        "remaking": RolloutMemory(remaking=Remaking("claims", at)),
        "holders": RolloutMemory(holders={"payments-1": LastHolder("a", at)}),
        "turn.asked_at": RolloutMemory(turn=TurnRecord(MoveReason.ROLLOUT, at)),
        "turn.given_at": RolloutMemory(turn=TurnRecord(MoveReason.ROLLOUT, NOW - 99, at)),
        "turn.done_at": RolloutMemory(turn=TurnRecord(MoveReason.ROLLOUT, NOW - 99, NOW - 98, at)),
        "turn.tried_since": RolloutMemory(turn=TurnRecord(MoveReason.ROLLOUT, NOW - 99, tried_since=at)),
        "handover.started_at": handed_over(at),
        "handover.alone_since": handed_over(alone_since=at),
    }[field]


@pytest.mark.parametrize(
    "field",
    [
        "started_at",
        "step",
        "ended_since",
        "canary",
        "upgrade",
        "released",
        "refused",
        "holders",
        "remaking",
        "turn.asked_at",
        "turn.given_at",
        "turn.done_at",
        "turn.tried_since",
        "handover.started_at",
        "handover.alone_since",
    ],
)
def test_what_lies_in_the_future_came_now(field: str) -> None:
    assert not_in_the_future(remembered(field, NOW + 3600), NOW) == remembered(field, NOW)
    for at in (NOW + CLOCK_SET_BACK_S, NOW - 60):
        assert not_in_the_future(remembered(field, at), NOW) == remembered(field, at)


def test_retry_is_given_no_time_ahead() -> None:
    """Pods that are made meanwhile would be deleted again, as if they were from before."""
    for retried_at, expected in ((NOW + 3600, NOW), (NOW + 0.1, NOW), (NOW - 60, NOW - 60), (None, None)):
        assert not_in_the_future(RolloutMemory(retried_at=retried_at), NOW).retried_at == expected


def test_a_start_that_lies_in_the_future_is_not_known() -> None:
    """The next replacement would be expected to join in the time that this one took by two clocks."""
    assert not_in_the_future(handed_over(running_since=NOW + 3600), NOW) == handed_over()
    assert not_in_the_future(handed_over(running_since=NOW + 30), NOW) == handed_over(running_since=NOW + 30)


def test_what_was_never_remembered_stays_so() -> None:
    assert not_in_the_future(RolloutMemory(), NOW) == RolloutMemory()
