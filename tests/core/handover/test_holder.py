"""Who holds an ordinal that two pods have: the stories of decision 9, one a row, and each predicate that judges them.

"No record is lost" rests on this: the pod that holds the id must never be taken for the one that lost it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.handover.holder import (
    JOINS_AGAIN_WITHIN_S,
    Holder,
    begun,
    ended_when_fenced,
    has_all,
    has_not_come,
    holder,
    is_fenced,
    member_ids,
    runs_as_then,
    taken_over,
)
from slackwater.core.members.clocks import CLOCKS_DIFFER_S, SESSION_MARGIN_S
from slackwater.core.world.history import GroupHistory, MemberSighting
from slackwater.core.world.memory import Handover, RolloutMemory
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World
from tests.core.factories import LONG_AGO, NAME, NOW, fresh_pod, group, member, observation, pod, tp, workload, world

ALT: Final = "payments-alt"
A, B, C = (f"payments-0-{incarnation}" for incarnation in "abc")
"""Member ids of the instance id payments-0, oldest first."""
BEGUN_AT, STARTED_AT, ABSENT_AT, JOINED_AT = NOW - 30, NOW - 20, NOW - 10.5, NOW - 10
"""The handover began, the replacement's container started, the last look that showed the old id, and the first that
showed the new one."""
OLD: Final = pod(0, uid="old", workload=NAME)
NEW: Final = pod(0, uid="new", name=f"{ALT}-0", workload=ALT, created_at=NOW - 25, started_at=STARTED_AT)
SESSION_S: Final = 45.0 + SESSION_MARGIN_S
"""The longest that a dead member can stay in the group."""


def held(pods: Pod | None = OLD, **changes: Any) -> Handover:
    """A handover to `payments-alt` that began while the old pod held the id as member A."""
    usual = Handover(0, ALT, BEGUN_AT, {"payments-0": A})
    if pods is not None:
        usual = replace(usual, holder_uid=pods.uid, holder_started_at=pods.started_at, holder_restarts=pods.restarts)
    return replace(usual, **changes)


JOINED: Final = MemberSighting(B, JOINED_AT, ABSENT_AT, frozenset({tp(0)}))


def looked_at(
    holds: str | None = B,
    sighting: MemberSighting | None = JOINED,
    commits_moved_after: float | None = None,
    gone_since: float | None = None,
    **changes: Any,
) -> World:
    """The group lists `holds` under payments-0. `sighting`: what was watched of that."""
    members = {} if sighting is None else {"payments-0": sighting}
    history = GroupHistory(
        observed_at=NOW,
        watched_since=LONG_AGO,
        members=members,
        commit_moved_after={} if commits_moved_after is None else {tp(0): commits_moved_after},
        departures={} if gone_since is None else {"payments-0": gone_since},
    )
    listed = () if holds is None else (member(0, member_id=holds),)
    kafka = observation((*listed, member(1), member(2)))
    return world(
        **({"kafka": kafka, "history": history, "group": group(rollout={"strategy": "WarmHandover"})} | changes)
    )


# Who holds the ordinal.


@dataclass(frozen=True)
class Story:
    """What has happened to the two processes, and what can be seen of it."""

    holder: Holder
    old: Pod | None = OLD
    new: Pod | None = NEW
    then: Handover = field(default_factory=held)
    seen: World = field(default_factory=looked_at)


FIRST_WENT, WENT_AFTER = JOINED_AT - 5, JOINED_AT + CLOCKS_DIFFER_S + 0.5
"""When the old container ended: before the id changed hands, or certainly after that."""
RESTARTED: Final = replace(OLD, restarts=1, started_at=NOW - 8, last_run_started_at=OLD.started_at)
CRASHED: Final = replace(OLD, started_at=None, ready=False)
STORIES: Final = {
    "the replacement has not joined yet": Story(Holder.OLD, seen=looked_at(A, None)),
    "the old pod's session has ended, and nobody else has joined": Story(Holder.OLD, seen=looked_at(None, None)),
    "the old pod ran on, so only its replacement can have joined": Story(Holder.NEW),
    "nobody watched, but the old pod ran on": Story(Holder.NEW, seen=looked_at(B, None)),
    "the old pod is gone altogether": Story(Holder.NEW, old=None, seen=looked_at(B, None)),
    "the old process was fenced, and ended after that": Story(
        Holder.NEW, old=replace(CRASHED, restarts=1, ended_at=WENT_AFTER)
    ),
    "the old process was fenced, ended after that, and is back already": Story(
        Holder.NEW, old=replace(RESTARTED, ended_at=WENT_AFTER)
    ),
    "the old process ended first, and came back before its replacement started": Story(
        Holder.CAME_BACK, old=replace(RESTARTED, ended_at=FIRST_WENT), new=replace(NEW, started_at=None)
    ),
    "the old process came back before its replacement was made": Story(
        Holder.CAME_BACK, old=replace(RESTARTED, ended_at=FIRST_WENT), new=None
    ),
    "the old pod is gone, and its replacement was never seen to start": Story(
        Holder.CAME_BACK, old=None, new=replace(NEW, started_at=None)
    ),
    "the replacement joined before its node reported the start": Story(
        Holder.STARTING, new=replace(NEW, started_at=None)
    ),
    "the replacement took over, and is being removed": Story(
        Holder.UNCLEAR, new=replace(NEW, started_at=None, terminating=True)
    ),
    "the replacement took over, and has crashed": Story(Holder.UNCLEAR, new=replace(NEW, started_at=None, restarts=1)),
    "the replacement took over, and has ended for the first time": Story(
        Holder.UNCLEAR, new=replace(NEW, started_at=None, ended_at=NOW - 2)
    ),
    "the replacement took over, and its pod is gone": Story(Holder.UNCLEAR, new=None),
    "the old process ended before the id changed: either may have joined": Story(
        Holder.UNCLEAR, old=replace(RESTARTED, ended_at=FIRST_WENT)
    ),
    "the old process ended so close to the join that clocks do not tell which came first": Story(
        Holder.UNCLEAR, old=replace(RESTARTED, ended_at=JOINED_AT + CLOCKS_DIFFER_S)
    ),
    "the old process ended after the id had changed, but the replacement started only after that": Story(
        Holder.UNCLEAR,
        old=replace(RESTARTED, ended_at=WENT_AFTER),
        new=replace(NEW, started_at=JOINED_AT + 0.5),
    ),
    "the old pod is another one by now, which ended after the id had changed": Story(
        Holder.UNCLEAR, old=replace(RESTARTED, uid="another", ended_at=WENT_AFTER)
    ),
    "the old process was restarted, and nobody watched the id": Story(
        Holder.UNCLEAR, old=replace(RESTARTED, ended_at=WENT_AFTER), seen=looked_at(B, None)
    ),
    "the old pod was restarted, and its node does not say when it ended": Story(Holder.UNCLEAR, old=RESTARTED),
    "the old process ended first and does not run: its last join, or its replacement's": Story(
        Holder.DOWN, old=replace(CRASHED, ended_at=FIRST_WENT)
    ),
    "the old process does not run, and nothing was committed since it ended": Story(
        Holder.DOWN,
        old=replace(CRASHED, ended_at=FIRST_WENT),
        seen=looked_at(commits_moved_after=FIRST_WENT + CLOCKS_DIFFER_S),
    ),
    "the old process does not run, and commits have moved since it ended": Story(
        Holder.NEW,
        old=replace(CRASHED, ended_at=FIRST_WENT),
        seen=looked_at(commits_moved_after=FIRST_WENT + CLOCKS_DIFFER_S + 0.5),
    ),
    "the old process is back, so that the commits may be its own": Story(
        Holder.UNCLEAR,
        old=replace(RESTARTED, ended_at=FIRST_WENT),
        seen=looked_at(commits_moved_after=FIRST_WENT + CLOCKS_DIFFER_S + 0.5),
    ),
    "commits moved of partitions that the member does not have": Story(
        Holder.DOWN,
        old=replace(CRASHED, ended_at=FIRST_WENT),
        seen=looked_at(B, MemberSighting(B, JOINED_AT, ABSENT_AT, frozenset({tp(1)})), commits_moved_after=NOW),
    ),
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())
def test_who_holds_the_ordinal(story: Story) -> None:
    assert holder(story.seen, story.then, story.old, story.new) is story.holder


def two_threads(first: str, second: str, *sightings: MemberSighting) -> World:
    """A pod with two members, payments-0-0 and payments-0-1."""
    listed = [
        member(0, instance_id="payments-0-0", member_id=first),
        member(0, instance_id="payments-0-1", member_id=second),
    ]
    watched = {f"payments-0-{thread}": sighting for thread, sighting in enumerate(sightings)}
    spec = group(rollout={"strategy": "WarmHandover"}, membersPerPod=2)
    return world(group=spec, kafka=observation(listed), history=GroupHistory(members=watched))


TWO_HELD: Final = held(before={"payments-0-0": "a0", "payments-0-1": "a1"})


@pytest.mark.parametrize(
    ("first", "second", "all_have_come"),
    [("b0", "b1", True), ("b0", "a1", False), ("a0", "a1", False)],
    ids=["both are other members", "one of two is another member", "both are the ones from before"],
)
def test_a_pod_of_two_members_has_taken_over_with_the_second(first: str, second: str, all_have_come: bool) -> None:
    assert has_all(two_threads(first, second), TWO_HELD) is all_have_come


def test_a_member_under_an_id_that_nobody_had_counts_as_another_one() -> None:
    assert has_all(two_threads("b0", "b1"), held(before={}))


def test_one_member_whose_owner_is_unclear_makes_the_pod_unclear() -> None:
    after, before = (MemberSighting("b", JOINED_AT, ABSENT_AT), MemberSighting("b", JOINED_AT + 9, ABSENT_AT))
    ended = replace(RESTARTED, ended_at=WENT_AFTER)
    assert holder(two_threads("b0", "b1", after, after), TWO_HELD, ended, NEW) is Holder.NEW
    assert holder(two_threads("b0", "b1", after, before), TWO_HELD, ended, NEW) is Holder.UNCLEAR


# The members of an ordinal.


def test_member_ids_are_those_of_the_ordinal_and_of_none_that_only_begins_like_it() -> None:
    listed = (member(1), member(0), replace(member(2), instance_id="payments-10"), member(2, instance_id=None))
    assert member_ids(world(kafka=observation(listed)), 1) == {"payments-1": "payments-1-a"}


def test_where_kafka_could_not_be_asked_no_member_is_known() -> None:
    assert member_ids(world(kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW)), 0) == {}


# What is written down before the replacement is made.

TO_ALT: Final = workload(name=ALT, template_hash="a version")


def remembered(handover: Handover | None, **changes: Any) -> World:
    return looked_at(
        A, MemberSighting(A, LONG_AGO + 9, LONG_AGO + 8), **changes, memory=RolloutMemory(handover=handover)
    )


def test_a_handover_begins_with_who_has_the_id_and_in_which_run() -> None:
    made = begun(remembered(None, pods=(OLD,)), 0, TO_ALT, OLD)
    assert (made.ordinal, made.to, made.started_at, made.version) == (0, ALT, NOW, "a version")
    assert made.before == {"payments-0": A}
    assert runs_as_then(made, OLD)
    assert not made.holder_down


@pytest.mark.parametrize(
    "old",
    [None, replace(OLD, ready=False), replace(OLD, terminating=True), fresh_pod(0, 2)],
    ids=["there is none", "it is not Ready", "it is ending", "its member is from before its start"],
)
def test_a_pod_that_does_not_serve_has_nothing_to_lose(old: Pod | None) -> None:
    assert begun(remembered(None), 0, TO_ALT, old).holder_down


def test_what_is_known_of_the_rollout_goes_on_to_the_next_handover() -> None:
    known = held(fenced=2, cold=True, alone_since=NOW - 99, over=True)
    same, following = begun(remembered(known), 0, TO_ALT, OLD), begun(remembered(known), 1, TO_ALT, pod(1))
    assert (same.fenced, same.cold, same.alone_since) == (2, True, NOW - 99)
    assert (following.fenced, following.cold, following.alone_since) == (2, True, None)


# A run.


@pytest.mark.parametrize(
    ("now", "same"),
    [
        (OLD, True),
        (replace(OLD, uid="another"), False),
        (replace(OLD, started_at=NOW - 1), False),
        (replace(OLD, started_at=None), False),
        (replace(OLD, restarts=1), False),
        (replace(OLD, ready=False, terminating=True, ended_at=NOW), True),
    ],
    ids=["unchanged", "another pod", "started again", "it does not run", "restarted", "not Ready, and ending"],
)
def test_a_run_is_a_pod_a_start_and_a_number_of_restarts(now: Pod, same: bool) -> None:
    assert runs_as_then(held(), now) is same


def test_a_pod_that_never_ran_is_in_the_same_run_until_it_does() -> None:
    never = replace(OLD, started_at=None)
    assert runs_as_then(held(never), never)
    assert not runs_as_then(held(never), OLD)


# What is written down once the replacement has taken over.


@pytest.mark.parametrize(
    ("sighting", "known"),
    [
        (MemberSighting(B, JOINED_AT, STARTED_AT), True),
        (MemberSighting(B, JOINED_AT, STARTED_AT - 0.1), False),
        (MemberSighting(B, JOINED_AT, None), False),
        (None, False),
    ],
    ids=["its run was under way before", "it may be an earlier run's", "it was there at the first look", "unwatched"],
)
def test_the_run_of_the_replacement_is_written_down_where_the_id_came_with_it(
    sighting: MemberSighting | None, known: bool
) -> None:
    over = taken_over(looked_at(B, sighting), held(holder_down=True, undone=True), NEW)
    assert (over.after, over.before) == ({"payments-0": B}, {"payments-0": A})
    assert (over.holder_down, over.undone) == (False, False)
    assert runs_as_then(over, NEW) is known
    assert over.holder_uid == ("new" if known else "")


def test_a_replacement_that_does_not_run_any_more_is_not_written_down_as_a_run() -> None:
    assert taken_over(looked_at(), held(), replace(NEW, started_at=None)).holder_uid == ""


def test_the_run_is_known_only_if_every_member_came_with_it() -> None:
    came, earlier = MemberSighting("b", JOINED_AT, STARTED_AT), MemberSighting("b", JOINED_AT, STARTED_AT - 1)
    assert taken_over(two_threads("b0", "b1", came, came), TWO_HELD, NEW).holder_uid == "new"
    assert taken_over(two_threads("b0", "b1", came, earlier), TWO_HELD, NEW).holder_uid == ""


# Fenced is dead.

ALONE_SINCE: Final = NOW - 80
"""The other process of the handover had ended by then."""


def over(**changes: Any) -> Handover:
    """The replacement has taken over as member B, and the other process has ended."""
    return held(NEW, after={"payments-0": B}, over=True, alone_since=ALONE_SINCE, **changes)


def undone(**changes: Any) -> Handover:
    """The replacement was removed, and the old pod had the id as member A."""
    return held(undone=True, over=True, alone_since=ALONE_SINCE, **changes)


def taken_by(member_id: str, absent_at: float | None) -> World:
    return looked_at(member_id, MemberSighting(member_id, NOW - 5, absent_at))


GONE_IN_TIME: Final = ALONE_SINCE + SESSION_S
FENCED: Final = {
    "its own member is there": (over(), looked_at(B, None), NEW, False),
    "the other process took the id before it ended": (over(), taken_by(C, ALONE_SINCE - 0.1), NEW, True),
    "another member came when no other process was left": (over(), taken_by(C, ALONE_SINCE), NEW, False),
    "another member was there at the first look": (over(), taken_by(C, None), NEW, True),
    "another member is there, and nobody watched": (over(), looked_at(C, None), NEW, True),
    "another member is there, and it is not known since when it is alone": (
        replace(over(), alone_since=None),
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
        replace(over(), alone_since=NOW - 60),
        looked_at(None, None, gone_since=NOW - JOINS_AGAIN_WITHIN_S + 0.1),
        NEW,
        False,
    ),
    "nobody has the id, and it was not watched": (over(), looked_at(None, None), NEW, False),
    "nobody has the id, and it is not known since when it is alone": (
        replace(over(), alone_since=None),
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
        held(replace(NEW, started_at=None), after={"payments-0": B}, over=True),
        taken_by(C, ALONE_SINCE - 0.1),
        replace(NEW, started_at=None),
        False,
    ),
    "it was down when the handover began": (
        undone(holder_down=True),
        taken_by(C, ALONE_SINCE - 0.1),
        OLD,
        False,
    ),
    "handed back, and its own member is there": (undone(), looked_at(A, None), OLD, False),
    "handed back, after the replacement had taken the id": (undone(), taken_by(B, ALONE_SINCE - 0.1), OLD, True),
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
    "alone for all of rejoinTimeout": (held(alone_since=NOW - REJOIN_TIMEOUT_S - 1), looked_at(None, None), OLD, True),
    "alone for just rejoinTimeout": (held(alone_since=NOW - REJOIN_TIMEOUT_S), looked_at(None, None), OLD, False),
    "it started since": (
        held(alone_since=NOW - REJOIN_TIMEOUT_S - 1),
        looked_at(None, None),
        replace(OLD, started_at=NOW - REJOIN_TIMEOUT_S),
        False,
    ),
    "it was always alone, and has run for long": (held(), looked_at(None, None), OLD, True),
    "it is in the group": (held(alone_since=NOW - REJOIN_TIMEOUT_S - 1), looked_at(A, None), OLD, False),
    "it does not run": (held(), looked_at(None, None), replace(OLD, started_at=None), False),
    "Kafka cannot be asked": (
        held(),
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
