"""Classic groups: which records are rebalances, what they did, and what is said of those that are gone."""

from __future__ import annotations

from slackwater.pipeline.audit.errors import Reason
from slackwater.pipeline.audit.facts import GroupType
from slackwater.pipeline.audit.layouts import KeyType
from slackwater.pipeline.audit.rows import Cause
from tests.pipeline.audit.encoding import classic_group, classic_member, subscription
from tests.pipeline.audit.scene import START_MS, Scene

ORDERS = frozenset(("orders", number) for number in range(4))
ALONE = classic_member("a-1", None, (0, 1, 2, 3))
PAIR = (classic_member("a-1", None, (0, 1)), classic_member("b-1", None, (2, 3)))


def test_the_first_generation_of_a_new_group_is_a_rebalance() -> None:
    scene = Scene()
    scene.generation(0, protocol_type="")
    scene.generation(1, ALONE)

    (generation,), (rebalance,) = scene.generations(), scene.rebalances()
    (member,) = generation.members

    assert (generation.generation, generation.assignor, generation.leader) == (1, "range", "a-1")
    assert (member.session_timeout_ms, member.rebalance_timeout_ms) == (45_000, 300_000)
    assert (member.subscription, member.partitions) == (("orders",), ORDERS)
    assert (rebalance.from_generation, rebalance.to_generation, rebalance.cause) == (None, 1, Cause.MEMBER_JOINED)
    assert (rebalance.members_before, rebalance.members_after, rebalance.partitions_moved) == (0, 1, 4)
    assert rebalance.duration_ms is None


def test_who_comes_and_goes_is_counted_in_each_rebalance() -> None:
    scene = Scene()
    scene.generation(1, ALONE)
    scene.generation(2, *PAIR)
    scene.generation(3, classic_member("b-1", None, (0, 1, 2, 3)))

    first, second, third = scene.rebalances()

    assert (first.joined, first.left, first.partitions_moved) == (1, 0, 4)
    assert (second.joined, second.left, second.partitions_moved) == (1, 0, 2)
    assert (third.joined, third.left, third.partitions_moved) == (0, 1, 2)
    assert scene.told_of(lambda each: each.cause) == [Cause.MEMBER_JOINED, Cause.MEMBER_JOINED, Cause.MEMBER_LEFT]
    assert [(each.member.member_id, each.joined_at_ms, each.left_at_ms) for each in scene.stays()] == [
        ("a-1", START_MS + 1000, START_MS + 3000),
        ("b-1", START_MS + 2000, None),
    ]


def test_a_static_member_that_returns_makes_no_rebalance() -> None:
    """The broker writes the same generation once more, with its new member id."""
    scene = Scene()
    scene.generation(1, classic_member("s-0-old", "s-0", (0, 1)), classic_member("s-1-x", "s-1", (2, 3)))
    scene.generation(1, classic_member("s-0-new", "s-0", (0, 1)), classic_member("s-1-x", "s-1", (2, 3)))

    assert len(scene.generations()) == len(scene.rebalances()) == 1
    assert {(each.member.member_id, each.left_at_ms is None, each.returned) for each in scene.stays()} == {
        ("s-0-old", False, False),
        ("s-0-new", True, True),
        ("s-1-x", True, False),
    }


def test_a_return_that_was_quiet_is_no_part_of_the_next_rebalance() -> None:
    scene = Scene()
    scene.generation(1, classic_member("s-0-old", "s-0", (0, 1)))
    scene.generation(1, classic_member("s-0-new", "s-0", (0, 1)))
    scene.generation(2, classic_member("s-0-new", "s-0", (0,)), classic_member("s-1-x", "s-1", (1,)))

    assert scene.told_of(lambda each: (each.joined, each.left, each.returned)) == [(1, 0, 0), (1, 0, 0)]


def test_the_last_members_leaving_is_a_generation_without_members_and_no_rebalance() -> None:
    scene = Scene()
    scene.generation(1, ALONE)
    scene.generation(2)
    scene.generation(3, classic_member("c-1", None, (0, 1, 2, 3)))

    assert [(each.generation, len(each.members)) for each in scene.generations()] == [(1, 1), (2, 0), (3, 1)]
    assert scene.told_of(lambda each: (each.from_generation, each.to_generation)) == [(None, 1), (2, 3)]
    assert scene.rebalances()[1].members_before == 0


def test_generations_that_left_no_record_are_counted_and_not_made_up() -> None:
    scene = Scene()
    scene.generation(1, ALONE)
    scene.generation(4, *PAIR)

    assert [each.unrecorded_before for each in scene.generations()] == [0, 2]
    assert scene.told_of(lambda each: (each.from_generation, each.to_generation)) == [(None, 1), (1, 4)]


def test_where_the_beginning_is_compacted_away_nothing_is_said_of_it() -> None:
    scene = Scene()
    scene.generation(7, ALONE)
    scene.generation(8, *PAIR)

    assert [each.unrecorded_before for each in scene.generations()] == [None, 0]
    assert scene.told_of(lambda each: (each.from_generation, each.to_generation)) == [(7, 8)]
    assert {each.member.member_id: each.joined_at_ms for each in scene.stays()} == {"a-1": None, "b-1": START_MS + 2000}


