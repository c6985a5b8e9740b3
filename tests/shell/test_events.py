"""Events: each refusal that changes, once; and never a reason to fail."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.adapters.cluster.errors import ClusterRefused
from slackwater.api.resources import ConsumerGroup
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason, waiting_for
from slackwater.core.world.memory import RolloutMemory
from slackwater.shell.events import (
    EVENT_AGAIN_S,
    EVENTS_AT_ONCE,
    HOLD_AGAIN_S,
    HOLDS_AT_ONCE,
    LONGEST_MESSAGE,
    Post,
    ToldRefusals,
)
from slackwater.shell.store import Key
from tests.core.factories import group
from tests.shell.fakes import FakeApi

KEY = Key("shop", "payments")
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
    assert bool(ToldRefusals().to_tell(KEY, before, Decision(RolloutMemory(), hold=hold), 0.0)) is told


@pytest.mark.parametrize(
    ("hold", "told"),
    [
        (Hold(Reason.POD_NOT_READY, "pod a-1 is not Ready"), "waiting: pod a-1 is not Ready"),
        (waiting_for(Reason.POD_NOT_READY, "pod a-1"), "waiting for pod a-1"),
    ],
)
def test_a_refusal_says_once_that_it_waits(hold: Hold, told: str) -> None:
    notes = ToldRefusals().to_tell(KEY, {}, Decision(RolloutMemory(), hold=hold), 0.0)
    assert notes == (Note(Reason.POD_NOT_READY, told),)


UNSEEN = Hold(Reason.KAFKA_UNREACHABLE, "no broker answers")
NOT_READY = Hold(Reason.POD_NOT_READY, "pod a-1 is not Ready")


@pytest.mark.parametrize(
    ("then", "told_again"),
    [((UNSEEN, HOLD), False), ((UNSEEN, UNSEEN, HOLD), False), ((NOT_READY, HOLD), True), ((None, HOLD), True)],
    ids=["Kafka was away for a moment", "for two", "it was another reason", "it was over"],
)
@pytest.mark.parametrize("kind", ["hold", "refusal"])
def test_what_holds_again_after_a_moment_out_of_sight_is_not_told_again(
    kind: str, then: tuple[Hold | None, ...], told_again: bool
) -> None:
    told, status = ToldRefusals(), {"hold": ("RolloutGated", "True"), "refusal": ("ProtocolUpgrade", "False")}[kind]
    before: dict[str, Any] = {}
    for hold in (HOLD, *then):
        notes = told.to_tell(KEY, before, Decision(RolloutMemory(), **{kind: hold}), 0.0)  # type: ignore[arg-type]
        reason = "Fine" if hold is None else hold.reason.value
        before = {"conditions": [{"type": status[0], "status": status[1] if hold else "Unknown", "reason": reason}]}
    assert [note.reason for note in notes] == ([HOLD.reason] if told_again else [])


def test_a_refusal_is_not_told_again_after_a_rebalance_in_which_it_could_not_be_seen() -> None:
    told, before = ToldRefusals(), {}  # type: ToldRefusals, dict[str, Any]
    keeps_data, rebalances = Hold(Reason.ASSIGNOR_KEEPS_DATA, "data"), Hold(Reason.GROUP_REBALANCING, "rebalances")
    found = []
    for refusal in (rebalances, keeps_data, rebalances, keeps_data):
        found += [note.reason for note in told.to_tell(KEY, before, Decision(RolloutMemory(), refusal=refusal), 0.0)]
        before = {"conditions": [{"type": "ProtocolUpgrade", "status": "False", "reason": refusal.reason.value}]}
    assert found == [Reason.GROUP_REBALANCING, Reason.ASSIGNOR_KEEPS_DATA]


def test_of_a_group_that_is_forgotten_nothing_was_told() -> None:
    told, decided = ToldRefusals(), Decision(RolloutMemory(), hold=HOLD)
    assert told.to_tell(KEY, {}, decided, 0.0)
    assert not told.to_tell(KEY, {}, decided, 0.0)
    told.forget(KEY)
    assert told.to_tell(KEY, {}, decided, 0.0)


FLAPS = (Hold(Reason.GROUP_REBALANCING, "rebalances"), Hold(Reason.GROUP_STABILIZING, "calm for 3 s"))


class Flapping:
    """A group whose hold is another one at each pass."""

    def __init__(self) -> None:
        self.told = ToldRefusals()
        self._passes = 0

    def said(self, now: float, times: int, key: Key = KEY) -> int:
        found = 0
        for _ in range(times):
            self._passes += 1
            decision = Decision(RolloutMemory(), hold=FLAPS[self._passes % 2])
            found += len(self.told.to_tell(key, {}, decision, now))
        return found


def test_a_group_that_flaps_makes_so_many_events_at_once_and_then_one_in_five_minutes() -> None:
    group, then = Flapping(), 1000.0
    assert group.said(then, times=60) == HOLDS_AT_ONCE
    assert group.said(then + HOLD_AGAIN_S - 1, times=5) == 0
    assert group.said(then + HOLD_AGAIN_S, times=5) == 1
    assert group.said(then + HOLD_AGAIN_S * 3.5, times=5) == 2
    assert group.said(then + HOLD_AGAIN_S * 4, times=5) == 1
    assert group.said(then + HOLD_AGAIN_S * 1000, times=60) == HOLDS_AT_ONCE


def test_a_clock_that_is_set_back_gives_and_takes_no_events() -> None:
    group = Flapping()
    group.said(1000.0, times=HOLDS_AT_ONCE - 1)
    assert group.said(0.0, times=5) == 1
    assert group.said(HOLD_AGAIN_S, times=5) == 1


def test_another_group_and_one_that_is_made_again_say_what_holds_them() -> None:
    group = Flapping()
    group.said(0.0, times=60)
    assert group.said(0.0, times=2, key=Key("shop", "refunds")) == 2
    group.told.forget(KEY)
    assert group.said(0.0, times=2) == 2


def test_warnings_are_not_limited() -> None:
    group, holds = Flapping(), Decision(RolloutMemory(), hold=HOLD)
    warned = [
        group.told.to_tell(KEY, {}, Decision(RolloutMemory(), refusal=Hold(reason, "refused")), 0.0)
        for reason in (Reason.CLIENT_CANNOT, Reason.BROKER_CANNOT) * HOLDS_AT_ONCE
    ]
    assert all(warned)
    assert group.told.to_tell(KEY, {}, holds, 0.0)  # they take nothing from holds


async def test_an_event_is_about_its_group_and_not_too_long() -> None:
    fake = FakeApi()
    api: Any = fake
    await Post(api).send(group(), Note(Reason.POD_STUCK, "x" * 5000, warning=True), 1_000_000.5)
    (event,) = fake.events
    assert event["type"] == "Warning"
    assert event["involvedObject"]["uid"] == "group-uid"
    assert len(event["message"]) == LONGEST_MESSAGE
    assert event["firstTimestamp"] == "1970-01-12T13:46:40Z"


async def test_an_event_that_is_refused_is_given_up() -> None:
    fake = FakeApi(failures={"create Event": ClusterRefused("the namespace is being deleted")})
    api: Any = fake
    await Post(api).send(group(), Note(Reason.CREATED, "created"), 1.0)
    assert fake.events == []


async def test_events_about_one_group_are_bounded_and_warnings_find_room() -> None:
    fake, now = FakeApi(), 1.0
    api: Any = fake
    post, done, warning = Post(api), Note(Reason.CREATED, "done"), Note(Reason.ROLLOUT_FAILED, "failed", warning=True)

    other = group().model_copy(update={"metadata": group().metadata.model_copy(update={"name": "refunds"})})

    async def written(about: ConsumerGroup, note: Note) -> bool:
        before = len(fake.events)
        await post.send(about, note, now)
        return len(fake.events) > before

    assert [await written(group(), done) for _ in range(EVENTS_AT_ONCE + 1)] == [True] * EVENTS_AT_ONCE + [False]
    assert await written(group(), warning)
    assert await written(other, done)
    now += EVENT_AGAIN_S
    assert [await written(group(), done) for _ in range(2)] == [True, False]
    post.forget(Key(group().namespace, group().name))
    assert await written(group(), done)


def test_what_a_warning_of_the_same_pass_says_is_not_said_once_more_as_a_wait() -> None:
    """A rollout that fails is held by what it failed of: two Events of one reason had the same 500 characters."""
    stuck = Hold(Reason.POD_STUCK, "pod payments-2 is stuck in ErrImagePull: not found", 0.0)
    failed = Note(Reason.POD_STUCK, f"{stuck.message}. The rollout has stopped: apply another template", warning=True)
    told = ToldRefusals()
    assert told.to_tell(KEY, {}, Decision(RolloutMemory(), hold=stuck, notes=(failed,)), 0.0) == ()
    assert told.to_tell(KEY, shown("True", "PodStuck"), Decision(RolloutMemory(), hold=stuck), 0.0) == ()
    back = Note(Reason.ROLLING_BACK, f"{stuck.message}; going back", warning=True)
    assert ToldRefusals().to_tell(KEY, {}, Decision(RolloutMemory(), hold=stuck, notes=(back,)), 0.0)
