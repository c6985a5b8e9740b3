"""KIP-848 groups: an assignment is a rebalance; an epoch alone, a static return and a last farewell are none."""

from __future__ import annotations

import pytest

from slackwater.pipeline.audit.facts import GroupType
from slackwater.pipeline.audit.layouts import KeyType
from slackwater.pipeline.audit.rows import Cause
from tests.pipeline.audit.encoding import ORDERS_ID, classic_member, consumer_member
from tests.pipeline.audit.scene import START_MS, Scene

ORDERS = frozenset(("orders", number) for number in range(4))


def started(epoch: int = 1) -> Scene:
    """A new group of one dynamic member."""
    scene = Scene()
    scene.joins("a", epoch)
    scene.assigns(epoch, a=(0, 1, 2, 3))
    scene.owns("a", epoch, 0, 1, 2, 3)
    return scene


@pytest.mark.parametrize("epoch", [1, 2])
def test_the_first_assignment_of_a_new_group_is_a_rebalance(epoch: int) -> None:
    """Kafka 4.0 begins with epoch 1, 4.3 with 2."""
    scene = started(epoch)

    (generation,), (rebalance,) = scene.generations(), scene.rebalances()
    assert (generation.group_type, generation.unrecorded_before) == (GroupType.CONSUMER, 0)
    assert generation.members[0].partitions == ORDERS
    assert (rebalance.from_generation, rebalance.cause, rebalance.partitions_moved) == (None, Cause.MEMBER_JOINED, 4)


def test_what_the_topic_does_not_say_is_none() -> None:
    """Session timeouts are settings of the group, the assignor is the broker's choice unless a member asks."""
    (generation,) = started().generations()
    assert (generation.assignor, generation.leader, generation.members[0].session_timeout_ms) == (None, None, None)


def test_a_rebalance_lasts_from_the_assignment_until_the_last_member_has_caught_up() -> None:
    scene = started()
    scene.joins("b", 2)
    scene.pass_s(5)  # the assignment interval of Kafka 4.3: nothing stands still meanwhile
    scene.assigns(2, a=(0, 1), b=(2, 3))
    scene.owns("a", 1, 0, 1)
    scene.pass_s(0.5)
    scene.owns("a", 2, 0, 1)
    scene.pass_s(0.25)
    scene.owns("b", 2, 2, 3)
    scene.pass_s(9)
    scene.owns("b", 2, 2, 3)

    rebalance = scene.rebalances()[1]
    assert (rebalance.position.at_ms, rebalance.duration_ms) == (START_MS + 7000, 750)
    assert (rebalance.joined, rebalance.partitions_moved) == (1, 2)


def test_a_rebalance_that_is_overtaken_has_no_duration() -> None:
    scene = started()
    scene.joins("b", 2)
    scene.assigns(2, a=(0, 1), b=(2, 3))
    scene.leaves("b", 3)
    scene.assigns(3, a=(0, 1, 2, 3))

    assert scene.told_of(lambda each: each.duration_ms) == [0, None, None]


def test_several_epochs_in_one_assignment_are_one_rebalance() -> None:
    scene = started()
    scene.joins("b", 2)
    scene.joins("c", 3)
    scene.pass_s(5)
    scene.assigns(3, a=(0, 1), b=(2,), c=(3,))

    rebalance = scene.rebalances()[1]
    assert (rebalance.from_generation, rebalance.to_generation, rebalance.joined) == (1, 3, 2)
    assert [each.unrecorded_before for each in scene.generations()] == [0, 0]


def test_an_epoch_whose_assignment_is_still_to_come_is_no_rebalance() -> None:
    scene = started()
    scene.joins("b", 2)
    assert len(scene.rebalances()) == 1


def test_a_static_member_that_returns_makes_no_rebalance() -> None:
    scene = Scene()
    scene.joins("old", 1, "s-0")
    scene.assigns(1, old=(0, 1))
    scene.pass_s()
    scene.owns("old", -2, 0, 1)
    scene.returns("old", "new", "s-0", 0, 1)

    assert len(scene.generations()) == len(scene.rebalances()) == 1
    assert [(each.member.member_id, each.returned, each.left_at_ms is None) for each in scene.stays()] == [
        ("old", False, False),
        ("new", True, True),
    ]


def test_a_return_that_was_quiet_is_not_the_cause_of_a_later_rebalance() -> None:
    scene = Scene()
    scene.joins("old", 1, "s-0")
    scene.assigns(1, old=(0, 1))
    scene.returns("old", "new", "s-0", 0, 1)
    scene.pass_s()
    scene.tell(KeyType.CONSUMER_GROUP_EPOCH, {"epoch": 2})
    scene.assigns(2, new=(0, 1, 2))

    rebalance = scene.rebalances()[1]
    assert (rebalance.cause, rebalance.returned, rebalance.partitions_moved) == (Cause.METADATA, 0, 1)


