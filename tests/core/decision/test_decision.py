"""How decisions follow one another."""

from __future__ import annotations

import pytest

from slackwater.core.decision.acts import Cause, DeletePod
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason, waiting_for
from slackwater.core.world.memory import RolloutMemory
from tests.core.factories import NOW

BEFORE, AFTER = RolloutMemory(), RolloutMemory(started_at=NOW)
ACT = DeletePod("payments-1", "uid-1", 1, Cause.DOWN)
HOLD, REFUSAL, OTHER = (Hold(reason, "") for reason in (Reason.PAUSED, Reason.CLIENT_CANNOT, Reason.BROKER_CANNOT))
FIRST, SECOND = Note(Reason.CREATED, "first"), Note(Reason.SCALED, "second")


@pytest.mark.parametrize(
    ("earlier", "later", "both"),
    [
        pytest.param(Decision(BEFORE), Decision(AFTER), Decision(AFTER), id="the memory is the later one's"),
        pytest.param(Decision(BEFORE, ACT), Decision(BEFORE), Decision(BEFORE), id="so is the act, were there none"),
        pytest.param(Decision(BEFORE, hold=HOLD), Decision(BEFORE, ACT), Decision(BEFORE, ACT), id="and the hold"),
        pytest.param(
            Decision(BEFORE, refusal=REFUSAL),
            Decision(BEFORE, ACT),
            Decision(BEFORE, ACT, refusal=REFUSAL),
            id="a refusal stays",
        ),
        pytest.param(
            Decision(BEFORE, refusal=REFUSAL),
            Decision(BEFORE, refusal=OTHER),
            Decision(BEFORE, refusal=OTHER),
            id="unless there is a newer one",
        ),
        pytest.param(
            Decision(BEFORE, notes=(FIRST,)),
            Decision(BEFORE, notes=(SECOND,)),
            Decision(BEFORE, notes=(FIRST, SECOND)),
            id="notes come in their order",
        ),
    ],
)
def test_the_later_one_decides(earlier: Decision, later: Decision, both: Decision) -> None:
    assert earlier.then(later) == both


@pytest.mark.parametrize(
    ("decision", "settles"),
    [
        (Decision(BEFORE), False),
        (Decision(BEFORE, ACT), True),
        (Decision(BEFORE, hold=HOLD), True),
        (Decision(BEFORE, refusal=REFUSAL), False),
        (Decision(BEFORE, notes=(FIRST,)), False),
    ],
)
def test_an_act_or_a_hold_settles_the_pass(decision: Decision, settles: bool) -> None:
    assert decision.settles is settles


def test_an_event_says_once_that_something_waits() -> None:
    assert Hold(Reason.PAUSED, "paused").in_an_event == "waiting: paused"
    awaited = waiting_for(Reason.RESTART_IN_HAND, "pod payments-1 to be made", 1.0)
    assert (awaited.message, awaited.recheck_s) == ("waiting for pod payments-1 to be made", 1.0)
    assert awaited.in_an_event == awaited.message
