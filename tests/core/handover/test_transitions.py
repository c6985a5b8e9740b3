"""What is written down of a handover, from state to state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.api.consumer_group import Membership
from slackwater.core.decision.reasons import Reason
from slackwater.core.handover.transitions import begun, member_ids, started_again, taken_over
from slackwater.core.world.handover import Begun, Handover, Held, Replacement, TakenOver
from slackwater.core.world.made_with import MadeWith
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import Member, Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.sighting import MemberSighting
from slackwater.core.world.world import World
from tests.core.factories import LONG_AGO, NOW, dynamic_member, fresh_pod, member, observation, pod, workload, world
from tests.core.handover.stories import (
    ABSENT_AT,
    ALONE_SINCE,
    ALT,
    HELD,
    JOINED_AT,
    NEW,
    OLD,
    STARTED_AT,
    TWO_HELD,
    A,
    B,
    begun_with,
    looked_at,
    over,
    two_threads,
)


def test_member_ids_are_those_of_the_ordinal_and_of_none_that_only_begins_like_it() -> None:
    listed = (member(1), member(0), replace(member(2), instance_id="payments-10"), member(2, instance_id=None))
    assert member_ids(world(kafka=observation(listed)), 1) == {"payments-1": "payments-1-a"}


def test_where_kafka_could_not_be_asked_no_member_is_known() -> None:
    assert member_ids(world(kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW)), 0) == {}


TO_ALT: Final = workload(name=ALT, template_hash="a version")


def remembered(handover: Handover | None, **changes: Any) -> World:
    return looked_at(
        A, MemberSighting(A, LONG_AGO + 9, LONG_AGO + 8), **changes, memory=RolloutMemory(handover=handover)
    )


def test_a_handover_begins_with_who_has_the_id_and_in_which_run() -> None:
    made = begun(remembered(None, pods=(OLD,)), 0, TO_ALT, OLD)
    assert made == Handover(0, ALT, NOW, Begun(Held({"payments-0": A}, OLD.run)), Replacement("a version"))


@pytest.mark.parametrize(
    "old",
    [None, replace(OLD, ready=False), replace(OLD, terminating=True), fresh_pod(0, 2)],
    ids=["there is none", "it is not Ready", "it is ending", "its member is from before its start"],
)
def test_a_pod_that_does_not_serve_has_nothing_to_lose(old: Pod | None) -> None:
    assert begun(remembered(None), 0, TO_ALT, old).held.down


@pytest.mark.parametrize(
    ("who", "made"),
    [((member(0),), MadeWith(Membership.STATIC, 2, "consumer")), ((dynamic_member(0),), None)],
    ids=["one of two members", "without its id"],
)
def test_a_pod_of_which_something_lives_has_that_to_lose(who: tuple[Member, ...], made: MadeWith | None) -> None:
    """Its replacement waits beside it. It was taken back again and again where the old pod "had come back"."""
    old = pod(0, template_hash="older")
    given = world(kafka=observation(who), pods=(old,), memory=RolloutMemory(made_with={"older": made} if made else {}))
    assert not begun(given, 0, TO_ALT, old).held.down


def test_what_is_known_of_the_rollout_goes_on_to_the_next_handover() -> None:
    known = over(fenced=2, cold=True, returned=1)
    same, following = begun(remembered(known), 0, TO_ALT, OLD), begun(remembered(known), 1, TO_ALT, pod(1))
    assert (same.fenced, same.cold, same.alone_since, same.returned) == (2, True, ALONE_SINCE, 1)
    assert (following.fenced, following.cold, following.alone_since, following.returned) == (2, True, None, 0)


def test_a_pod_that_did_not_come_has_all_its_tries_in_the_next_handover() -> None:
    known = started_again(started_again(over()))
    assert known == over(not_come=2)
    assert begun(remembered(known), 0, TO_ALT, OLD).not_come == 0


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
    then = taken_over(looked_at(B, sighting), begun_with(replace(HELD, down=True)), NEW)
    assert then.state == TakenOver(Held({"payments-0": B}, NEW.run if known else None), {"payments-0": A})


def test_a_replacement_that_does_not_run_any_more_is_not_written_down_as_a_run() -> None:
    assert taken_over(looked_at(), begun_with(), replace(NEW, started_at=None)).held.run is None


def test_a_run_that_a_watch_had_reported_is_written_down_though_its_node_s_clock_is_ahead() -> None:
    ahead = replace(NEW, started_at=ABSENT_AT + 6)
    assert taken_over(looked_at(), begun_with(), ahead).held.run is None
    reported = replace(ahead, told_running_at=ABSENT_AT)
    assert taken_over(looked_at(), begun_with(), reported).held.run == reported.run


def test_the_run_is_known_only_if_every_member_came_with_it() -> None:
    came, earlier = MemberSighting("b", JOINED_AT, STARTED_AT), MemberSighting("b", JOINED_AT, STARTED_AT - 1)
    assert taken_over(two_threads("b0", "b1", came, came), TWO_HELD, NEW).held.run == NEW.run
    assert taken_over(two_threads("b0", "b1", came, earlier), TWO_HELD, NEW).held.run is None


def test_a_takeover_ends_the_row_of_returns() -> None:
    assert taken_over(looked_at(), begun_with(returned=2), NEW).returned == 0
