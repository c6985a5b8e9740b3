"""How much of what brokers and members say is looked at."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, Final

import pytest
from kafka.protocol.admin import DescribeGroupsResponse
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription

from slackwater.adapters.kafka import reading_pace
from slackwater.adapters.kafka.descriptions import Answer, Description, classic_answers, consumer_answers
from slackwater.adapters.kafka.errors import Failure, KafkaUnreachable
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.lookups import AT_A_TIME, Lookups
from slackwater.adapters.kafka.offsets import committed_in, ends_in
from slackwater.adapters.kafka.reading_pace import (
    AT_ONCE,
    BYTES_A_SECOND,
    MADE_A_SECOND,
    MADE_AT_ONCE,
    OwnReading,
    ReadingPace,
    pace_of,
)
from slackwater.adapters.kafka.sizes import LONGEST_NAME, USUAL, Limits, partitions_in
from slackwater.adapters.kafka.subscriptions import LONGEST_KEPT, MOST_KEPT, Subscriptions
from slackwater.adapters.kafka.topics import layout_of
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import GroupObservation, TopicPartition, Unobserved
from tests.adapters.kafka.fake_cluster import CLASSIC, FakeCluster, FakeGroup

ROW: Final = DescribeGroupsResponse.DescribedGroup
SMALL: Final = Limits(partitions=10, members=3, brokers=2)


def assignment(owned: Mapping[str, int]) -> bytes:
    """The first so many partitions of each topic."""
    parts = [struct.pack(">hi", 0, len(owned))]
    for topic, count in owned.items():
        name = topic.encode()
        parts.append(struct.pack(">h", len(name)) + name + struct.pack(f">i{count}i", count, *range(count)))
    return b"".join(parts) + struct.pack(">i", -1)


def classic(*assignments: bytes) -> Answer:
    members = [
        ROW.DescribedGroupMember(member_id=f"m{n}", client_id="c", client_host="/h", member_assignment=each)
        for n, each in enumerate(assignments)
    ]
    row = ROW(group_id="payments", group_state="Stable", protocol_type="consumer", members=members)
    return classic_answers(DescribeGroupsResponse(groups=[row]), SMALL)["payments"]


def modern(*owned: int) -> Answer:
    def those(count: int) -> Any:
        return SimpleNamespace(topic_partitions=[SimpleNamespace(topic_name="orders", partitions=range(count))])

    members = [
        SimpleNamespace(
            member_id=f"m{n}",
            instance_id=None,
            client_id="c",
            client_host="/h",
            assignment=those(count),
            target_assignment=those(count),
            member_epoch=1,
            subscribed_topic_regex=None,
            subscribed_topic_names=["orders"],
        )
        for n, count in enumerate(owned)
    ]
    group = SimpleNamespace(
        group_id="payments", error_code=0, group_state="Stable", assignor_name="uniform", group_epoch=1, members=members
    )
    return consumer_answers(SimpleNamespace(groups=[group]), SMALL)["payments"]


def why(answer: Any) -> str:
    assert isinstance(answer, Failure), answer
    assert answer.reason is Reason.ANSWER_TOO_LONG
    return answer.message


def test_partitions_are_counted_as_they_are_read() -> None:
    encoded = assignment({"orders": 7, "refunds": 0, "été": 2})
    assert partitions_in(encoded) == 9
    owned = ConsumerProtocolAssignment.decode(encoded).assigned_partitions
    assert [(each.topic, len(each.partitions)) for each in owned] == [("orders", 7), ("refunds", 0), ("été", 2)]


@pytest.mark.parametrize(
    "encoded",
    [
        b"\x00\x00\x00",
        struct.pack(">hi", 0, 2**31 - 1),
        struct.pack(">hihi", 0, 2**31 - 1, -6, 0) * 9,
        struct.pack(">hihi", 0, 2**31 - 1, 0, -1) * 9,
    ],
    ids=["cut short", "more topics than bytes", "a name that goes back", "partitions that go back"],
)
def test_what_counts_nothing_ends(encoded: bytes) -> None:
    with pytest.raises(ValueError, match=r"cut short|negative"):
        partitions_in(encoded)


@pytest.mark.parametrize(
    ("describe", "each"),
    [(classic, lambda n: assignment({"orders": n})), (modern, lambda n: n)],
    ids=["classic", "KIP-848"],
)
def test_a_group_of_too_many_is_not_looked_at(describe: Callable[..., Answer], each: Callable[[int], Any]) -> None:
    assert isinstance(describe(each(5), each(5)), Description)
    assert "11 partitions, and slackwater looks at 10" in why(describe(each(5), each(6)))
    assert isinstance(describe(*map(each, (1, 1, 1))), Description)
    assert "4 members, and slackwater looks at 3" in why(describe(*map(each, (1, 1, 1, 1))))


def test_an_assignors_name_is_shown_and_no_longer_than_a_name() -> None:
    """It stands in conditions, Events, metrics' events and on terminals."""
    row = ROW(
        group_id="payments", group_state="Stable", protocol_type="consumer", protocol_data="\x1b[2J" + "a" * 10**6
    )
    answer = classic_answers(DescribeGroupsResponse(groups=[row]))["payments"]
    assert isinstance(answer, Description)
    assert "\x1b" not in answer.assignor
    assert len(answer.assignor) < 1_000


