"""What one connection's groups have of the budgets of their namespaces, and what is looked at with it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from slackwater.adapters.kafka import budget as budgets
from slackwater.adapters.kafka import share as shares
from slackwater.adapters.kafka.apart import MOST_AT_ONCE
from slackwater.adapters.kafka.budget import budget_of
from slackwater.adapters.kafka.errors import AnswerTooLong, Failure
from slackwater.adapters.kafka.group_reader import OF_A_GROUP, KafkaGroupReader
from slackwater.adapters.kafka.observer import Observer
from slackwater.adapters.kafka.share import Share, weight_of_members
from slackwater.adapters.kafka.topics import TopicLayout, read_layout
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import GroupObservation, KafkaView, Member, TopicPartition, Unobserved
from tests.adapters.kafka.fake_cluster import CLASSIC, FakeCluster, FakeGroup

WIDE = "\U0001f600"
"""Each character of a text with it takes four bytes."""
LONGEST = 32_000
"""Characters of a client id, as Kafka takes it: 120 of these are an answer of 3.9 MB."""
MOST = 10
"""Of which eight are for those that come."""


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    assert not {"shop/main", "shop/other"} & set(shares._NEWEST)
    assert not {"shop", "ops"} & set(budgets._BUDGETS)


@pytest.fixture
def cluster() -> FakeCluster:
    cluster = FakeCluster({name: FakeGroup(CLASSIC) for name in ("a", "b", "c")})
    cluster.topics = {"five": 5, "three": 3, "one": 1}
    return cluster


@pytest.fixture
def share() -> Iterator[Share]:
    share = Share("shop/main", MOST)
    yield share
    share.close()


def reader_of(cluster: FakeCluster, share: Share) -> KafkaGroupReader:
    return KafkaGroupReader(cluster, now=lambda: 1.0, share=share)  # type: ignore[arg-type]


async def look(reader: KafkaGroupReader, **topics: str) -> Mapping[str, KafkaView]:
    return await reader.observe({group_id: frozenset({topic}) for group_id, topic in topics.items()})


def why(view: KafkaView | Failure | None) -> str:
    assert isinstance(view, Unobserved | Failure), view
    assert view.reason is Reason.ANSWER_TOO_LONG
    return view.message


async def test_a_group_without_room_is_not_looked_at_and_says_so(cluster: FakeCluster, share: Share) -> None:
    for name in ("a", "b"):
        share.begin(f"shop/{name}", name)
    views = await look(reader_of(cluster, share), a="five", b="five")
    assert isinstance(views["a"], GroupObservation)
    assert why(views["b"]).startswith("group b: the groups of namespace shop have 10 partitions and members together")


async def test_once_it_is_known_to_be_too_much_nobody_is_asked(cluster: FakeCluster, share: Share) -> None:
    for name in ("a", "b"):
        share.begin(f"shop/{name}", name)
    reader = reader_of(cluster, share)
    first = await look(reader, a="five", b="five")
    before = dict(reader.requests)
    second = await look(reader, b="five")
    assert dict(reader.requests) == before
    assert why(second["b"]) == why(first["b"])
    share.end("shop/a")
    assert isinstance((await look(reader, b="five"))["b"], GroupObservation), "at once"


async def test_nothing_more_is_asked_of_a_group_without_room(cluster: FakeCluster, share: Share) -> None:
    share.begin("shop/a", "a")
    cluster.topics["five"] = MOST
    reader = reader_of(cluster, share)
    await reader.observe({"a": frozenset({"five"})}, ["a"])
    assert set(reader.requests) == {"Metadata"}


async def test_who_came_first_is_looked_at_whoever_comes(cluster: FakeCluster, share: Share) -> None:
    other = Share("shop/other", MOST)
    share.begin("shop/a", "a")
    other.begin("shop/b", "b")
    mine, theirs = reader_of(cluster, share), reader_of(cluster, other)
    for _ in range(2):
        assert isinstance((await look(mine, a="five"))["a"], GroupObservation)
        assert isinstance((await look(theirs, b="five"))["b"], Unobserved)
    share.close()
    assert isinstance((await look(theirs, b="five"))["b"], GroupObservation), "the connection is gone"
    other.close()


async def test_another_namespace_has_its_own_even_by_the_same_connection(cluster: FakeCluster, share: Share) -> None:
    share.begin("shop/a", "a")
    share.begin("ops/b", "b")
    views = await look(reader_of(cluster, share), a="five", b="five")
    assert {type(each) for each in views.values()} == {GroupObservation}
    assert (budget_of("shop", MOST).used, budget_of("ops", MOST).used) == (5, 5)
    assert share.room() == 2 * MOST


async def test_a_topic_that_is_out_of_sight_for_a_look_loses_no_place(cluster: FakeCluster, share: Share) -> None:
    share.begin("shop/a", "a")
    reader = reader_of(cluster, share)
    await look(reader, a="five")
    del cluster.topics["five"]
    await look(reader, a="five")
    assert budget_of("shop", MOST).used == 5


async def test_members_without_room_are_not_kept_and_are_looked_at_once_there_is_some(
    cluster: FakeCluster, share: Share
) -> None:
    cluster.groups["b"] = FakeGroup(CLASSIC, owned={f"i-{number}": [] for number in range(3)})
    for name in ("a", "b"):
        share.begin(f"shop/{name}", name)
    reader = reader_of(cluster, share)
    views = await look(reader, a="three", b="three")
    assert "have 9 partitions and members together" in why(views["b"])
    assert budget_of("shop", MOST).used == 3
    share.end("shop/a")
    assert isinstance((await look(reader, b="three"))["b"], GroupObservation)
    assert budget_of("shop", MOST).used == 6


async def test_a_group_that_nobody_has_joined_is_one_that_has_a_place(cluster: FakeCluster, share: Share) -> None:
    share.begin("shop/new", "new")
    reader = reader_of(cluster, share)
    assert isinstance((await look(reader, new="five"))["new"], GroupObservation)
    cluster.topics["five"] = MOST
    assert isinstance((await look(reader, new="five"))["new"], GroupObservation), "and may grow"


async def test_topics_beyond_the_room_are_not_asked_for() -> None:
    class Wire:
        """Whose answers hold one topic each."""

        def __init__(self) -> None:
            self.asked: list[str] = []

        async def send(self, request: Any) -> Any:
            if len(request.topics) > 1:
                raise AnswerTooLong("more than is read of one answer")
            (topic,) = request.topics
            self.asked.append(topic.name)
            partitions = [SimpleNamespace(partition_index=number, leader_id=1) for number in range(6)]
            return SimpleNamespace(topics=[SimpleNamespace(name=topic.name, error_code=0, partitions=partitions)])

        def remember_brokers(self, _: Any) -> None: ...

    wire: Any = Wire()
    layout = await read_layout(wire, ["t1", "t2", "t3"], room=MOST)
    assert wire.asked == ["t1", "t2"]
    assert set(layout.failures) == {"t3"}
    assert "topic t3, with those before it, has 12 partitions" in why(layout.failures["t3"])


def test_a_connection_that_is_renewed_keeps_the_places_of_its_groups(share: Share) -> None:
    share.begin("shop/a", "a")
    share.begin("shop/gone", "gone")
    for group_id in ("a", "gone"):
        share.take_partitions(group_id, 4, are_all=True)
    renewed, other = Share("shop/main", MOST), Share("shop/other", MOST)
    other.begin("shop/b", "b")
    share.close()
    assert "namespace shop" in why(other.take_partitions("b", 1, are_all=True))
    renewed.begin("shop/a", "a")
    assert renewed.take_partitions("a", 4, are_all=True) is None
    renewed.end("shop/gone")
    assert other.take_partitions("b", 4, are_all=True) is None
    renewed.close()
    assert budget_of("shop", MOST).used == 4
    other.close()


def test_a_key_that_looks_at_another_group_leaves_the_first_ones_place(share: Share) -> None:
    share.begin("shop/a", "a")
    share.take_partitions("a", 8, are_all=True)
    share.begin("shop/a", "b")
    assert share.take_partitions("b", 7, are_all=True) is None
    assert budget_of("shop", MOST).used == 7
    assert share.take_partitions("a", 8, are_all=True) is None, "nobody looks at it"


def test_of_two_that_look_at_one_group_the_first_has_its_place(share: Share) -> None:
    share.begin("shop/a", "a")
    share.begin("ops/a", "a")
    share.take_partitions("a", 8, are_all=True)
    ops = budget_of("ops", MOST)
    assert (budget_of("shop", MOST).used, ops.used) == (8, 0)
    share.end("shop/a")
    share.take_partitions("a", 8, are_all=True)
    assert ops.used == 8
    share.end("ops/a")
    share.end("ops/a")


async def test_an_observer_has_places_for_what_it_watches(share: Share) -> None:
    class Reader:
        async def observe(self, *_: Any) -> Mapping[str, KafkaView]:
            return {}

        async def close(self) -> None: ...

    observer = Observer(Reader(), lambda _: None, share=share)
    for name in ("a", "b"):
        observer.watch(f"shop/{name}", name, ["five"])
        share.take_partitions(name, 4, are_all=True)
    budget = budget_of("shop", MOST)
    assert budget.used == 8
    observer.unwatch("shop/b")
    assert budget.used == 4
    await observer.close()
    assert budget.used == 0


def member(
    text: str = "m",
    owned: int = 0,
    wanted: int | None = None,
    subscribed: frozenset[str] | None = None,
    topic: str = "t",
) -> Member:
    those = [frozenset(TopicPartition(topic, n) for n in range(count)) for count in (owned, wanted or 0)]
    return Member(text, None, "", "", those[0], None if wanted is None else those[1], subscribed=subscribed)


@pytest.mark.parametrize(
    ("members", "weight"),
    [
        ([member(), member()], 2),
        ([member("m" * 2_500)], 3),
        ([member(owned=10)], 1),
        ([member(owned=15)], 6),
        ([member(owned=3, wanted=30)], 21),
        ([member(subscribed=frozenset(map(str, range(50))))], 6),
        ([member("m" * 2_500 + WIDE)], 11),
        ([member(), replace(member(), client_id="c" * 999 + WIDE, instance_id="i" * 999 + WIDE)], 10),
        ([member(owned=10, topic="t" * 5_000), member(owned=10, topic="t" * 5_000)], 17),
        ([member(wanted=10, topic="t" * 999 + WIDE)], 5),
        ([member(subscribed=frozenset({"t" * 999 + WIDE, "s"}))], 4),
    ],
    ids=[
        "each",
        "long names",
        "what the group has",
        "what it has not",
        "what it should own",
        "topics",
        "a wide character",
        "one in each text",
        "what is owned has a long name, once",
        "what is to be owned has",
        "what is asked for has",
    ],
)
def test_members_count_by_what_they_take(members: list[Member], weight: int) -> None:
    assert weight_of_members(members, 10) == weight


def test_an_ordinary_group_counts_by_its_members_alone() -> None:
    """Ten thousand of 20 partitions and 4 members have room in one namespace."""
    name, asked = "payments-consumer", frozenset({"payments-events"})
    parts = [frozenset(TopicPartition("payments-events", n) for n in range(i, 20, 4)) for i in range(4)]
    ordinary = [
        Member(
            f"{name}-{i}-{'f' * 36}", f"{name}-{i}", f"{name}-{i}-StreamThread-1", "10.0.0.1", owned, subscribed=asked
        )
        for i, owned in enumerate(parts)
    ]
    assert weight_of_members(ordinary, 20) == 4


def wide_texts() -> list[Member]:
    return [replace(member(), client_id=f"{n}".ljust(LONGEST, "x") + WIDE) for n in range(120)]


def wide_topics() -> list[Member]:
    topics = [f"{n}".ljust(LONGEST, "x") + WIDE for n in range(120)]
    return [replace(member(), assignment=frozenset(TopicPartition(topic, 0) for topic in topics))]


def wide_subscriptions() -> list[Member]:
    return [member(subscribed=frozenset({f"{n}".ljust(LONGEST, "x") + WIDE})) for n in range(120)]


@pytest.mark.parametrize(
    "members", [wide_texts(), wide_topics(), wide_subscriptions()], ids=["ids", "owned", "asked for"]
)
def test_groups_that_have_a_place_take_a_kilobyte_for_each_of_their_weight(members: list[Member]) -> None:
    """Sixty groups of one such answer each had a place among 300,000, and took 879 MiB."""
    weight = weight_of_members(members, 1)
    kept = {id(text): sys.getsizeof(text) for each in members for text in texts_of(each)}
    assert sum(kept.values()) <= 1_100 * weight


def texts_of(member: Member) -> list[str]:
    return [member.client_id, *(each.topic for each in member.assignment), *(member.subscribed or ())]


def test_topics_that_all_members_subscribe_to_count_once() -> None:
    same = frozenset(map(str, range(50)))
    assert weight_of_members([member(subscribed=same) for _ in range(10)], 0) == 15


async def test_a_look_asks_for_as_many_topics_as_there_is_room_for(
    cluster: FakeCluster, share: Share, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms: list[int | None] = []

    async def noted(*given: Any) -> TopicLayout:
        rooms.append(given[-1])
        return await read_layout(*given)

    monkeypatch.setattr("slackwater.adapters.kafka.group_reader.read_layout", noted)
    await look(reader_of(cluster, share), a="five")
    share.begin("shop/a", "a")
    await look(reader_of(cluster, share), a="five")
    assert rooms == [None, MOST]


@pytest.mark.parametrize("looks", [1, 2], ids=["at first", "once it is known"])
async def test_thousands_without_room_are_counted_not_listed_and_let_others_have_their_turn(
    looks: int, cluster: FakeCluster, share: Share, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, turns, many = 0, 0, 2_000

    def partitions_of(self: TopicLayout, topics: frozenset[str]) -> frozenset[TopicPartition]:
        nonlocal listed
        listed += 1
        return plain(self, topics)

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    plain = TopicLayout.partitions_of
    monkeypatch.setattr(TopicLayout, "partitions_of", partitions_of)
    cluster.groups = {f"g{number}": FakeGroup(CLASSIC) for number in range(many)}
    for group_id in cluster.groups:
        share.begin(f"shop/{group_id}", group_id)
    reader = reader_of(cluster, share)
    beside = asyncio.create_task(others())
    for _ in range(looks):
        turns = 0
        views = await look(reader, **dict.fromkeys(cluster.groups, "five"))
    beside.cancel()
    assert sum(isinstance(view, GroupObservation) for view in views.values()) == 1
    assert listed == looks
    assert turns >= many * OF_A_GROUP / MOST_AT_ONCE
