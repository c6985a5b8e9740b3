"""What a row of observations tells."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.core.world.departures import DEPARTURES_KEPT, DEPARTURES_KEPT_S, LATELY_S
from slackwater.core.world.history import (
    WAITS_KEPT,
    GroupHistory,
    advance,
    interrupted,
)
from slackwater.core.world.observation import GroupObservation, GroupState, PartitionOffsets
from tests.core.factories import NOW, dynamic_member, folded, member, members, observation, owned_by, stranger, tp


def test_calm_is_counted_from_the_first_look_at_which_all_was_as_it_is() -> None:
    history = folded(observation(at=10), observation(at=20), observation(at=25))
    assert history.calm_for(observation(at=25)) == 15


def test_a_new_member_id_a_move_or_another_state_begin_calm_again() -> None:
    calm = observation(at=10)
    changes = (
        observation((*members(0, 1), member(2, "b")), at=20),
        observation((*members(0, 1), member(2, assignment=owned_by(1))), at=20),
        observation(at=20, epoch=7),
    )
    assert [folded(calm, change).calm_for(change) for change in changes] == [0, 0, 0]


def test_a_group_that_is_not_calm_has_been_calm_for_no_time() -> None:
    restless = observation(at=20, state=GroupState.PREPARING_REBALANCE)
    assert folded(replace(restless, observed_at=10), restless).calm_for(restless) == 0


def test_moving_offsets_disturb_no_calm() -> None:
    later = observation(at=20, lag=500)
    assert folded(observation(at=10), later).calm_for(later) == 10


def test_an_observation_that_is_not_newer_changes_nothing() -> None:
    history = folded(observation(at=10))
    assert advance(history, observation(members(0), at=10)) is history
    assert advance(history, observation(members(0), at=9)) is history


def test_after_an_interruption_calm_and_watching_begin_again_but_members_are_remembered() -> None:
    history = advance(interrupted(folded(observation(at=10))), observation((*members(0, 1), member(2, "b")), at=70))
    assert (history.watched_since, history.unchanged_since, history.disturbed) == (70, 70, (10, 70))
    assert history.members["payments-0"].since == 10
    assert (history.members["payments-2"].since, history.members["payments-2"].absent_at) == (70, 10)


def test_looks_that_fail_between_two_close_ones_break_no_row() -> None:
    """Else one answer of a hundred that is late would begin every deadline again."""
    history = interrupted(interrupted(folded(observation(at=10), observation(at=20))))
    assert history.watched_since is None
    soon = advance(history, observation(at=30))
    assert (soon.watched_since, soon.unchanged_since, soon.disturbed) == (10, 30, (20, 30))
    assert advance(history, observation(at=31)).watched_since == 31
    assert advance(interrupted(soon), observation(at=40)).watched_since == 10


def test_another_coordinator_is_remembered_as_a_disturbance() -> None:
    history = folded(observation(at=10, coordinator=1), observation(at=11, coordinator=1))
    assert history.disturbed is None
    assert advance(history, observation(at=12, coordinator=2)).disturbed == (11, 12)


def test_a_sighting_knows_the_last_look_without_the_member_and_who_had_the_id_before() -> None:
    history = folded(observation(at=10), observation((*members(0, 1), member(2, "b")), at=11))
    assert history.members["payments-0"].absent_at is None
    sighting = history.members["payments-2"]
    assert (sighting.member_id, sighting.since, sighting.absent_at) == ("payments-2-b", 11, 10)
    assert sighting.takeovers == (11,)
    assert not sighting.after_nobody


def test_a_sighting_knows_whether_nobody_had_the_id_before() -> None:
    first = observation(members(0, 1), at=10)
    assert folded(first, observation(at=11)).members["payments-2"].after_nobody
    assert not folded(observation(at=11)).members["payments-2"].after_nobody  # nobody watched
    again = folded(first, observation(at=11), observation((*members(0, 1), member(2, "b")), at=12))
    assert not again.members["payments-2"].after_nobody


def test_a_member_that_left_for_a_while_and_is_back_has_joined_again() -> None:
    """F12: meanwhile it is listed, by an epoch below 0."""
    here, away = (observation((member(0, epoch=epoch),), at=10) for epoch in (7, -2))
    looks = [replace(look, observed_at=at) for look, at in ((here, 10), (here, 11), (away, 12), (away, 13), (here, 14))]
    seen = [folded(*looks[: n + 1]).members["payments-0"] for n in range(len(looks))]
    assert [(s.since, s.absent_at, s.there_by, s.away) for s in seen] == [
        (10, None, None, False),
        (10, None, 11, False),
        (10, None, 11, True),
        (10, None, 11, True),
        (14, 13, None, False),
    ]
    assert (seen[-1].takeovers, seen[-1].after_nobody, seen[-1].assigned_since) == ((), True, 14)


def test_a_member_that_is_away_when_it_is_first_seen_joins_when_it_is_back() -> None:
    here, away = (observation((member(0, epoch=epoch),), at=at) for epoch, at in ((7, 11), (-2, 10)))
    sighting = folded(away, here).members["payments-0"]
    assert (sighting.since, sighting.absent_at) == (11, 10)


def test_who_takes_the_id_of_one_that_is_away_takes_it_over_and_its_return_changes_no_hands() -> None:
    away, taken, left, back = (
        observation((member(0, who, epoch=epoch),), at=at)
        for who, epoch, at in (("a", -2, 10), ("b", 7, 11), ("b", -2, 12), ("b", 7, 13))
    )
    assert folded(away, taken).members["payments-0"].takeovers == (11,)
    assert folded(away, taken, left, back).members["payments-0"].takeovers == (11,)


def test_what_comes_while_a_look_is_under_way_had_come_by_its_end() -> None:
    """A broker that answers late: who is in its answer may have come since it was asked."""
    history = folded(observation((), at=0.0), observation(members(0), at=10.0, answered_at=17.0))
    sighting = history.members["payments-0"]
    assert (sighting.since, sighting.came_by, sighting.assigned_since) == (10.0, 17.0, 17.0)
    assert history.calm_for(observation(members(0), at=20.0)) == 3.0


def test_an_assignment_has_its_own_beginning() -> None:
    more = member(2, assignment=owned_by(2) | owned_by(1))
    sighting = folded(observation(at=10), observation((member(0), more), at=11)).members["payments-2"]
    assert (sighting.since, sighting.assigned_since) == (10, 11)


def test_an_assignment_knows_where_records_waited_by_then() -> None:
    """What is seen in the same look may be the new owner's doing."""
    first, other = sorted(owned_by(2))
    read, unread = PartitionOffsets(5, 5), PartitionOffsets(5, 6)
    looks = [
        observation(at=10, offsets={first: read, other: read}),
        observation(at=20, offsets={first: unread, other: read}),
        observation((*members(0, 1), member(2, "b")), at=30, offsets={first: PartitionOffsets(6, 6), other: unread}),
    ]
    assert folded(*looks).members["payments-2"].found_waiting == {first: 20}
    assert folded(*looks).members["payments-0"].found_waiting is None, "it was there at our first look"
    given = observation((member(0, assignment=owned_by(2)), member(1)), at=30, offsets=looks[1].offsets)
    assert folded(*looks[:2], given).members["payments-0"].found_waiting == {first: 20}


