"""Who holds an ordinal that two pods have: the stories of decision 9, one a row.

"No record is lost" rests on this: the pod that holds the id must never be taken for the one that lost it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

import pytest

from slackwater.api.consumer_group import Membership
from slackwater.core.handover.holder import Holder, has_all, heir, holder, keeper
from slackwater.core.members.clocks import CLOCKS_DIFFER_S
from slackwater.core.world.handover import Handover, Held
from slackwater.core.world.made_with import MadeWith
from slackwater.core.world.pods import Pod
from slackwater.core.world.sighting import MemberSighting
from slackwater.core.world.world import World
from tests.core.factories import NOW, dynamic_member, member, tp
from tests.core.handover.stories import (
    ABSENT_AT,
    AFTER_NOBODY,
    JOINED,
    JOINED_AT,
    NEW,
    NEW_ELSEWHERE,
    OLD,
    TWO_HELD,
    A,
    B,
    C,
    begun_with,
    looked_at,
    over,
    two_threads,
    with_members,
)


@dataclass(frozen=True)
class Story:
    """What has happened to the two processes, and what can be seen of it."""

    holder: Holder
    old: Pod | None = OLD
    new: Pod | None = NEW
    then: Handover = field(default_factory=begun_with)
    seen: World = field(default_factory=looked_at)


FIRST_WENT, WENT_AFTER = JOINED_AT - 5, JOINED_AT + CLOCKS_DIFFER_S + 0.5
"""When the old container ended: before the id changed hands, or certainly after that."""
RESTARTED: Final = replace(OLD, restarts=1, started_at=NOW - 8, last_run_started_at=OLD.started_at)
CRASHED: Final = replace(OLD, started_at=None, ready=False)
STORIES: dict[str, Story] = {
    "the replacement has not joined yet": Story(Holder.OLD, seen=looked_at(A, None)),
    "the old pod's session has ended, and nobody else has joined": Story(Holder.OLD, seen=looked_at(None, None)),
    "the old pod ran on, so only its replacement can have joined": Story(Holder.NEW),
    "nobody watched, but the old pod ran on": Story(Holder.NEW, seen=looked_at(B, None)),
    "the old pod is gone altogether": Story(Holder.NEW, old=None, seen=looked_at(B, None)),
    "nobody had the id in between: the old process may have joined again by itself": Story(
        Holder.UNCLEAR, seen=looked_at(B, AFTER_NOBODY)
    ),
    "nobody had the id in between, and the old process has ended since": Story(
        Holder.DOWN, old=replace(CRASHED, restarts=1, ended_at=WENT_AFTER), seen=looked_at(B, AFTER_NOBODY)
    ),
    "nobody had the id in between, and the old process has ended since and is back": Story(
        Holder.UNCLEAR, old=replace(RESTARTED, ended_at=WENT_AFTER), seen=looked_at(B, AFTER_NOBODY)
    ),
    "nobody had the id in between, and commits have moved since the old process ended": Story(
        Holder.NEW,
        old=replace(CRASHED, ended_at=FIRST_WENT),
        seen=looked_at(B, AFTER_NOBODY, commits_moved_after=FIRST_WENT + CLOCKS_DIFFER_S + 0.5),
    ),
    "nobody had the id in between, and the old pod is gone altogether": Story(
        Holder.NEW, old=None, seen=looked_at(B, AFTER_NOBODY)
    ),
    "the id changed before the replacement started, so only the old process can have joined": Story(
        Holder.CAME_BACK, new=replace(NEW, started_at=JOINED_AT + CLOCKS_DIFFER_S + 0.5)
    ),
    "the id changed before the replacement started, and the old process has ended since": Story(
        Holder.DOWN,
        old=replace(CRASHED, restarts=1, ended_at=WENT_AFTER),
        new=replace(NEW, started_at=JOINED_AT + CLOCKS_DIFFER_S + 0.5),
    ),
    "the id changed before the replacement started by its node's clock, which is ahead: a watch had seen it run": Story(
        Holder.NEW, new=replace(NEW, started_at=JOINED_AT + 6, told_running_at=JOINED_AT - 1)
    ),
    "the same, and the old process has ended since": Story(
        Holder.NEW,
        old=replace(CRASHED, restarts=1, ended_at=WENT_AFTER),
        new=replace(NEW, started_at=JOINED_AT + 6, told_running_at=JOINED_AT - 1),
    ),
    "the id changed so close to the start that clocks do not tell which came first": Story(
        Holder.NEW, new=replace(NEW, started_at=JOINED_AT + CLOCKS_DIFFER_S)
    ),
    "the id changed before the replacement's container started again: an earlier run of it joined": Story(
        Holder.NEW, new=replace(NEW, started_at=NOW - 1, restarts=1, ended_at=NOW - 2)
    ),
    "the id changed while no node has the replacement": Story(
        Holder.CAME_BACK, new=replace(NEW, started_at=None, ready=False, waiting="Unschedulable")
    ),
    "the replacement is not Ready yet: it joins before that": Story(Holder.NEW, new=replace(NEW, ready=False)),
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
    "what its node says of it is late: an image is being pulled again": Story(
        Holder.STARTING, new=replace(NEW, started_at=None, waiting="ImagePullBackOff")
    ),
    "its node has not reported the start for rejoinTimeout": Story(
        Holder.UNCLEAR,
        new=replace(NEW, started_at=None),
        seen=looked_at(B, replace(JOINED, since=NOW - 301, absent_at=NOW - 302)),
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
        seen=looked_at(B, replace(JOINED, assignment=frozenset({tp(1)})), commits_moved_after=NOW),
    ),
}


NAMELESS: Final = dynamic_member(0)
"""At the old pod's address."""
AFTER_NOBODY_SEEN: Final = looked_at(B, AFTER_NOBODY)
STORIES |= {
    "nobody had the id, and the old pod takes none": Story(
        Holder.NEW, seen=with_members(AFTER_NOBODY_SEEN, NAMELESS), then=begun_with(Held({}, OLD.run))
    ),
    "nobody had the id, and the old pod may have taken it": Story(
        Holder.UNCLEAR, seen=AFTER_NOBODY_SEEN, then=begun_with(Held({}, OLD.run))
    ),
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())
def test_who_holds_the_ordinal(story: Story) -> None:
    assert holder(story.seen, story.then, story.old, story.new) is story.holder


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [("b0", "b1", Holder.NEW), ("b0", "a1", Holder.PARTLY_NEW), ("a0", "a1", Holder.OLD)],
    ids=["both are other members", "one of two is another member", "both are the ones from before"],
)
def test_a_pod_of_two_members_has_taken_over_with_the_second(first: str, second: str, expected: Holder) -> None:
    assert holder(two_threads(first, second), TWO_HELD, OLD, NEW) is expected


