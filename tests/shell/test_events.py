"""Events: each refusal that changes, once; and never a reason to fail."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.adapters.cluster.errors import ClusterRefused
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason, waiting_for
from slackwater.core.world.memory import RolloutMemory
from slackwater.shell.events import LONGEST_MESSAGE, changed_refusals, post
from tests.core.factories import group
from tests.shell.fakes import FakeApi

HOLD = Hold(Reason.PAUSED, "paused: remove the annotation to go on")


def shown(status: str, reason: str) -> dict[str, Any]:
    return {"conditions": [{"type": "RolloutGated", "status": status, "reason": reason}]}


@pytest.mark.parametrize(
    ("before", "hold", "told"),
    [
        ({}, None, False),
        ({}, HOLD, True),
        (shown("True", "Paused"), HOLD, False),
        (shown("False", "Paused"), HOLD, True),
        (shown("True", "PodNotReady"), HOLD, True),
        (shown("True", "Paused"), None, False),
    ],
)
def test_a_refusal_is_told_when_its_reason_is_not_the_one_shown(before: Any, hold: Hold | None, told: bool) -> None:
    assert bool(changed_refusals(before, Decision(RolloutMemory(), hold=hold))) is told


@pytest.mark.parametrize(
    ("hold", "told"),
    [
        (Hold(Reason.POD_NOT_READY, "pod a-1 is not Ready"), "waiting: pod a-1 is not Ready"),
        (waiting_for(Reason.POD_NOT_READY, "pod a-1"), "waiting for pod a-1"),
    ],
)
def test_a_refusal_says_once_that_it_waits(hold: Hold, told: str) -> None:
    assert changed_refusals({}, Decision(RolloutMemory(), hold=hold)) == (Note(Reason.POD_NOT_READY, told),)


async def test_an_event_is_about_its_group_and_not_too_long() -> None:
    fake = FakeApi()
    api: Any = fake
    await post(api, group(), Note(Reason.POD_STUCK, "x" * 5000, warning=True), 1_000_000.5)
    (event,) = fake.events
    assert event["type"] == "Warning"
    assert event["involvedObject"]["uid"] == "group-uid"
    assert len(event["message"]) == LONGEST_MESSAGE
    assert event["firstTimestamp"] == "1970-01-12T13:46:40Z"


async def test_an_event_that_is_refused_is_given_up() -> None:
    fake = FakeApi(failures={"create Event": ClusterRefused("the namespace is being deleted")})
    api: Any = fake
    await post(api, group(), Note(Reason.CREATED, "created"), 1.0)
    assert fake.events == []