def test_static_members_that_leave_are_remembered_until_they_return() -> None:
    gone = folded(observation(at=10), observation(members(0, 1), at=11), observation(members(0, 1), at=12))
    assert gone.departures == {"payments-2": 11}
    assert advance(gone, observation(at=13)).departures == {}


def strangers_came_and_went(looks: int, apart_s: float) -> GroupHistory:
    """One at each look, gone at the next; payments-2 left half an hour before the last look."""
    history, last = folded(observation(at=NOW)), NOW + apart_s * looks
    for number in range(1, looks + 1):
        at = NOW + apart_s * number
        ours = members(0, 1, 2) if at < last - 1800 else members(0, 1)
        history = advance(history, observation((*ours, stranger(instance_id=f"s-{number}")), at=at))
    return history


def test_of_strangers_who_come_and_go_the_newest_are_remembered_and_so_is_who_left_lately() -> None:
    history = strangers_came_and_went(looks=1500, apart_s=4)
    assert len(history.departures) == DEPARTURES_KEPT  # of the last hour are 900
    assert "payments-2" in history.departures
    assert min(history.departures.values()) == NOW + 4 * (1500 - DEPARTURES_KEPT + 2)


def test_who_left_the_day_before_is_forgotten() -> None:
    gone = folded(observation(at=NOW), observation(members(0, 1), at=NOW + 10))
    last = advance(gone, observation(members(0, 1), at=NOW + 10 + DEPARTURES_KEPT_S))
    assert last.departures == {"payments-2": NOW + 10}
    assert advance(last, observation(members(0, 1), at=NOW + 11 + DEPARTURES_KEPT_S)).departures == {}


def test_of_a_large_group_that_is_stopped_all_members_are_remembered_while_somebody_waits_for_them() -> None:
    many = tuple(member(ordinal) for ordinal in range(2 * DEPARTURES_KEPT))
    half = many[DEPARTURES_KEPT:]
    going = folded(observation(many, at=NOW), observation(half, at=NOW + 10), observation((), at=NOW + 20))
    assert len(advance(going, observation((), at=NOW + 10 + LATELY_S)).departures) == len(many)
    assert len(advance(going, observation((), at=NOW + 11 + LATELY_S)).departures) == len(half)


def test_dynamic_members_that_leave_are_forgotten() -> None:
    assert folded(observation((dynamic_member(0),), at=10), observation((), at=11)).departures == {}