def test_a_member_under_an_id_that_nobody_had_counts_as_another_one() -> None:
    assert has_all(two_threads("b0", "b1"), begun_with(Held()), NEW)


def test_the_replacement_is_judged_by_what_it_was_made_with() -> None:
    """Its StatefulSet may hold a template of more members by now, of which it has no pod yet."""
    seen, of_one = two_threads("b0", "a1"), MadeWith(Membership.STATIC, 1, "consumer")
    known = replace(seen, memory=replace(seen.memory, made_with={"older": of_one}))
    assert has_all(known, TWO_HELD, replace(NEW, template_hash="older"))
    assert not has_all(known, TWO_HELD, NEW)


# The old pod was down when it began.

NEVER_RAN: Final = replace(OLD, started_at=None, ready=False)
IDLE: Final = Held({"payments-0": A}, OLD.run, down=True, idle=True)
DEAD: Final = Held({"payments-0": A}, NEVER_RAN.run, down=True)
HEIRS: Final = {
    "there is no old pod, and its replacement has joined": (DEAD, None, NEW, B, frozenset(), Holder.NEW),
    "the old pod has never run, and its replacement has joined": (DEAD, NEVER_RAN, NEW, B, frozenset({0}), Holder.NEW),
    "the replacement has not joined, and the old pod is still down": (
        DEAD,
        NEVER_RAN,
        NEW,
        A,
        frozenset({0}),
        Holder.NOBODY,
    ),
    "the replacement has not joined, and there is no old pod": (DEAD, None, NEW, A, frozenset(), Holder.NOBODY),
    "the replacement does not run yet, whoever has joined": (
        DEAD,
        NEVER_RAN,
        replace(NEW, started_at=None),
        B,
        frozenset({0}),
        Holder.NOBODY,
    ),
    "the replacement is not made yet": (DEAD, NEVER_RAN, None, B, frozenset({0}), Holder.NOBODY),
    "the old pod runs now, and is not known to be down": (DEAD, OLD, NEW, A, frozenset(), Holder.CAME_BACK),
    "the old pod is Ready as before and in no group, and the id came after its replacement's start": (
        IDLE,
        OLD,
        NEW,
        B,
        frozenset(),
        Holder.NEW,
    ),
    "the old pod was out of the group for less than rejoinTimeout, so it may just be joining": (
        replace(IDLE, idle=False),
        OLD,
        NEW,
        B,
        frozenset(),
        Holder.CAME_BACK,
    ),
    "the old pod ran once, so the id may be its own": (
        Held({"payments-0": A}, OLD.run, down=True),
        replace(OLD, ready=False),
        NEW,
        B,
        frozenset(),
        Holder.CAME_BACK,
    ),
    "the old pod has ended since and runs again": (
        Held({"payments-0": A}, OLD.run, down=True),
        replace(OLD, restarts=1),
        NEW,
        B,
        frozenset(),
        Holder.CAME_BACK,
    ),
    "the old pod ran once, and is still down": (
        Held({"payments-0": A}, OLD.run, down=True),
        replace(OLD, ready=False),
        NEW,
        B,
        frozenset({0}),
        Holder.NOBODY,
    ),
    "another pod stands in its place and does not run either, but was not seen to be down": (
        DEAD,
        replace(NEVER_RAN, uid="another"),
        NEW,
        B,
        frozenset(),
        Holder.CAME_BACK,
    ),
}


