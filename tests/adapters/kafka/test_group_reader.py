"""How a pass reads many groups: from an imitated cluster, through the real messages of the protocol."""

from __future__ import annotations

from threading import get_ident
from typing import Any

import pytest

from slackwater.adapters.kafka import group_reader
from slackwater.adapters.kafka.apart import MOST_AT_ONCE
from slackwater.adapters.kafka.errors import Code
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.observer import Observer
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import (
    GroupObservation,
    GroupState,
    GroupType,
    KafkaView,
    PartitionOffsets,
    TopicPartition,
    Unobserved,
)
from tests.adapters.kafka.fake_cluster import CLASSIC, CONSUMER, SHARE, FakeCluster, FakeGroup

ORDERS = frozenset({"orders"})
OWNED = {"payments-0": [0, 1], "payments-1": [2, 3]}


def reader_of(cluster: FakeCluster) -> KafkaGroupReader:
    return KafkaGroupReader(cluster, now=lambda: 1000.0)  # type: ignore[arg-type]


async def observe(cluster: FakeCluster, *group_ids: str) -> dict[str, KafkaView]:
    return dict(await reader_of(cluster).observe(dict.fromkeys(group_ids, ORDERS)))


def observed(view: KafkaView) -> GroupObservation:
    assert isinstance(view, GroupObservation), view
    return view


def unobserved(view: KafkaView) -> Unobserved:
    assert isinstance(view, Unobserved), view
    return view


@pytest.mark.parametrize(("kind", "expected"), [(CLASSIC, GroupType.CLASSIC), (CONSUMER, GroupType.CONSUMER)])
async def test_a_group_is_read_whole_whatever_its_type(kind: str, expected: GroupType) -> None:
    cluster = FakeCluster({"payments": FakeGroup(kind, owned=OWNED, committed={0: 90, 1: 100})})

    view = observed((await observe(cluster, "payments"))["payments"])

    assert (view.state, view.type, view.coordinator, view.observed_at) == (GroupState.STABLE, expected, 1, 1000.0)
    assert {m.instance_id: sorted(p.partition for p in m.assignment) for m in view.members} == OWNED
    assert {m.host for m in view.members} == {"10.0.0.1"}
    assert view.partitions == {TopicPartition("orders", p) for p in range(4)}
    assert view.offsets[TopicPartition("orders", 0)] == PartitionOffsets(committed=90, end=100)
    assert view.offsets[TopicPartition("orders", 3)] == PartitionOffsets(committed=None, end=100)


async def test_epochs_and_targets_are_known_for_the_new_protocol_only() -> None:
    cluster = FakeCluster({"old": FakeGroup(CLASSIC, owned=OWNED), "new": FakeGroup(CONSUMER, owned=OWNED)})

    views = await observe(cluster, "old", "new")

    old, new = observed(views["old"]), observed(views["new"])
    assert (old.epoch, {m.epoch for m in old.members}, {m.target for m in old.members}) == (None, {None}, {None})
    assert (new.epoch, {m.epoch for m in new.members}) == (7, {7})
    assert all(m.target == m.assignment for m in new.members)


async def test_a_group_that_nobody_joined_yet_is_dead_and_empty() -> None:
    view = observed((await observe(FakeCluster({}), "payments"))["payments"])

    assert (view.state, view.members) == (GroupState.DEAD, ())


@pytest.mark.parametrize(("before", "after"), [(CLASSIC, CONSUMER), (CONSUMER, CLASSIC)])
async def test_a_group_that_flips_its_type_is_read_in_the_same_pass(before: str, after: str) -> None:
    """F6: the first new pod of a rollout flips the group."""
    cluster = FakeCluster({"payments": FakeGroup(before, owned=OWNED)})
    reader = reader_of(cluster)
    await reader.observe({"payments": ORDERS})
    cluster.groups["payments"].type = after

    view = observed((await reader.observe({"payments": ORDERS}))["payments"])

    assert (view.type.value.lower(), len(view.members)) == (after, 2)


async def test_a_group_that_flips_between_two_questions_is_not_taken_for_dead() -> None:
    cluster = FakeCluster({"payments": FakeGroup(CONSUMER, owned=OWNED)})

    def flip(name: str) -> None:
        if name == "ConsumerGroupDescribe" and cluster.requests["DescribeGroups"]:
            cluster.groups["payments"].type = CLASSIC

    cluster.before = flip

    view = unobserved((await observe(cluster, "payments"))["payments"])

    assert view.reason == "ObservationIncomplete"


async def test_a_share_group_is_named_as_not_ours() -> None:
    view = unobserved((await observe(FakeCluster({"payments": FakeGroup(SHARE)}), "payments"))["payments"])

    assert view.reason is Reason.GROUP_OF_ANOTHER_TYPE


