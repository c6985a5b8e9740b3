"""Groups of real consumers on a real broker: what is read of them, and groups that are deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from confluent_kafka import ShareConsumer

from slackwater.adapters.kafka.errors import KafkaRefused
from slackwater.adapters.kafka.group_admin import KafkaGroupAdmin
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import (
    GroupObservation,
    GroupState,
    GroupType,
    KafkaView,
    TopicPartition,
    Unobserved,
)
from tests.adapters.kafka.conftest import PARTITIONS
from tests.adapters.kafka.running_consumers import CLASSIC, CONSUMER, RunningConsumer, running, settled, view_until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

BOTH = pytest.mark.parametrize(
    ("protocol", "expected"),
    [(CLASSIC, GroupType.CLASSIC), (CONSUMER, GroupType.CONSUMER)],
    ids=["classic", "consumer"],
)
InstanceIds = Callable[[int], list[str]]


def dead_or_empty(view: KafkaView) -> bool:
    return isinstance(view, GroupObservation) and view.state in (GroupState.EMPTY, GroupState.DEAD)


@BOTH
@pytest.mark.parametrize("static", [True, False], ids=["static", "dynamic"])
async def test_members_assignments_and_offsets_are_seen(
    protocol: Mapping[str, str | int],
    expected: GroupType,
    static: bool,
    bootstrap_servers: str,
    topic: str,
    group_id: str,
    reader: KafkaGroupReader,
    instance_ids: InstanceIds,
) -> None:
    ids = instance_ids(2) if static else [None, None]
    with running(*(RunningConsumer(bootstrap_servers, group_id, topic, protocol, id_) for id_ in ids)):
        is_settled = settled(2, PARTITIONS)
        view = await view_until(
            reader,
            group_id,
            topic,
            lambda view: is_settled(view) and all(o.unread == 0 for o in view.offsets.values()),  # type: ignore[union-attr]
        )

    assert isinstance(view, GroupObservation)
    assert view.type is expected
    assert {member.instance_id for member in view.members} == set(ids)
    assert view.partitions == {TopicPartition(topic, number) for number in range(PARTITIONS)}
    assert {(offsets.committed, offsets.end) for offsets in view.offsets.values()} == {(10, 10)}
    assert (view.epoch is not None) == (expected is GroupType.CONSUMER)


@BOTH
async def test_a_group_is_deleted_once_it_is_empty(
    protocol: Mapping[str, str | int],
    expected: GroupType,
    bootstrap_servers: str,
    topic: str,
    group_id: str,
    reader: KafkaGroupReader,
    admin: KafkaGroupAdmin,
) -> None:
    with running(RunningConsumer(bootstrap_servers, group_id, topic, protocol)):
        await view_until(reader, group_id, topic, settled(1, PARTITIONS))
        with pytest.raises(KafkaRefused, match="still has members"):
            await admin.delete_group(group_id)
    await view_until(reader, group_id, topic, dead_or_empty)

    await admin.delete_group(group_id)
    await admin.delete_group(group_id)

    view = await view_until(reader, group_id, topic, dead_or_empty)
    assert isinstance(view, GroupObservation)
    assert {offsets.committed for offsets in view.offsets.values()} == {None}


async def test_a_share_group_is_named_and_no_empty_group(
    bootstrap_servers: str, topic: str, group_id: str, reader: KafkaGroupReader
) -> None:
    def is_named(view: KafkaView) -> bool:
        return isinstance(view, Unobserved) and view.reason is Reason.GROUP_OF_ANOTHER_TYPE

    with ShareConsumer({"bootstrap.servers": bootstrap_servers, "group.id": group_id}) as consumer:
        consumer.subscribe([topic])
        consumer.poll(1.0)
        view = await view_until(reader, group_id, topic, is_named)
    assert isinstance(view, Unobserved)
    assert group_id in view.message


async def test_requests_are_as_many_for_100_groups_as_for_5(
    topic: str, group_id: str, reader: KafkaGroupReader
) -> None:
    counts = []
    for number in (5, 100):
        groups = {f"{group_id}-{i}": frozenset({topic}) for i in range(number)}
        await reader.observe(groups)
        before = reader.requests.copy()
        views = await reader.observe(groups)
        assert all(isinstance(view, GroupObservation) for view in views.values())
        counts.append(reader.requests - before)

    # Several brokers: five groups may happen to be on fewer coordinators than a hundred.
    brokers = counts[1]["ListGroups"]
    # Six of each: nothing was committed, so that the beginnings of the partitions are asked for, too.
    assert counts[1].total() <= 1 + 6 * max(brokers, 1)
    if brokers == 1:
        assert counts[0] == counts[1]


async def test_answers_that_are_too_long_for_all_are_asked_for_in_parts(
    monkeypatch: pytest.MonkeyPatch, topic: str, group_id: str, reader: KafkaGroupReader
) -> None:
    """As with a connection that many share: nobody's topics take another's group out of sight."""
    monkeypatch.setitem(reader._wire._settings, "receive_message_max_bytes", 4_000)
    neighbours = {f"{group_id}-{each}": frozenset({f"{topic}-{each}"}) for each in range(200)}
    views = dict(await reader.observe({group_id: frozenset({topic}), **neighbours}))
    ours = views.pop(group_id)
    assert isinstance(ours, GroupObservation)
    assert ours.blind_to is None
    assert ours.partitions == {TopicPartition(topic, number) for number in range(PARTITIONS)}
    assert ours.offsets.keys() == ours.partitions
    blind_to = [view.blind_to for view in views.values() if isinstance(view, GroupObservation)]
    assert [each.reason for each in blind_to if each is not None] == [Reason.TOPIC_MISSING] * len(neighbours)
    assert min(reader.requests[name] for name in ("Metadata", "FindCoordinator", "DescribeGroups", "OffsetFetch")) > 2
