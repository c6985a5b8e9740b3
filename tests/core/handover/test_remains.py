"""What the last handover has left behind, and in which order that is put right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.api.annotations import PAUSE
from slackwater.core.decision.acts import Cause, DeletePod
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Reason
from slackwater.core.handover.fencing import has_not_come
from slackwater.core.handover.remains import afterwards, note_what_is_over
from slackwater.core.world.handover import Handover, Held, Over, TakenOver
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.pods import Pod
from slackwater.core.world.sighting import MemberSighting
from slackwater.core.world.step import Step
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World
from tests.core.factories import LONG_AGO, NOW, group
from tests.core.handover.stories import (
    ALONE_SINCE,
    IN_USE,
    NEW,
    NEWCOMER,
    OLD,
    A,
    B,
    C,
    begun_with,
    both,
    looked_at,
    over,
    shown,
)

FENCED: Final = looked_at(C, MemberSighting(C, NOW - 5, ALONE_SINCE - 1))
CALM: Final = looked_at(B, MemberSighting(B, NOW - 90, NOW - 91))
AWAY: Final = looked_at(None, None)
RESTARTED: Final = replace(NEW, restarts=1, started_at=NOW - 3)
MISSING: Final = over(alone_since=NOW - 400)
LONG_UP: Final = replace(NEW, started_at=NOW - 400)


def left(
    seen: World,
    then: Handover | None,
    pods: tuple[Pod, ...] = (NEW,),
    back: bool = False,
    paused: bool = False,
    **memory: Any,
) -> Decision | None:
    """Ordinal 0 has been handed over to `payments-alt`; or, with `back`, it is in `payments` again."""
    in_use = IN_USE if back else replace(IN_USE, start=1, replicas=2)
    newcomer = replace(NEWCOMER, replicas=0) if back else NEWCOMER
    world = both(seen, then, pods, in_use, newcomer, **memory)
    if paused:
        world = replace(world, group=group(annotations={PAUSE: ""}))
    assert world.beside is not None
    return afterwards(world, world.beside)


CASES: Final = {
    "nothing was ever handed over": (left(CALM, None), "nothing"),
    "the replaced pod has not ended": (
        left(FENCED, begun_with(), (OLD, NEW)),
        "RestartInHand: waiting for payments-0, which was replaced, to end",
    ),
    "it has ended, which is written down": (left(FENCED, replace(over(), state=over().reached)), "remember"),
    "all is well": (left(CALM, over()), "nothing"),
    "its pod was fenced": (left(FENCED, over()), "DeletePod payments-alt-0"),
    "its pod was fenced, and the group is paused": (left(FENCED, over(), paused=True), "nothing"),
    "its pod was fenced, and is being deleted": (left(FENCED, over(), (replace(NEW, terminating=True),)), "nothing"),
    "its pod was fenced, and is gone": (left(FENCED, over(), ()), "nothing"),
    "its pod was fenced, and was started again by its node": (left(FENCED, over(), (RESTARTED,)), "remember"),
    "that has been counted": (
        left(FENCED, over(state=Over(TakenOver(Held({"payments-0": B})))), (RESTARTED,)),
        "nothing",
    ),
    "its pod has not come, which is the new version's failure": (left(AWAY, MISSING, (LONG_UP,)), "nothing"),
    "its pod has not come, on the way back": (
        left(AWAY, MISSING, (LONG_UP,), phase=RolloutPhase.ROLLING_BACK),
        "DeletePod payments-alt-0",
    ),
    "a pod of the version before has not come": (left(AWAY, MISSING, (OLD,), back=True), "DeletePod payments-0"),
    "it has not come, and the group is paused": (left(AWAY, MISSING, (OLD,), back=True, paused=True), "nothing"),
    "it has not come, and is being deleted": (
        left(AWAY, MISSING, (replace(OLD, terminating=True),), back=True),
        "nothing",
    ),
    "it has not come, and was started again three times": (
        left(AWAY, replace(MISSING, alone_since=LONG_AGO, not_come=3), (OLD,), back=True),
        "nothing",
    ),
}


@pytest.mark.parametrize(("decided", "expected"), CASES.values(), ids=CASES.keys())
def test_what_is_left_to_be_done(decided: Decision | None, expected: str) -> None:
    assert shown(decided) == expected


def test_it_is_over_from_now_on() -> None:
    taken = replace(over(), state=over().reached, alone_since=NOW - 500)
    decided = left(CALM, taken)
    assert decided is not None
    assert decided.memory.handover == replace(over(), alone_since=NOW)


ALONE: Final = (NEWCOMER,)
GOES_ON: Final = begun_with()
ENDINGS: Final = {
    "one StatefulSet was deleted, and none of the other's pods has the ordinal": (GOES_ON, ALONE, (), True),
    "a pod of the one that is gone has it still": (GOES_ON, ALONE, (0,), False),
    "a pod of the one that is gone has another": (GOES_ON, ALONE, (1,), True),
    "there are both": (GOES_ON, (IN_USE, NEWCOMER), (), False),
    "there is none": (GOES_ON, (), (), False),
    "it was over": (over(), ALONE, (), False),
    "nothing was ever handed over": (None, ALONE, (), False),
}


@pytest.mark.parametrize(("then", "sets", "loose", "ends"), ENDINGS.values(), ids=ENDINGS.keys())
def test_a_handover_is_over_that_lost_one_of_its_statefulsets(
    then: Handover | None, sets: tuple[Workload, ...], loose: tuple[int, ...], ends: bool
) -> None:
    """Else whatever its pod did from then on would pass for the doing of the other one."""
    seen = replace(both(CALM, then, (NEW,), IN_USE, NEWCOMER), sets=sets, loose=frozenset(loose))
    after = note_what_is_over(seen).memory
    if not ends:
        assert after == seen.memory
    else:
        assert after.handover is not None
        assert (after.handover.over, after.handover.alone_since) == (True, NOW)


def test_a_fenced_pod_is_restarted_by_its_uid_counted_and_said() -> None:
    decided = left(FENCED, over(fenced=1))
    assert decided is not None
    assert decided.act == DeletePod("payments-alt-0", "new", 0, Cause.FENCED)
    assert decided.memory.handover == over(fenced=2)
    assert decided.memory.step == Step(0, NOW, {"payments-0": C}, uid_before="new")
    assert [(note.reason, note.warning) for note in decided.notes] == [(Reason.FENCED_EACH_OTHER, True)]


def test_a_process_that_ended_when_it_was_fenced_is_counted_once() -> None:
    decided = left(FENCED, over(fenced=1), (RESTARTED,))
    assert decided is not None
    assert decided.memory.handover == over(fenced=2, state=Over(TakenOver(Held({"payments-0": B}), {"payments-0": A})))
    assert [note.reason for note in decided.notes] == [Reason.FENCED_EACH_OTHER]


def test_a_pod_that_has_not_come_is_restarted_for_that_on_a_counter_of_its_own() -> None:
    decided = left(AWAY, replace(MISSING, alone_since=LONG_AGO, fenced=2, not_come=1), (OLD,), back=True)
    assert decided is not None
    assert decided.act == DeletePod("payments-0", "old", 0, Cause.NOT_COME)
    assert decided.memory.handover == replace(MISSING, alone_since=LONG_AGO, fenced=2, not_come=2)
    assert decided.memory.step == Step(0, NOW, {}, uid_before="old")
    message = "payments-0 has not joined the group, and is started again: 2 of 3 times at most"
    assert decided.notes == (Note(Reason.POD_NOT_JOINING, message, warning=True),)


def test_a_pod_that_was_seen_to_be_fenced_is_told_as_that() -> None:
    """Although nobody has had its id for `rejoinTimeout`, too."""
    long = replace(NEW, created_at=LONG_AGO, started_at=LONG_AGO)
    then = over(alone_since=NOW - 400, state=Over(TakenOver(Held({"payments-0": B}, long.run))))
    seen = looked_at(None, None, gone_since=NOW - 390)
    assert has_not_come(seen, then, long)
    decided = left(seen, then, (long,), phase=RolloutPhase.ROLLING_BACK)
    assert decided is not None
    assert isinstance(decided.act, DeletePod)
    assert decided.act.cause is Cause.FENCED