async def test_a_group_of_topics_with_too_many_partitions_is_not_looked_at_and_others_are() -> None:
    cluster = FakeCluster({"payments": FakeGroup(CLASSIC), "other": FakeGroup(CLASSIC)})
    cluster.topics = {"orders": 6, "refunds": 6}
    asked = {"payments": frozenset({"orders", "refunds"}), "other": frozenset({"orders"})}
    views = await KafkaGroupReader(cluster, now=lambda: 1.0, limits=SMALL).observe(asked)  # type: ignore[arg-type]
    crowded = views["payments"]
    assert isinstance(crowded, Unobserved)
    assert crowded.reason is Reason.ANSWER_TOO_LONG
    assert isinstance(views["other"], GroupObservation)


def metadata(**topics: int) -> Any:
    return SimpleNamespace(
        topics=[
            SimpleNamespace(
                name=name,
                error_code=0,
                partitions=[SimpleNamespace(partition_index=n, leader_id=1) for n in range(count)],
            )
            for name, count in topics.items()
        ]
    )


def test_a_topic_that_nobody_asked_for_is_passed_over_and_one_of_too_many_partitions_is_a_failure() -> None:
    layout = layout_of(metadata(orders=2, refunds=11, made_up=5), ["orders", "refunds"], SMALL)
    assert set(layout.leaders) == {TopicPartition("orders", 0), TopicPartition("orders", 1)}
    assert "refunds" in why(layout.failures["refunds"])
    assert layout.partitions_of({"orders"}) == set(layout.leaders)


def test_offsets_that_nobody_asked_for_are_passed_over() -> None:
    asked = TopicPartition("orders", 0)
    rows = [SimpleNamespace(partition_index=n, error_code=0, offset=5, committed_offset=5) for n in range(3)]
    topics = [SimpleNamespace(name="orders", partitions=rows)]
    assert ends_in(SimpleNamespace(topics=topics), [asked]) == {asked: 5}
    group = SimpleNamespace(group_id="payments", error_code=0, topics=topics)
    found = committed_in(SimpleNamespace(groups=[group]), {"payments": frozenset({asked})})
    assert found == {"payments": {asked: 5}}


def test_of_more_brokers_than_are_looked_at_none_is_taken_in() -> None:
    wire = KafkaWire({"bootstrap_servers": "kafka:9092"}, limits=SMALL)
    brokers = [SimpleNamespace(node_id=n, host=f"kafka-{n}") for n in range(3)]
    with pytest.raises(KafkaUnreachable, match=r"3 brokers, and slackwater looks at 2"):
        wire.remember_brokers(SimpleNamespace(brokers=brokers, cluster_id="A"))
    assert wire.cluster_id is None
    wire.remember_brokers(SimpleNamespace(brokers=brokers[1:], cluster_id="A"))
    assert wire.cluster_id == "A"


@pytest.mark.parametrize("text", ["x" * (LONGEST_NAME + 1), "x" * 3_900_000 + "\U0001f600"])
def test_of_a_cluster_with_a_long_id_nothing_is_taken_in(text: str) -> None:
    """It would be in each status and each event of telemetry."""
    wire = KafkaWire({"bootstrap_servers": "kafka:9092"})
    with pytest.raises(KafkaUnreachable, match=rf"{len(text):,} characters, and slackwater looks at 255") as refused:
        wire.remember_brokers(SimpleNamespace(brokers=[], cluster_id=text))
    assert refused.value.reason is Reason.ANSWER_TOO_LONG
    assert len(str(refused.value)) < 200
    assert wire.cluster_id is None
    wire.remember_brokers(SimpleNamespace(brokers=[], cluster_id="x" * LONGEST_NAME))
    assert wire.cluster_id == "x" * LONGEST_NAME


def test_of_a_broker_with_a_long_host_nothing_is_taken_in() -> None:
    wire = KafkaWire({"bootstrap_servers": "kafka:9092"})
    broker = SimpleNamespace(node_id=7, host="x" * (LONGEST_NAME + 1))
    with pytest.raises(KafkaUnreachable, match=r"host of broker 7 of Kafka at kafka:9092 has 256 characters"):
        wire.remember_brokers(SimpleNamespace(brokers=[broker], cluster_id="A"))
    assert wire.cluster_id is None


def subscription(topic: str, user_data: bytes = b"") -> bytes:
    return bytes(
        ConsumerProtocolSubscription(topics=[topic], user_data=user_data, owned_partitions=[]).encode(version=1)
    )