@pytest.mark.parametrize(("held", "old", "new", "holds", "down", "expected"), HEIRS.values(), ids=HEIRS.keys())
def test_who_inherits_from_a_pod_that_was_down(
    held: Held, old: Pod | None, new: Pod | None, holds: str, down: frozenset[int], expected: Holder
) -> None:
    assert heir(looked_at(holds, None), begun_with(held), old, new, down) is expected


def came_from(address: str, sighting: MemberSighting | None = AFTER_NOBODY) -> World:
    """Nobody had the id when the handover began; the brokers see the pods' own addresses."""
    seen = looked_at(None, sighting)
    assert seen.seen is not None
    members = (*seen.seen.members, member(0, member_id=B, host=f"/{address}"))
    return replace(seen, kafka=replace(seen.seen, members=members), all_pods=(OLD, NEW_ELSEWHERE))


AWAY: Final = Held({}, OLD.run, down=True)
FIRST_LOOK: Final = replace(AFTER_NOBODY, absent_at=None, since=NOW)
ADDRESSES: Final = {
    "the replacement's, and the old pod was away for seconds": (AWAY, came_from(NEW_ELSEWHERE.address), Holder.NEW),
    "the old pod's, which was idle for long": (
        replace(AWAY, idle=True),
        came_from(OLD.address, FIRST_LOOK),
        Holder.CAME_BACK,
    ),
    "the old pod's, from which another has taken the id over since": (
        replace(AWAY, idle=True),
        came_from(OLD.address, JOINED),
        Holder.NEW,
    ),
    "the old pod's, which was away for seconds, and from which its replacement has the id now": (
        AWAY,
        came_from(OLD.address, JOINED),
        Holder.NEW,
    ),
    "the replacement's, from which the old pod has the id now": (
        replace(AWAY, idle=True),
        came_from(NEW_ELSEWHERE.address, JOINED),
        Holder.CAME_BACK,
    ),
    "somebody else's, as behind address translation, and the old pod was idle for long": (
        replace(AWAY, idle=True),
        came_from("192.0.2.9"),
        Holder.NEW,
    ),
    "somebody else's, and the old pod was away for seconds": (AWAY, came_from("192.0.2.9"), Holder.CAME_BACK),
    "that of the pod whose member was listed before": (
        Held({"payments-0": A}, OLD.run, down=True, idle=True),
        came_from(OLD.address),
        Holder.NEW,
    ),
}


@pytest.mark.parametrize(("held", "seen", "expected"), ADDRESSES.values(), ids=ADDRESSES.keys())
def test_the_address_of_who_joined_first_tells_which_of_the_two_it_was(
    held: Held, seen: World, expected: Holder
) -> None:
    assert heir(seen, begun_with(held), OLD, NEW_ELSEWHERE, frozenset()) is expected


def test_the_rest_of_a_replacements_members_is_waited_for() -> None:
    seen, idle = two_threads("b0", "a1"), replace(TWO_HELD.held, down=True, idle=True)
    assert heir(seen, begun_with(idle), OLD, NEW, frozenset()) is Holder.PARTLY_NEW
    assert heir(seen, begun_with(idle), OLD, NEW, frozenset({0})) is Holder.NOBODY


# The replacement has taken over.


@pytest.mark.parametrize(
    ("holds", "expected"),
    [(B, Holder.NEW), (None, Holder.NEW), (A, Holder.UNCLEAR), (C, Holder.UNCLEAR)],
    ids=["it has the id", "nobody has it just now", "the old pod has it again", "a third member has it"],
)
def test_a_replacement_keeps_the_ordinal_until_another_member_has_its_id(holds: str | None, expected: Holder) -> None:
    assert keeper(looked_at(holds, None), over()) is expected


def test_one_member_whose_owner_is_unclear_makes_the_pod_unclear() -> None:
    after, before = (MemberSighting("b", at, ABSENT_AT, takeovers=(at,)) for at in (JOINED_AT, JOINED_AT + 9))
    ended = replace(RESTARTED, ended_at=WENT_AFTER)
    assert holder(two_threads("b0", "b1", after, after), TWO_HELD, ended, NEW) is Holder.NEW
    assert holder(two_threads("b0", "b1", after, before), TWO_HELD, ended, NEW) is Holder.UNCLEAR


def test_one_member_that_the_old_pod_brought_itself_makes_the_pod_unclear() -> None:
    started_at = JOINED_AT + CLOCKS_DIFFER_S + 0.5
    own, taken = (MemberSighting("b", at, ABSENT_AT, takeovers=(at,)) for at in (JOINED_AT, JOINED_AT + 9))
    late = replace(NEW, started_at=started_at)
    assert holder(two_threads("b0", "b1", own, taken), TWO_HELD, OLD, late) is Holder.UNCLEAR
    assert holder(two_threads("b0", "b1", own, own), TWO_HELD, OLD, late) is Holder.CAME_BACK
    assert holder(two_threads("b0", "a1", own), TWO_HELD, OLD, late) is Holder.CAME_BACK
