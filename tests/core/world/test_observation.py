"""What one look at a group says by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.world.observation import (
    GroupObservation,
    GroupState,
    MemberRef,
    PartitionOffsets,
    TopicPartition,
    refs,
)
from tests.core.factories import dynamic_member, member, members, observation, stranger, tp


@pytest.mark.parametrize(
    ("committed", "end", "unread"), [(5, 9, 4), (9, 5, 0), (9, 9, 0), (None, 9, 6), (5, None, None), (None, None, None)]
)
def test_what_a_partition_has_unread(committed: int | None, end: int | None, unread: int | None) -> None:
    assert PartitionOffsets(committed, end, start=3).unread == unread


@pytest.mark.parametrize(
    ("offsets", "lag"),
    [
        ({tp(0): PartitionOffsets(5, 9), tp(1): PartitionOffsets(None, 10)}, 14),
        ({tp(0): PartitionOffsets(9, 5), tp(1): PartitionOffsets(10, 10)}, 0),
        ({tp(0): PartitionOffsets(5, None), tp(1): PartitionOffsets(10, 10)}, None),
        ({tp(0): PartitionOffsets(5, 9)}, None),
    ],
)
def test_lag_is_the_sum_over_all_partitions_and_unknown_when_any_end_is(
    offsets: dict[TopicPartition, PartitionOffsets], lag: int | None
) -> None:
    assert replace(observation(offsets=offsets), partitions=frozenset({tp(0), tp(1)})).lag == lag


@pytest.mark.parametrize(
    ("changes", "calm"),
    [
        ({}, True),
        ({"state": GroupState.PREPARING_REBALANCE}, False),
        ({"members": (member(0, target=member(0).assignment),)}, True),
        ({"members": (member(0, target=frozenset()),)}, False),
    ],
)
def test_calm_is_stable_with_every_member_where_it_is_wanted(changes: dict[str, Any], calm: bool) -> None:
    assert replace(observation(), **changes).calm is calm


@pytest.mark.parametrize(("epoch", "has_left"), [(None, False), (0, False), (7, False), (-1, True), (-2, True)])
def test_who_has_left_holds_no_id(epoch: int | None, has_left: bool) -> None:
    one = member(0, epoch=epoch)
    assert one.has_left is has_left
    assert observation((one,)).held_ids == (frozenset() if has_left else {"payments-0"})


@pytest.mark.parametrize(
    ("offsets", "commits"),
    [({}, False), ({tp(0): PartitionOffsets(None, 9)}, False), ({tp(0): PartitionOffsets(0, 9)}, True)],
)
def test_a_group_may_keep_its_offsets_elsewhere(offsets: dict[TopicPartition, PartitionOffsets], commits: bool) -> None:
    assert observation(offsets=offsets).commits is commits


def test_where_members_belong() -> None:
    threads = tuple(member(1, instance_id=f"payments-1-{thread}", member_id=f"m{thread}") for thread in (0, 1))
    seen = observation((*threads, member(10), dynamic_member(2), stranger()))
    places = seen.places("payments")
    assert dict(places.ordinals) == {"payments-1-0": 1, "payments-1-1": 1, "payments-10": 10}
    assert dict(places.by_ordinal) == {1: threads, 10: (member(10),)}
    assert places.by_address["10.0.0.1"] == threads
    assert places.by_address["10.9.9.9"] == (stranger(),)


def test_that_is_found_once_for_each_name() -> None:
    seen: GroupObservation = observation(members(0))
    assert seen.places("payments") is seen.places("payments")
    assert not seen.places("refunds").by_ordinal


def test_only_static_members_can_be_referred_to() -> None:
    assert refs((member(0), dynamic_member(1))) == (MemberRef("payments-0", "payments-0-a"),)


@pytest.mark.parametrize("text", ["orders-0", "orders-eu-12"])
def test_a_partition_is_a_text_and_back(text: str) -> None:
    assert str(TopicPartition.parse(text)) == text


@pytest.mark.parametrize("text", ["orders", "-1", "orders-", "orders-x", 7])
def test_what_is_no_partition(text: object) -> None:
    with pytest.raises(ValueError, match="write a partition as"):
        TopicPartition.parse(text)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (GroupState.EMPTY, "the group is Empty, nobody is in it"),
        (GroupState.DEAD, "the group does not exist in Kafka: nobody has joined it yet"),
        (GroupState.PREPARING_REBALANCE, "the group is PreparingRebalance"),
    ],
)
def test_a_group_without_members_is_said_to_have_none(state: GroupState, words: str) -> None:
    assert observation(state=state).state_in_words == words