def test_a_group_that_was_deleted_begins_again() -> None:
    scene = Scene()
    scene.generation(1, ALONE)
    scene.generation(2)
    scene.tell(KeyType.CLASSIC_GROUP, None)
    scene.generation(2, ALONE)

    assert scene.told_of(lambda each: (each.from_generation, each.to_generation)) == [(None, 1), (None, 2)]


def test_a_lower_generation_without_a_tombstone_is_another_group() -> None:
    """The tombstone was compacted away. What was between the two is not known, so no rebalance joins them."""
    scene = Scene()
    scene.generation(8, ALONE)
    scene.generation(3, *PAIR)

    assert [each.unrecorded_before for each in scene.generations()] == [None, None]
    assert scene.rebalances() == []
    assert [each.member.member_id for each in scene.stays() if each.left_at_ms is None] == ["a-1", "b-1"]


def test_both_steps_of_a_cooperative_rebalance_are_seen_and_a_partition_moves_once() -> None:
    scene = Scene()
    cooperative = {"protocol": "cooperative-sticky"}
    scene.generation(1, ALONE, **cooperative)
    scene.generation(2, classic_member("a-1", None, (0, 1)), classic_member("b-1", None, ()), **cooperative)
    scene.generation(3, *PAIR, **cooperative)

    assert scene.told_of(lambda each: (each.cause, each.partitions_moved)) == [
        (Cause.MEMBER_JOINED, 4),
        (Cause.MEMBER_JOINED, 0),
        (Cause.COOPERATIVE, 2),
    ]


def test_causes_that_the_members_do_not_explain() -> None:
    scene = Scene()
    scene.generation(1, ALONE)
    scene.generation(2, ALONE, protocol="roundrobin")
    scene.generation(3, {**ALONE, "subscription": subscription("orders", "refunds")}, protocol="roundrobin")
    grown = classic_member("a-1", None, (0, 1, 2, 3, 4), subscription=subscription("orders", "refunds"))
    scene.generation(4, grown, protocol="roundrobin")
    scene.generation(5, grown, protocol="roundrobin")

    causes = [Cause.MEMBER_JOINED, Cause.ASSIGNOR, Cause.METADATA, Cause.METADATA, Cause.UNKNOWN]
    assert scene.told_of(lambda each: each.cause) == causes


def test_a_static_return_that_made_a_rebalance_is_its_cause() -> None:
    scene = Scene()
    scene.generation(1, classic_member("s-0-old", "s-0", (0, 1)))
    scene.generation(2, classic_member("s-0-new", "s-0", (0, 1)))

    assert scene.told_of(lambda each: (each.cause, each.returned, each.partitions_moved))[1] == (
        Cause.STATIC_RETURN,
        1,
        0,
    )


def test_a_group_of_another_kind_has_generations_but_no_partitions() -> None:
    """Connect's workers are such groups: what they assign to each other is no partition."""
    worker = {**ALONE, "subscription": b"\x00\x01connect", "assignment": b"\x00\x01tasks"}
    scene = Scene()
    scene.generation(1, worker, protocol_type="connect")

    assert scene.generations()[0].members[0].partitions is None
    assert scene.rebalances()[0].partitions_moved is None
    assert scene.refused() == []


def test_a_damaged_assignment_is_refused_and_the_generation_stays() -> None:
    scene = Scene()
    scene.generation(1, {**ALONE, "assignment": b"\x00\x01\x00\x00"})

    (refused,) = scene.refused()
    assert refused.error.reason is Reason.TRUNCATED
    assert scene.generations()[0].members[0].partitions is None
    assert scene.rebalances()[0].partitions_moved is None


def test_a_member_that_the_leader_forgot_owns_nothing() -> None:
    scene = Scene()
    scene.generation(1, {**ALONE, "assignment": b""})

    assert scene.generations()[0].members[0].partitions == frozenset()
    assert scene.refused() == []


def test_a_record_that_cannot_be_read_is_refused_and_the_rest_is_told() -> None:
    scene = Scene()
    scene.generation(1, ALONE)
    scene.pass_s()
    scene.append(scene.records[0][3], b"\x00\x09")
    scene.append(None, b"")
    scene.generation(3, *PAIR)

    assert [each.error.reason for each in scene.refused()] == [Reason.FUTURE_VERSION, Reason.NO_KEY]
    assert scene.told_of(lambda each: (each.from_generation, each.to_generation)) == [(None, 1), (1, 3)]


def test_every_version_of_the_group_record_tells_the_same() -> None:
    def of(version: int) -> tuple[object, ...]:
        scene = Scene()
        scene.tell(KeyType.CLASSIC_GROUP, classic_group(1, *PAIR), version=version)
        (generation,), (rebalance,) = scene.generations(), scene.rebalances()
        return (generation.group_type, generation.assignor, rebalance.joined, rebalance.partitions_moved)

    assert {of(version) for version in range(5)} == {(GroupType.CLASSIC, "range", 2, 4)}
