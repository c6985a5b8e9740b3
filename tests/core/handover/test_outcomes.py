"""What is done about an ordinal that both StatefulSets have: a row for each stage and holder, seen from outside."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, get_args, get_type_hints

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.handover.holder import Holder, heir, holder, keeper
from slackwater.core.handover.outcomes import NEXT, outcome
from slackwater.core.handover.overlap import LOOK_AGAIN_S, Overlap, Stage
from slackwater.core.world.handover import Begun, Handover, Held, Over, Replacement, TakenOver, Undone
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.sighting import MemberSighting
from slackwater.core.world.two_sets import direction_of
from slackwater.core.world.world import World
from tests.core.factories import LONG_AGO, NAME, NOW
from tests.core.handover.stories import (
    AFTER_NOBODY,
    ALT,
    BEGUN_AT,
    HELD,
    JOINED_AT,
    NEW,
    OLD,
    TWO_HELD,
    A,
    B,
    C,
    begun_with,
    both,
    looked_at,
    shown,
    two_threads,
)

LETS_OLD_GO, GIVES_OLD_UP = f"LET_GO {NAME} [1, 3)", f"GIVE_UP {NAME} [1, 3)"
TAKES_BACK: Final = f"TAKE_BACK {ALT} [0, 0)"
UNKNOWN: Final = Handover(0, ALT, NOW, Undone())
"""The replacement goes, and nothing is known of the old pod."""
TAKEN: Final = replace(begun_with(), state=TakenOver(Held({"payments-0": B}, NEW.run), {"payments-0": A}))
TWO_IDLE: Final = begun_with(replace(TWO_HELD.held, down=True, idle=True))
NOT_RUNNING: Final = replace(NEW, started_at=None)
CAME_BACK: Final = replace(OLD, restarts=1, started_at=NOW - 25)
AFTER_ITS_RETURN: Final = Held({"payments-0": B}, CAME_BACK.run, down=True)
"""With a replacement beside it, no member proves that the old pod serves."""
CRASHED: Final = replace(OLD, restarts=1, started_at=None, ready=False, ended_at=JOINED_AT - 5)
CALM: Final = MemberSighting(A, LONG_AGO, None)


@dataclass(frozen=True)
class Row:
    stage: Stage
    holder: Holder
    then: Handover
    outcome: str
    remembered: Handover
    seen: World = field(default_factory=looked_at)
    pods: tuple[Pod, ...] = (OLD, NEW)
    notes: int = 0
    goes_back: bool = False


def fenced(handover: Handover) -> Handover:
    return replace(handover, fenced=handover.fenced + 1, returned=handover.returned + 1)


def undone(held: Held = HELD) -> Handover:
    return replace(begun_with(), state=Undone(held))


ROWS: Final = {
    "the old pod has the ids: its replacement is waited for": Row(
        Stage.BEGUN,
        Holder.OLD,
        begun_with(),
        "RestartInHand: waiting for payments-alt-0 to take over from payments-0",
        begun_with(),
        looked_at(A, CALM),
    ),
    "the replacement has the ids: that is written down, and the old pod let go": Row(
        Stage.BEGUN, Holder.NEW, begun_with(), LETS_OLD_GO, TAKEN
    ),
    "one of two members has come: the other one is waited for": Row(
        Stage.BEGUN,
        Holder.PARTLY_NEW,
        TWO_HELD,
        "RestartInHand: waiting for all members with ordinal 0 to take over",
        TWO_HELD,
        two_threads("b0", "a1"),
    ),
    "the replacement's start is not reported yet: its node is waited for": Row(
        Stage.BEGUN,
        Holder.STARTING,
        begun_with(),
        "RestartInHand: waiting for the node to tell that the replacement with ordinal 0 has started",
        begun_with(),
        pods=(OLD, NOT_RUNNING),
    ),
    "the old pod came back as another member: that is written down": Row(
        Stage.BEGUN,
        Holder.CAME_BACK,
        begun_with(fenced=2),
        "remember",
        Handover(0, ALT, NOW, Begun(AFTER_ITS_RETURN), Replacement("a version"), fenced=2),
        pods=(CAME_BACK, NOT_RUNNING),
    ),
    "the old pod is down, and either may have joined: a living one is waited for": Row(
        Stage.BEGUN,
        Holder.DOWN,
        begun_with(),
        "RestartInHand: waiting for a member with ordinal 0 that is known to live",
        begun_with(),
        pods=(CRASHED, NEW),
    ),
    "either may have joined, and the old pod was restarted: they are parted": Row(
        Stage.BEGUN, Holder.UNCLEAR, begun_with(), TAKES_BACK, fenced(UNKNOWN), pods=(CAME_BACK, NEW), notes=1
    ),
    "the replacement joined and crashed, and the old pod ran on: they are parted, and its ids stay known": Row(
        Stage.BEGUN,
        Holder.UNCLEAR,
        begun_with(),
        TAKES_BACK,
        fenced(undone()),
        pods=(OLD, replace(NOT_RUNNING, restarts=1)),
        notes=1,
    ),
    "nobody had the id in between: they are parted, and nothing is known of the old pod, which may work": Row(
        Stage.BEGUN,
        Holder.UNCLEAR,
        begun_with(),
        TAKES_BACK,
        fenced(UNKNOWN),
        looked_at(B, AFTER_NOBODY),
        notes=1,
    ),
    "no node has the replacement, and the id has changed: the old pod has joined again by itself": Row(
        Stage.BEGUN,
        Holder.CAME_BACK,
        begun_with(),
        "remember",
        Handover(0, ALT, NOW, Begun(Held({"payments-0": B}, OLD.run, down=True)), Replacement("a version")),
        pods=(OLD, replace(NOT_RUNNING, ready=False, waiting="Unschedulable")),
    ),
    "turned round while the old pod has the ids: the replacement goes": Row(
        Stage.TURNED_ROUND, Holder.OLD, begun_with(), TAKES_BACK, undone(), looked_at(A, CALM), goes_back=True
    ),
    "turned round when the replacement has the ids: it keeps them until it is handed back": Row(
        Stage.TURNED_ROUND, Holder.NEW, begun_with(), LETS_OLD_GO, TAKEN, goes_back=True
    ),
    "turned round while one of two members has come: the replacement goes": Row(
        Stage.TURNED_ROUND,
        Holder.PARTLY_NEW,
        TWO_HELD,
        TAKES_BACK,
        replace(TWO_HELD, state=Undone(TWO_HELD.held)),
        two_threads("b0", "a1"),
        goes_back=True,
    ),
    "turned round while its start is not reported: its node is waited for all the same": Row(
        Stage.TURNED_ROUND,
        Holder.STARTING,
        begun_with(),
        "RestartInHand: waiting for the node to tell that the replacement with ordinal 0 has started",
        begun_with(),
        pods=(OLD, NOT_RUNNING),
        goes_back=True,
    ),
    "turned round after the old pod came back: its ids are written down first": Row(
        Stage.TURNED_ROUND,
        Holder.CAME_BACK,
        begun_with(),
        "remember",
        Handover(0, ALT, NOW, Begun(AFTER_ITS_RETURN), Replacement("a version")),
        pods=(CAME_BACK, NOT_RUNNING),
        goes_back=True,
    ),
    "turned round while the old pod is down: the replacement goes": Row(
        Stage.TURNED_ROUND, Holder.DOWN, begun_with(), TAKES_BACK, UNKNOWN, pods=(CRASHED, NEW), goes_back=True
    ),
    "turned round when either may have joined: they are parted": Row(
        Stage.TURNED_ROUND,
        Holder.UNCLEAR,
        begun_with(),
        TAKES_BACK,
        fenced(UNKNOWN),
        pods=(CAME_BACK, NEW),
        notes=1,
        goes_back=True,
    ),
    "the old pod was down and still is: it is given up": Row(
        Stage.FROM_A_DEAD_ONE,
        Holder.NOBODY,
        begun_with(Held({}, None, down=True)),
        GIVES_OLD_UP,
        begun_with(Held({}, None, down=True)),
        looked_at(A, CALM),
        pods=(replace(OLD, ready=False, started_at=None), NEW),
    ),
    "there was no old pod, and the replacement has joined: that is written down": Row(
        Stage.FROM_A_DEAD_ONE,
        Holder.NEW,
        begun_with(Held(down=True)),
        LETS_OLD_GO,
        replace(begun_with(), state=TakenOver(Held({"payments-0": B}, NEW.run))),
        pods=(NEW,),
    ),
    "the old pod was down and one of its replacement's two members has come: the other one is waited for": Row(
        Stage.FROM_A_DEAD_ONE,
        Holder.PARTLY_NEW,
        TWO_IDLE,
        "RestartInHand: waiting for all members with ordinal 0 to take over",
        TWO_IDLE,
        two_threads("b0", "a1"),
    ),
    "the old pod was down and came back: the replacement goes": Row(
        Stage.FROM_A_DEAD_ONE,
        Holder.CAME_BACK,
        begun_with(replace(HELD, down=True)),
        TAKES_BACK,
        replace(undone(replace(HELD, down=True)), returned=1),
        looked_at(A, CALM),
    ),
    "the replacement has taken over and keeps the ids: the old pod is let go": Row(
        Stage.TAKEN_OVER, Holder.NEW, TAKEN, LETS_OLD_GO, TAKEN
    ),
    "the replacement has taken over and lost the ids: they are parted": Row(
        Stage.TAKEN_OVER, Holder.UNCLEAR, TAKEN, TAKES_BACK, fenced(UNKNOWN), looked_at(C, None), notes=1
    ),
    "it was decided that the replacement goes: that stays so, whoever has the ids": Row(
        Stage.UNDONE, Holder.UNCLEAR, undone(), TAKES_BACK, undone()
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_each_row_of_the_table(row: Row) -> None:
    phase = RolloutPhase.ROLLING_BACK if row.goes_back else RolloutPhase.PROGRESSING
    world = both(row.seen, row.then, row.pods, phase=phase)
    beside = world.beside
    assert beside is not None
    way = direction_of(beside, "" if row.goes_back else "a version", world.memory)
    decided = outcome(world, beside, way, 0)
    assert (shown(decided), len(decided.notes)) == (row.outcome, row.notes)
    assert decided.memory.handover == row.remembered
    assert replace(decided.memory, handover=row.then) == world.memory
    overlap = Overlap(world, beside, way, row.then, world.pod(0), next(iter(beside.arriving), None))
    assert (overlap.stage, overlap.holder) == (row.stage, row.holder)


def test_every_answer_of_a_judge_has_a_row_and_every_row_a_test() -> None:
    judges = {Stage.BEGUN: holder, Stage.TURNED_ROUND: holder, Stage.FROM_A_DEAD_ONE: heir, Stage.TAKEN_OVER: keeper}
    answers = {stage: set(get_args(get_type_hints(judge)["return"])) for stage, judge in judges.items()}
    assert {stage: set(row) for stage, row in NEXT.items()} == answers | {Stage.UNDONE: {Holder.UNCLEAR}}
    assert {(row.stage, row.holder) for row in ROWS.values()} == {(s, h) for s, row in NEXT.items() for h in row}


@pytest.mark.parametrize(
    "then",
    [None, Handover(1, ALT, BEGUN_AT, Begun(HELD), fenced=2, cold=True)],
    ids=["nothing is remembered", "another ordinal is remembered"],
)
def test_an_ordinal_of_which_nothing_was_written_down_loses_its_younger_pod(then: Handover | None) -> None:
    world = both(looked_at(), then)
    assert world.beside is not None
    decided = outcome(world, world.beside, direction_of(world.beside, "a version", world.memory), 0)
    carried = (then.fenced, then.cold) if then is not None else (0, False)
    assert shown(decided) == TAKES_BACK
    assert decided.memory.handover == replace(UNKNOWN, fenced=carried[0], cold=carried[1])


def test_nothing_is_decided_about_two_pods_while_kafka_cannot_be_asked() -> None:
    away = Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW)
    world = both(looked_at(kafka=away), begun_with())
    assert world.beside is not None
    decided = outcome(world, world.beside, direction_of(world.beside, "a version", world.memory), 0)
    assert shown(decided) == "KafkaUnreachable: no broker answers"
    assert decided.memory == world.memory


def test_a_state_that_was_over_is_judged_as_far_as_it_had_come() -> None:
    """Somebody has given the ordinal back to both StatefulSets."""
    world = both(looked_at(), replace(TAKEN, state=Over(TAKEN.reached)))
    assert world.beside is not None
    assert shown(outcome(world, world.beside, direction_of(world.beside, "a version", world.memory), 0)) == LETS_OLD_GO


def test_a_rollout_that_has_stopped_gives_no_pod_up_that_was_down_when_its_handover_began() -> None:
    """It may come back, and its replacement is of the version that failed."""
    row = ROWS["the old pod was down and still is: it is given up"]
    world = both(row.seen, row.then, row.pods, phase=RolloutPhase.FAILED)
    assert world.beside is not None
    decided = outcome(world, world.beside, direction_of(world.beside, "a version", world.memory), 0)
    assert (shown(decided), decided.memory) == ("RestartInHand: the rollout has stopped", world.memory)


def test_the_group_is_looked_at_often_while_a_start_is_not_reported() -> None:
    world = both(looked_at(), begun_with(), (OLD, NOT_RUNNING))
    assert world.beside is not None
    decided = outcome(world, world.beside, direction_of(world.beside, "a version", world.memory), 0)
    assert decided.hold is not None
    assert decided.hold.look_s == LOOK_AGAIN_S