def test_the_last_members_leaving_is_a_generation_without_members_and_no_rebalance() -> None:
    scene = started()
    scene.leaves("a", 2)
    scene.joins("b", 3)
    scene.assigns(3, b=(0, 1, 2, 3))

    assert [(each.generation, len(each.members)) for each in scene.generations()] == [(1, 1), (2, 0), (3, 1)]
    assert scene.told_of(lambda each: (each.from_generation, each.members_before)) == [(None, 0), (2, 0)]


def test_where_the_beginning_is_compacted_away_nothing_is_said_of_it() -> None:
    scene = Scene()
    scene.tell(KeyType.CONSUMER_GROUP_MEMBER, consumer_member(), "a")
    scene.pass_s()
    scene.joins("b", 7)
    scene.assigns(7, a=(0, 1), b=(2, 3))
    scene.leaves("b", 8)
    scene.assigns(8, a=(0, 1, 2, 3))

    assert [each.unrecorded_before for each in scene.generations()] == [None, 0]
    assert scene.told_of(lambda each: (each.from_generation, each.to_generation)) == [(7, 8)]
    assert {each.member.member_id: each.joined_at_ms for each in scene.stays()} == {"a": None, "b": None}


def test_an_epoch_before_all_members_of_a_cleaned_topic_is_nobodys_leaving() -> None:
    """Members that came back have their newest records after the epoch, which did not change by that."""
    scene = Scene()
    scene.tell(KeyType.CONSUMER_GROUP_EPOCH, {"epoch": 3})
    scene.pass_s()
    scene.tell(KeyType.CONSUMER_GROUP_MEMBER, consumer_member(), "a")
    scene.pass_s()
    assert scene.generations() == []


def test_epochs_that_left_no_record_are_counted() -> None:
    scene = started()
    scene.joins("b", 5)
    scene.assigns(5, a=(0, 1), b=(2, 3))
    assert [each.unrecorded_before for each in scene.generations()] == [0, 3]


def test_an_assignor_that_all_members_ask_for_is_the_groups() -> None:
    scene = Scene()
    scene.joins("a", 1, assignor="range")
    scene.assigns(1, a=(0,))
    assert scene.generations()[0].assignor == "range"


def test_a_topic_gets_its_name_from_an_offset_commit() -> None:
    """Of whatever time: the commits are told first. Since Kafka 4.1 nothing else in the topic names an id."""
    scene = Scene()
    scene.joins("a", 1, topics=["orders", "refunds"])
    scene.assigns(1, a=(0,))
    scene.pass_s()
    scene.commits("orders", ORDERS_ID)
    assert scene.generations()[0].members[0].partitions == frozenset({("orders", 0)})


def test_a_topic_gets_its_name_from_the_groups_record_of_its_topics() -> None:
    scene = Scene()
    topics = [{"topic_id": ORDERS_ID, "topic": "orders", "partitions": 1, "racks": []}]
    scene.tell(KeyType.CONSUMER_GROUP_TOPICS, {"topics": topics})
    scene.joins("a", 1, topics=["orders", "refunds"])
    scene.assigns(1, a=(0,))
    assert scene.generations()[0].members[0].partitions == frozenset({("orders", 0)})


def test_a_topic_that_nothing_names_keeps_its_id() -> None:
    scene = Scene()
    scene.joins("a", 1, topics=[], topic_regex="ord.*")
    scene.assigns(1, a=(0,))
    (member,) = scene.generations()[0].members
    assert (member.partitions, member.subscription) == (frozenset({(ORDERS_ID, 0)}), ("regex:ord.*",))


def test_going_over_from_the_classic_protocol_and_back_is_no_rebalance() -> None:
    """The number stays, and so does every partition (F6)."""
    scene = Scene()
    scene.generation(1, classic_member("s_0", "s-0", (0, 1)))
    scene.pass_s()
    scene.tell(KeyType.CLASSIC_GROUP, None)
    scene.tell(KeyType.CONSUMER_GROUP_MEMBER, consumer_member("s-0"), "s_0")
    scene.tell(KeyType.CONSUMER_GROUP_EPOCH, {"epoch": 1})
    scene.assigns(1, s_0=(0, 1))
    scene.pass_s()
    for key_type in (KeyType.MEMBER_TARGET, KeyType.CONSUMER_GROUP_MEMBER):
        scene.tell(key_type, None, "s_0")
    scene.tell(KeyType.CONSUMER_GROUP_EPOCH, None)
    scene.now_ms -= 1000
    scene.generation(1, classic_member("s_0", "s-0", (0, 1)))

    assert [each.group_type for each in scene.generations()] == ["Classic", "Consumer", "Classic"]
    assert len(scene.rebalances()) == len(scene.stays()) == 1