async def test_of_a_partition_without_a_commit_no_more_than_its_own_log_is_unread() -> None:
    """Its beginning is asked for, and only then: retention may have deleted all of it."""
    cluster = FakeCluster({"payments": FakeGroup(CLASSIC, owned=OWNED, committed={0: 60})}, start=90)
    view = observed((await observe(cluster, "payments"))["payments"])
    assert [offsets.unread for _, offsets in sorted(view.offsets.items())] == [40, *[10] * (len(view.offsets) - 1)]
    assert view.lag == 40 + 10 * (len(view.offsets) - 1)


async def test_where_everything_is_committed_no_beginning_is_asked_for() -> None:
    counted = []
    for committed in ({}, dict.fromkeys(range(12), 60)):
        cluster = FakeCluster({"payments": FakeGroup(CLASSIC, owned=OWNED, committed=committed)})
        await observe(cluster, "payments")
        counted.append(cluster.requests["ListOffsets"])
    assert counted == [2 * counted[1], counted[1]]


async def test_an_unknown_state_of_the_new_protocol_is_not_calm() -> None:
    cluster = FakeCluster({"payments": FakeGroup(CONSUMER, state="Dreaming", owned=OWNED)})

    view = observed((await observe(cluster, "payments"))["payments"])

    assert (view.state, view.calm) == (GroupState.UNKNOWN, False)


async def test_requests_do_not_grow_with_the_number_of_groups() -> None:
    def cluster_of(count: int) -> FakeCluster:
        kinds = [CLASSIC, CONSUMER]
        committed = dict.fromkeys(range(4), 60)
        groups = {f"g{i}": FakeGroup(kinds[i % 2], node_id=1 + i % 3, committed=committed) for i in range(count)}
        return FakeCluster(groups, brokers=3)

    counts = []
    for count in (6, 120):
        cluster = cluster_of(count)
        reader = reader_of(cluster)
        topics = dict.fromkeys(cluster.groups, ORDERS)
        await reader.observe(topics)  # learns coordinators and types
        cluster.requests.clear()
        await reader.observe(topics)
        counts.append(dict(reader.requests | cluster.requests))

    assert counts[0] == counts[1]
    assert counts[0] == {
        "Metadata": 1,
        "DescribeGroups": 3,
        "ConsumerGroupDescribe": 3,
        "OffsetFetch": 3,
        "ListOffsets": 3,
    }


async def test_a_moved_coordinator_is_found_in_the_same_pass() -> None:
    cluster = FakeCluster({"payments": FakeGroup(owned=OWNED)}, brokers=2)
    reader = reader_of(cluster)
    await reader.observe({"payments": ORDERS})
    cluster.groups["payments"].node_id = 2

    assert observed((await reader.observe({"payments": ORDERS}))["payments"]).coordinator == 2


async def test_a_silent_coordinator_is_looked_up_again_by_the_next_pass() -> None:
    cluster = FakeCluster({"payments": FakeGroup(owned=OWNED)}, topics={"orders": 1}, brokers=2)
    cluster.groups["payments"].node_id = 2
    reader = reader_of(cluster)
    await reader.observe({"payments": ORDERS})
    cluster.down = {2}
    failed = unobserved((await reader.observe({"payments": ORDERS}))["payments"])
    cluster.groups["payments"].node_id = 1

    assert failed.reason == "KafkaUnreachable"
    assert observed((await reader.observe({"payments": ORDERS}))["payments"]).coordinator == 1


async def test_an_unreachable_cluster_is_no_empty_group() -> None:
    cluster = FakeCluster({"payments": FakeGroup(owned=OWNED)})
    cluster.down = {1}

    view = unobserved((await observe(cluster, "payments"))["payments"])

    assert (view.reason, view.since) == ("KafkaUnreachable", 1000.0)


async def test_a_silent_coordinator_concerns_its_own_groups_only() -> None:
    cluster = FakeCluster(
        {"mine": FakeGroup(node_id=1, owned=OWNED), "yours": FakeGroup(node_id=2, owned=OWNED)},
        topics={"orders": 1},  # led by broker 1
        brokers=2,
    )
    cluster.down = {2}

    views = await observe(cluster, "mine", "yours")

    assert observed(views["mine"]).state is GroupState.STABLE
    assert unobserved(views["yours"]).reason == "KafkaUnreachable"


async def test_a_silent_leader_leaves_the_ends_of_its_partitions_unknown_and_hides_no_member() -> None:
    cluster = FakeCluster({"payments": FakeGroup(owned=OWNED)}, brokers=2)  # broker 2 leads half of the partitions
    cluster.down = {2}

    view = observed((await observe(cluster, "payments"))["payments"])
    assert view.blind_to is not None
    assert view.blind_to.reason == "KafkaUnreachable"
    assert view.lag is None
    assert view.members


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (Code.COORDINATOR_LOAD_IN_PROGRESS, "CoordinatorUnavailable"),
        (Code.COORDINATOR_NOT_AVAILABLE, "CoordinatorUnavailable"),
        (Code.NOT_COORDINATOR, "CoordinatorUnavailable"),
        (Code.GROUP_AUTHORIZATION_FAILED, "NotAuthorized"),
        (-1, "ObservationIncomplete"),
    ],
)
async def test_an_error_for_one_group_leaves_that_one_unobserved(code: int, reason: str) -> None:
    cluster = FakeCluster({"bad": FakeGroup(error_code=code, owned=OWNED), "good": FakeGroup(owned=OWNED)})

    views = await observe(cluster, "bad", "good")

    assert unobserved(views["bad"]).reason == reason
    assert "bad" in unobserved(views["bad"]).message
    assert observed(views["good"]).state is GroupState.STABLE


