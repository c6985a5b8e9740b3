"""Fenced is dead: when the pod that is left of two has lost its id to the other one."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.handover.fencing import (
    COMMITS_WITHIN_S,
    JOINS_AGAIN_WITHIN_S,
    ended_when_fenced,
    has_not_come,
    is_fenced,
)
from slackwater.core.world.handover import Begun, Handover, Held, Over, TakenOver
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.sighting import MemberSighting
from slackwater.core.world.world import World
from tests.core.factories import NOW, dynamic_member
from tests.core.handover.stories import (
    ALONE_SINCE,
    HELD,
    JOINED,
    NEW,
    OLD,
    SESSION_S,
    A,
    B,
    C,
    begun_with,
    handed_back,
    looked_at,
    over,
    with_members,
)


def taken_by(member_id: str, absent_at: float | None) -> World:
    return looked_at(member_id, MemberSighting(member_id, NOW - 5, absent_at))


def watched_for(so_long_s: float | None, seen: World) -> World:
    since = None if so_long_s is None else NOW - so_long_s
    return replace(seen, history=replace(seen.history, watched_since=since))


GONE_IN_TIME: Final = ALONE_SINCE + SESSION_S
FENCED: Final = {
    "its own member is there": (over(), looked_at(B, None), NEW, False),
    "the other process took the id before it ended": (over(), taken_by(C, ALONE_SINCE - 0.1), NEW, True),
    "another member came when no other process was left": (over(), taken_by(C, ALONE_SINCE), NEW, False),
    "another member was there at the first look": (over(), taken_by(C, None), NEW, True),
    "another member was there at the first look, a moment ago": (
        over(),
        watched_for(COMMITS_WITHIN_S - 0.1, taken_by(C, None)),
        NEW,
        False,
    ),
    "another member was there at the first look, and has committed nothing since": (
        over(),
        watched_for(COMMITS_WITHIN_S, taken_by(C, None)),
        NEW,
        True,
    ),
    "another member has the id, and has committed since it was alone": (
        over(),
        looked_at(C, replace(JOINED, member_id=C, absent_at=ALONE_SINCE - 0.1), commits_moved_after=ALONE_SINCE),
        NEW,
        False,
    ),
    "another member has the id, and the last commit may be from before": (
        over(),
        looked_at(C, replace(JOINED, member_id=C, absent_at=ALONE_SINCE - 1), commits_moved_after=ALONE_SINCE - 0.1),
        NEW,
        True,
    ),
    "another member was there at the first look, and Kafka is out of sight since": (
        over(),
        watched_for(None, taken_by(C, None)),
        NEW,
        False,
    ),
    "another member is there, and nobody watched": (over(), looked_at(C, None), NEW, True),
    "another member is there, and it is not known since when it is alone": (
        over(alone_since=None),
        taken_by(C, NOW),
        NEW,
        True,
    ),
    "nobody has the id since the other one's session ended": (
        over(),
        looked_at(None, None, gone_since=GONE_IN_TIME),
        NEW,
        True,
    ),
    "nobody has the id, but only since a session later than that": (
        over(),
        looked_at(None, None, gone_since=GONE_IN_TIME + JOINS_AGAIN_WITHIN_S + 0.1),
        NEW,
        False,
    ),
    "nobody has the id just now, and its process may yet join again": (
        over(alone_since=NOW - 60),
        looked_at(None, None, gone_since=NOW - JOINS_AGAIN_WITHIN_S + 0.1),
        NEW,
        False,
    ),
    "nobody has the id, and it was not watched": (over(), looked_at(None, None), NEW, False),
    "nobody has the id, and it is not known since when it is alone": (
        over(alone_since=None),
        looked_at(None, None, gone_since=GONE_IN_TIME),
        NEW,
        False,
    ),
    "its container was started again since, and brought another member": (
        over(),
        taken_by(C, ALONE_SINCE - 0.1),
        replace(NEW, restarts=1, started_at=NOW - 6),
        False,
    ),
    "it does not run": (over(), taken_by(C, ALONE_SINCE - 0.1), replace(NEW, started_at=None), False),
    "it never ran": (
        over(state=Over(TakenOver(Held({"payments-0": B}, replace(NEW, started_at=None).run)))),
        taken_by(C, ALONE_SINCE - 0.1),
        replace(NEW, started_at=None),
        False,
    ),
    "it was down when the handover began": (
        handed_back(replace(HELD, down=True)),
        taken_by(C, ALONE_SINCE - 0.1),
        OLD,
        False,
    ),
    "nobody saw the replacement take over, so that no member is known to be its own": (
        over(state=Over(Begun(HELD))),
        taken_by(C, ALONE_SINCE - 0.1),
        OLD,
        False,
    ),
    "handed back, and its own member is there": (handed_back(), looked_at(A, None), OLD, False),
    "handed back, after the replacement had taken the id": (
        replace(handed_back(), started_at=ALONE_SINCE - 20),
        taken_by(B, ALONE_SINCE - 20.1),
        OLD,
        True,
    ),
    "handed back, and its member was removed while there were two pods: it may have joined again itself": (
        replace(handed_back(), started_at=ALONE_SINCE - 20),
        taken_by(B, ALONE_SINCE - 20),
        OLD,
        False,
    ),
    "taken over, and nobody had the id for a moment while there were two pods": (
        replace(over(), started_at=ALONE_SINCE - 20),
        taken_by(C, ALONE_SINCE - 20),
        NEW,
        True,
    ),
}


@pytest.mark.parametrize(("then", "seen", "now", "fenced"), FENCED.values(), ids=FENCED.keys())
def test_a_pod_was_fenced_by_the_other_process_of_its_handover(
    then: Handover, seen: World, now: Pod, fenced: bool
) -> None:
    assert is_fenced(seen, then, now) is fenced


def test_nobody_is_fenced_as_far_as_anybody_knows_while_kafka_cannot_be_asked() -> None:
    away = Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW)
    assert not is_fenced(looked_at(None, None, gone_since=GONE_IN_TIME, kafka=away), over(), NEW)


TAKEN: Final = taken_by(C, ALONE_SINCE - 0.1)


@pytest.mark.parametrize(
    ("seen", "now", "fenced"),
    [
        (TAKEN, replace(NEW, restarts=1), True),
        (TAKEN, NEW, False),
        (TAKEN, replace(NEW, uid="another", restarts=1), False),
        (looked_at(B, None), replace(NEW, restarts=1), False),
        (taken_by(C, ALONE_SINCE), replace(NEW, restarts=1), False),
    ],
    ids=["restarted since", "not restarted", "another pod", "the id is its own", "the id came when it was alone"],
)
def test_a_fenced_process_has_ended_and_its_node_has_started_it_again(seen: World, now: Pod, fenced: bool) -> None:
    assert ended_when_fenced(seen, over(), now) is fenced


# A pod that does not come.

REJOIN_TIMEOUT_S: Final = 300.0
MISSING: Final = {
    "alone for all of rejoinTimeout": (
        begun_with(alone_since=NOW - REJOIN_TIMEOUT_S - 1),
        looked_at(None, None),
        OLD,
        True,
    ),
    "alone for just rejoinTimeout": (begun_with(alone_since=NOW - REJOIN_TIMEOUT_S), looked_at(None, None), OLD, False),
    "it started since": (
        begun_with(alone_since=NOW - REJOIN_TIMEOUT_S - 1),
        looked_at(None, None),
        replace(OLD, started_at=NOW - REJOIN_TIMEOUT_S),
        False,
    ),
    "it was always alone, and has run for long": (begun_with(), looked_at(None, None), OLD, True),
    "it is in the group": (begun_with(alone_since=NOW - REJOIN_TIMEOUT_S - 1), looked_at(A, None), OLD, False),
    "it is in the group, without the id that it was given": (
        begun_with(alone_since=NOW - REJOIN_TIMEOUT_S - 1),
        with_members(looked_at(None, None), dynamic_member(0)),
        OLD,
        False,
    ),
    "it does not run": (begun_with(), looked_at(None, None), replace(OLD, started_at=None), False),
    "Kafka cannot be asked": (
        begun_with(),
        looked_at(None, None, kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW)),
        OLD,
        False,
    ),
}


@pytest.mark.parametrize(("then", "seen", "now", "missing"), MISSING.values(), ids=MISSING.keys())
def test_a_pod_that_has_been_alone_for_rejoin_timeout_and_is_not_in_the_group_has_not_come(
    then: Handover, seen: World, now: Pod, missing: bool
) -> None:
    assert has_not_come(seen, then, now) is missing