def test_what_members_have_asked_for_is_decoded_once_and_kept_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[bytes] = []
    decode = ConsumerProtocolSubscription.decode

    def counted(metadata: bytes) -> Any:
        decoded.append(metadata)
        return decode(metadata)

    monkeypatch.setattr(ConsumerProtocolSubscription, "decode", counted)
    seen = Subscriptions()
    same = subscription("orders")
    assert [seen.of(same) for _ in range(3)] == [frozenset({"orders"})] * 3
    assert len(decoded) == 1
    others = [subscription("orders", number.to_bytes(4) + bytes(3_000)) for number in range(2_000)]
    for each in others:
        seen.of(each)
        seen.of(same)
    assert decoded.count(same) == 1, "what is shown at each look stays"
    assert sum(map(len, (*seen._now, *seen._before))) <= 2 * MOST_KEPT
    assert all(each in seen._now or each in seen._before for each in others[-100:])


def test_long_ones_are_not_kept() -> None:
    seen = Subscriptions()
    for number in range(3):
        assert seen.of(subscription("orders", number.to_bytes(4) + bytes(LONGEST_KEPT))) == frozenset({"orders"})
    assert seen.size == 0


def test_names_are_looked_up_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []
    monkeypatch.setattr(
        "slackwater.adapters.kafka.lookups.Thread",
        lambda **thread: SimpleNamespace(start=lambda: begun.append(thread["args"])),
    )
    lookups = Lookups(SimpleNamespace(call_later=lambda *_: None))
    futures = [lookups.addresses(f"b{n}", 9092) for n in range(20)]
    assert len(begun) == AT_A_TIME
    for place, future in begun[:AT_A_TIME]:
        lookups._done(place, future, future.success, [])
    assert len(begun) == 2 * AT_A_TIME
    assert [future.is_done for future in futures[:9]] == [True] * 8 + [False]


def test_a_namespaces_connections_are_read_at_one_pace() -> None:
    now = [100.0]
    pace = ReadingPace(lambda: now[0])
    assert pace.wait_s(AT_ONCE) == 0.0
    assert pace.wait_s(BYTES_A_SECOND) == 1.0
    assert pace.wait_s(BYTES_A_SECOND) == 2.0, "for whoever reads next, too"
    now[0] += 2
    assert pace.wait_s(0) == 0.0
    now[0] += 10**6
    assert pace.wait_s(AT_ONCE) == 0.0
    assert pace.wait_s(BYTES_A_SECOND) == 1.0, "no more comes together than that"


def test_a_namespaces_connections_are_made_at_one_pace() -> None:
    now = [100.0]
    pace = ReadingPace(lambda: now[0])
    assert [pace.connects_in_s(1.0) for _ in range(MADE_AT_ONCE)] == [0.0] * MADE_AT_ONCE
    assert pace.connects_in_s(1.0) == pytest.approx(1 / MADE_A_SECOND)
    assert pace.connects_in_s(1.0) == pytest.approx(2 / MADE_A_SECOND), "for whoever comes next, too"
    assert pace.connects_in_s(0.01) is None
    assert pace.connects_in_s(1.0) == pytest.approx(3 / MADE_A_SECOND), "who gave up has taken no turn"
    now[0] += 10**6
    assert [pace.connects_in_s(1.0) for _ in range(MADE_AT_ONCE)] == [0.0] * MADE_AT_ONCE
    assert pace.connects_in_s(1.0), "no more come together than that"


def test_it_is_that_of_the_namespace_as_long_as_there_is_a_connection() -> None:
    one, same, another = pace_of("shop"), pace_of("shop"), pace_of("ops")
    assert one is same
    assert one is not another
    del one, same
    assert "shop" not in reading_pace._PACES


def test_a_client_knows_when_the_pace_held_it_up() -> None:
    now = [100.0]
    shared = ReadingPace(lambda: now[0])
    mine, other = OwnReading(shared, lambda: now[0]), OwnReading(shared, lambda: now[0])
    assert mine.wait_s(AT_ONCE) == 0.0
    assert not mine.was_held_up(100.0)
    assert mine.wait_s(BYTES_A_SECOND) == 1.0
    assert mine.was_held_up(100.5)
    assert mine.was_held_up(101.0)
    assert not mine.was_held_up(101.5), "that was before"
    assert not other.was_held_up(100.0), "it has read nothing"


def test_whoever_may_look_at_more_partitions_may_look_at_more_members() -> None:
    assert Limits.of(answer_megabytes=4, partitions=10_000, per_namespace=300_000) == USUAL
    more = Limits.of(answer_megabytes=8, partitions=50_000, per_namespace=900_000)
    assert more == Limits(8_000_000, 50_000, 10_000, 900_000)


def test_a_fleet_of_a_thousand_members_with_a_thousand_partitions_fits_into_what_is_usual() -> None:
    topic = "a-topic-with-a-name-of-usual-length"
    members = [
        ROW.DescribedGroupMember(
            member_id=f"rdkafka-{n:032}",
            group_instance_id=f"payments-{n}",
            client_id="payments",
            client_host=f"/10.0.{n // 250}.{n % 250}",
            member_metadata=subscription(topic),
            member_assignment=assignment({topic: 1}),
        )
        for n in range(1_000)
    ]
    row = ROW(group_id="payments", group_state="Stable", protocol_type="consumer", members=members)
    answer = DescribeGroupsResponse(groups=[row])
    assert len(answer.encode(version=5)) < USUAL.answer_bytes / 5
    assert isinstance(classic_answers(answer)["payments"], Description)