async def test_a_missing_topic_is_named_and_hides_no_member() -> None:
    cluster = FakeCluster({"payments": FakeGroup(owned=OWNED)})

    views = await reader_of(cluster).observe({"payments": frozenset({"orders", "refunds"})})

    view = observed(views["payments"])
    assert view.blind_to is not None
    assert view.blind_to.reason == "TopicMissing"
    assert "topic refunds does not exist" in view.blind_to.message
    assert view.members
    assert {partition.topic for partition in view.partitions} == {"orders"}


async def test_settings_of_many_groups_are_read_with_one_request_and_without_defaults() -> None:
    session = {"consumer.session.timeout.ms": "50000"}
    cluster = FakeCluster({"set": FakeGroup(CONSUMER, settings=session), "old": FakeGroup(CLASSIC)}, brokers=2)
    topics = dict.fromkeys(("set", "old", "new", "unasked"), ORDERS)

    views = await reader_of(cluster).observe(topics, {"set", "old", "new"})

    assert {group_id: observed(view).settings for group_id, view in views.items()} == {
        "set": session,
        "old": {},
        "new": {},
        "unasked": None,
    }
    assert cluster.requests["DescribeConfigs"] == 1


async def test_settings_that_nobody_wants_are_not_asked_for() -> None:
    cluster = FakeCluster({"payments": FakeGroup()})

    assert observed((await observe(cluster, "payments"))["payments"]).settings is None
    assert cluster.requests["DescribeConfigs"] == 0


@pytest.mark.parametrize("code", [Code.GROUP_AUTHORIZATION_FAILED, Code.INVALID_REQUEST], ids=["denied", "old-broker"])
async def test_settings_that_cannot_be_read_leave_the_group_observed(code: Code) -> None:
    cluster = FakeCluster({"payments": FakeGroup(settings_error=code)})

    view = observed((await reader_of(cluster).observe({"payments": ORDERS}, {"payments"}))["payments"])

    assert (view.state, view.settings) == (GroupState.STABLE, None)


async def test_what_one_of_two_watches_cannot_see_of_a_group_is_not_said_to_the_other() -> None:
    """The other ConsumerGroup of its id may be in another namespace, and held for that: its topics concern nobody."""
    group = FakeGroup(owned={"orders-0": [0, 1]}, committed=dict.fromkeys(range(4), 50))
    cluster = FakeCluster({"payments": group}, topics={"orders": 4, "other": 3})
    observer = Observer(reader_of(cluster), lambda key: None)
    observer.start()
    observer.watch("a/payments", "payments", {"orders"})
    observer.watch("b/payments", "payments", {"other", "missing"})
    ours = observed(await observer.observe_now("a/payments"))
    theirs = observed(await observer.observe_now("b/payments"))
    assert (ours.blind_to, ours.blind_in) == (None, {})
    assert {partition.topic for partition in ours.partitions} == {"orders"}
    assert theirs.blind_to is not None
    assert (theirs.blind_to.reason, theirs.blind_in) == (Reason.TOPIC_MISSING, {})
    await observer.close()


async def test_of_several_topics_that_cannot_be_read_the_first_is_named() -> None:
    cluster = FakeCluster({"payments": FakeGroup(owned=OWNED)}, topics={"orders": 4})
    topics = {"payments": frozenset({"orders", "b-missing", "a-missing"})}
    view = observed((await reader_of(cluster).observe(topics))["payments"])
    assert view.blind_to is not None
    assert "topic a-missing does not exist" in view.blind_to.message
    assert view.blind_in.keys() == {"a-missing", "b-missing"}


async def test_a_pass_without_topics_learns_where_the_brokers_are_all_the_same() -> None:
    """As of groups that are being deleted, which may be all that is left of a connection."""
    cluster = FakeCluster({"payments": FakeGroup(owned=OWNED)})
    for passes in (1, 2):
        observed((await reader_of(cluster).observe({"payments": frozenset()}))["payments"])
        assert cluster.remembered == passes


@pytest.mark.parametrize("groups", [2, 1 + MOST_AT_ONCE // 4])
async def test_what_many_small_groups_show_is_put_together_beside_the_event_loop(
    groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_by: set[int] = set()
    assembled = group_reader._assembled

    def noted(*arguments: Any) -> GroupObservation:
        made_by.add(get_ident())
        return assembled(*arguments)

    monkeypatch.setattr(group_reader, "_assembled", noted)
    names = [f"g{number}" for number in range(groups)]
    views = await observe(FakeCluster({name: FakeGroup(owned=OWNED) for name in names}), *names)
    assert all(observed(views[name]).group_id == name for name in names)
    assert (get_ident() in made_by) is (groups == 2)