def offsets(committed: int | None, end: int | None) -> dict[object, PartitionOffsets]:
    return {tp(0): PartitionOffsets(committed, end)}


def test_a_move_is_dated_by_the_look_before_it() -> None:
    history = folded(observation(at=10, offsets=offsets(5, 7)), observation(at=20, offsets=offsets(6, 9)))
    assert (history.commit_moved_after, history.end_moved_after) == ({tp(0): 10}, {tp(0): 10})


def test_first_commits_and_commits_that_went_back_are_no_moves() -> None:
    first = folded(observation(at=10, offsets=offsets(None, 7)), observation(at=20, offsets=offsets(6, 7)))
    back = folded(observation(at=10, offsets=offsets(6, 7)), observation(at=20, offsets=offsets(3, 7)))
    assert (first.commit_moved_after, back.commit_moved_after) == ({}, {})


def test_records_are_unread_from_their_arrival_until_the_next_commit() -> None:
    quiet = folded(observation(at=10, offsets=offsets(5, 5)), observation(at=20, offsets=offsets(5, 5)))
    assert quiet.unread_since == {}
    first = advance(quiet, observation(at=30, offsets=offsets(5, 6)))
    arrived = advance(first, observation(at=40, offsets=offsets(5, 8)))
    assert arrived.unread_since == {tp(0): 30}
    assert advance(arrived, observation(at=50, offsets=offsets(6, 8))).unread_since == {}


def test_nothing_is_known_of_a_group_that_was_never_seen() -> None:
    assert GroupHistory().calm_for(observation()) == 0


def test_a_clock_that_was_set_back_begins_a_new_row() -> None:
    """Else no look would count until the clock has caught up; a look that is only late changes nothing."""
    ahead = folded(observation(at=NOW + 3600), observation(at=NOW + 3605))
    assert advance(ahead, observation(at=NOW + 3600)) is ahead
    begun = advance(ahead, observation(at=NOW))
    assert (begun.watched_since, begun.observed_at) == (NOW, NOW)
    assert advance(begun, observation(at=NOW + 5)).observed_at == NOW + 5


def at(moment: float, committed: int, end: int | None) -> GroupObservation:
    return observation(at=moment, offsets={tp(0): PartitionOffsets(committed, end)})


def test_a_leader_that_is_away_for_a_look_leaves_what_waits_as_it_was() -> None:
    """It must not look read, nor new once the leader is back."""
    waits = folded(at(10, 5, 5), at(20, 5, 8), at(30, 5, None), at(40, 5, 9))
    assert waits.unread_since == {tp(0): 20}
    assert waits.end_moved_after == {tp(0): 30}


def test_how_long_records_had_waited_at_the_last_commits() -> None:
    looks = [at(10, 5, 5), at(20, 5, 8), at(50, 8, 8), at(60, 9, 9)]
    assert folded(*looks).waited_s == {tp(0): (30.0, 10.0)}
    many = [at(100 + number, 10 + number, 10 + number) for number in range(9)]
    assert folded(*looks, *many).waited_s == {tp(0): (1.0,) * WAITS_KEPT}


def test_partitions_that_waited_alike_keep_that_once() -> None:
    def look(moment: float, committed: int) -> GroupObservation:
        return observation(at=moment, offsets={tp(n): PartitionOffsets(committed, committed) for n in range(3)})

    waits = folded(*(look(10.5 * n, n) for n in range(1, 9))).waited_s
    assert waits == dict.fromkeys(map(tp, range(3)), (10.5,) * WAITS_KEPT)
    assert len({id(each) for each in waits.values()}) == 1


@pytest.mark.parametrize("takes_s", [None, 7.0], ids=["at once", "by brokers that are slow"])
def test_a_group_that_was_the_same_in_every_look_has_not_changed_since_it_was_watched(takes_s: float | None) -> None:
    def look(at: float, *ordinals: int) -> GroupObservation:
        return observation(members(*ordinals), at=at, answered_at=None if takes_s is None else at + takes_s)

    one, two = folded(look(10, 0)), folded(look(10, 0), look(20, 0))
    assert (one.unchanged_from_the_first, two.unchanged_from_the_first) == (True, True)
    assert not folded(look(10, 0), look(20, 0, 1), look(30, 0, 1)).unchanged_from_the_first
    assert not interrupted(two).unchanged_from_the_first
    assert not GroupHistory().unchanged_from_the_first


def test_the_first_offset_that_is_committed_reads_what_waited() -> None:
    where = tp(0)
    looks = [
        observation(at=at, offsets={where: PartitionOffsets(read, end)})
        for at, read, end in ((10, None, 5), (20, None, 6), (30, 6, 6))
    ]
    assert where in folded(*looks[:2]).unread_since
    assert where not in folded(*looks).unread_since
