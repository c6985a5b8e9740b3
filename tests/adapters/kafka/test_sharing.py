"""What stays the same from look to look is kept once."""

from __future__ import annotations

from dataclasses import replace

from slackwater.adapters.kafka.sharing import shared
from slackwater.adapters.kafka.watch import Watch
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import (
    GroupObservation,
    GroupState,
    GroupType,
    Member,
    PartitionOffsets,
    TopicPartition,
    Unobserved,
)

TOPIC = "orders"


def tp(number: int) -> TopicPartition:
    """Another object each time, as answers make them."""
    return TopicPartition(TOPIC, number)


def member(member_id: str, *owned: int, epoch: int | None = None) -> Member:
    those = frozenset(map(tp, owned))
    target = None if epoch is None else frozenset(map(tp, owned))
    return Member(member_id, f"i-{member_id}", "c", "10.0.0.1", those, target, epoch)


def look(at: float, *members: Member, partitions: int = 4, end: int = 5) -> GroupObservation:
    offsets = {tp(number): PartitionOffsets(5, end) for number in range(partitions)}
    return GroupObservation(
        "payments",
        at,
        GroupState.STABLE,
        GroupType.CLASSIC,
        members=members,
        partitions=frozenset(map(tp, range(partitions))),
        offsets=offsets,
    )


def names(observation: GroupObservation) -> set[int]:
    """The partitions' objects, wherever they are named."""
    owned = [p for m in observation.members for p in (*m.assignment, *(m.target or ()))]
    return {id(p) for p in (*observation.partitions, *observation.offsets, *owned)}


def test_a_partition_has_one_name_in_a_look() -> None:
    seen = look(1, member("a", 0, 1), member("b", 2, 3))
    assert len(names(seen)) > 4
    assert shared(seen, None) == seen
    assert len(names(shared(seen, None))) == 4


def test_what_is_as_it_was_is_the_same_object() -> None:
    before = shared(look(1, member("a", 0, 1), member("b", 2, 3)), None)
    after = look(2, member("a", 0, 1), member("b", 2))
    kept = shared(after, before)
    assert kept == after
    assert kept.members[0] is before.members[0]
    assert kept.partitions is before.partitions
    assert kept.offsets[tp(0)] is before.offsets[tp(0)]
    assert names(kept) <= names(before)


def test_what_is_another_is_as_it_is_now() -> None:
    before = shared(look(1, member("a", 0, 1)), None)
    after = look(2, member("a", 0, 4), partitions=5, end=6)
    kept = shared(after, before)
    assert kept == after
    assert names(before) < names(kept)
    assert len(names(kept)) == 5


def test_a_member_of_another_epoch_owns_the_same() -> None:
    before = shared(look(1, member("a", 0, 1, epoch=1)), None)
    after = look(2, member("a", 0, 1, epoch=2))
    (kept,) = shared(after, before).members
    assert kept == after.members[0]
    assert kept.assignment is before.members[0].assignment
    assert kept.target is kept.assignment


def test_a_watch_keeps_one_name_over_all_its_looks_even_where_some_fail() -> None:
    watch = Watch("payments", frozenset({TOPIC}))
    for at in range(1, 20, 3):
        watch.fold(look(at, member("a", 0, 1), end=at))
        watch.fold(look(at + 1, member("a", 0, 1), end=at + 1))
        watch.fold(Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", at + 2))
    watch.fold(look(50, member("a", 0, 1)))
    assert isinstance(watch.view, GroupObservation)
    maps = (watch.history.committed, watch.history.end, watch.history.end_moved_after, watch.history.unread_since)
    everywhere = names(watch.view) | {id(p) for each in maps for p in each}
    assert len(everywhere) == 4


def test_what_another_watch_asked_for_is_left_out_all_the_same() -> None:
    watch = Watch("payments", frozenset({TOPIC}))
    other = TopicPartition("refunds", 0)
    seen = look(1)
    wide = replace(seen, partitions=seen.partitions | {other}, offsets={**seen.offsets, other: PartitionOffsets(1, 1)})
    for at in (1, 2):
        watch.fold(replace(wide, observed_at=at))
        assert watch.view == replace(seen, observed_at=at)
