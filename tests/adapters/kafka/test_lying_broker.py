"""What a broker may answer without a word that is not Kafka's, read through the real client."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from threading import Lock
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.protocol.admin import DescribeGroupsRequest
from kafka.protocol.metadata import FindCoordinatorRequest, MetadataRequest

from slackwater.adapters.kafka.apart import ONE_AT_A_TIME, OWN_TURN
from slackwater.adapters.kafka.broker_reader import BrokerReader
from slackwater.adapters.kafka.errors import AnswerTooLong, KafkaUnreachable
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.group_settings import READ
from slackwater.adapters.kafka.reading_pace import ReadingPace
from slackwater.adapters.kafka.sizes import USUAL, Limits
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import GroupObservation, KafkaView, Unobserved
from tests.adapters.kafka.lying_broker import Lie, lying_broker

ASKED = {"payments": frozenset({"t"})}
SMALL = replace(USUAL, partitions=1_000, members=900)


@contextmanager
def kept_of_answers() -> Iterator[Callable[[], int]]:
    """Bytes of what was decoded and is still there, and of what was cut from it."""
    tracemalloc.start()
    try:
        yield lambda: sum(
            each.size
            for each in tracemalloc.take_snapshot()
            .filter_traces([tracemalloc.Filter(True, each) for each in ("<codegen_decode:*", "*/words.py")])
            .statistics("filename")
        )
    finally:
        tracemalloc.stop()


async def no_more_kept(kept: Callable[[], int], below: int) -> None:
    """Of all that was read. Who reads an answer holds it until its call returns: the client's thread may just be about
    to when this one asks."""
    deadline = monotonic() + 30
    while (held := kept()) >= below and monotonic() < deadline:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.01)
    assert held < below


async def looked(lie: Lie, limits: Limits = SMALL) -> KafkaView:
    with lying_broker(lie, 22_000) as broker:
        reader = KafkaGroupReader(KafkaWire({"bootstrap_servers": broker.address}, limits=limits), limits=limits)
        view = (await reader.observe(ASKED))["payments"]
        await reader.close()
    return view


@pytest.mark.parametrize(
    ("lie", "what"),
    [
        (Lie.MEMBERS, "group payments: Kafka broker 1 answers with 1,000 members, and slackwater looks at 900 at most"),
        (Lie.ASSIGNMENT, "group payments has 5,500 partitions"),
        (Lie.BROKERS, "answers with 2,999 brokers"),
    ],
)
async def test_what_has_too_much_of_anything_is_not_looked_at_and_says_so(lie: Lie, what: str) -> None:
    view = await looked(lie)
    assert isinstance(view, Unobserved), view
    assert view.reason is Reason.ANSWER_TOO_LONG
    assert what in view.message


async def test_a_null_where_the_protocol_has_none_is_a_group_that_is_not_seen_and_says_so() -> None:
    """It ended the observer, which was opened again and again, and no condition said why."""
    view = await looked(Lie.NULL)
    assert isinstance(view, Unobserved), view
    assert view.reason is Reason.KAFKA_UNREACHABLE
    assert view.message == "Kafka broker 1 answers with what is not Kafka's protocol"


async def test_a_topic_of_too_many_partitions_is_out_of_sight_and_its_group_is_not() -> None:
    view = await looked(Lie.PARTITIONS)
    assert isinstance(view, GroupObservation)
    assert view.blind_to is not None
    assert view.blind_to.reason is Reason.ANSWER_TOO_LONG
    assert view.blind_to.message.startswith("topic t: Kafka at ")
    assert "answers with 1,222 partitions" in view.blind_to.message


@pytest.mark.parametrize("lie", [Lie.PARTITIONS, Lie.MEMBERS, Lie.ASSIGNMENT])
async def test_what_is_too_much_is_not_asked_for_at_each_look(lie: Lie) -> None:
    """It is megabytes, and all connections of a namespace are read at one pace."""
    with lying_broker(lie, 22_000) as broker:
        wire = KafkaWire({"bootstrap_servers": broker.address}, limits=SMALL)
        reader = KafkaGroupReader(wire, limits=SMALL)
        first, second = [(await reader.observe(ASKED))["payments"] for _ in range(2)]
        await reader.close()
    sizes = [len(answer) for answer in broker.sent if len(answer) > 5_000]
    assert len(sizes) == 1, "the second look reads nothing of it"
    for view in (first, second):
        why = view.blind_to if isinstance(view, GroupObservation) else view
        assert why is not None
        assert why.reason is Reason.ANSWER_TOO_LONG


async def test_of_brokers_settings_only_a_little_is_kept_of_those_that_are_read() -> None:
    """While others are asked, and after: twenty brokers with a third of a megabyte each, four bytes a character."""
    of_one, held, answered = 9 * 4 * 30_000, list[int](), count(1)
    with lying_broker(Lie.POLICIES, 60_000) as broker, kept_of_answers() as kept:
        wire = KafkaWire({"bootstrap_servers": broker.address})
        send = wire.send

        async def measured(request: Any, node_id: int | None = None) -> Any:
            response = await send(request, node_id)
            if next(answered) == 1 + 2 * 20:
                held.append(kept())
            return response

        wire.send = measured  # type: ignore[method-assign]
        facts = await BrokerReader(wire).read()
        await wire.close()
        await no_more_kept(kept, 100_000)
    (before_the_end,) = held
    assert before_the_end < 9 * of_one, "eight are asked at a time"
    assert facts.migration_policy is None
    assert "the brokers differ in group.consumer.migration.policy" in facts.problem
    assert len(facts.problem) < 600


async def test_of_groups_settings_only_a_little_is_kept_of_those_that_are_read() -> None:
    """Until the next look, and as many times as there are groups."""
    groups = [f"group-{number}" for number in range(20)]
    with lying_broker(Lie.SETTINGS, 60_000) as broker, kept_of_answers() as kept:
        reader = KafkaGroupReader(KafkaWire({"bootstrap_servers": broker.address}))
        views = await reader.observe(dict.fromkeys(groups, ASKED["payments"]), groups)
        await no_more_kept(kept, 20 * 5_000)
        await reader.close()
    for view in views.values():
        assert isinstance(view, GroupObservation)
        assert view.settings is not None
        assert view.settings.keys() == set(READ)


async def test_who_waits_behind_such_an_answer_is_answered() -> None:
    wide = DescribeGroupsRequest(groups=["payments"], include_authorized_operations=False)
    narrow = [FindCoordinatorRequest(key_type=0, coordinator_keys=[f"g{n}"], min_version=4) for n in range(3)]
    with lying_broker(Lie.MEMBERS, 22_000) as broker:
        wire = KafkaWire({"bootstrap_servers": broker.address}, limits=SMALL)
        await wire.send(narrow[0], 1)
        answers: list[Any] = await asyncio.gather(
            *(wire.send(each, 1) for each in (wide, *narrow)), return_exceptions=True
        )
        await wire.close()
    assert isinstance(answers[0], AnswerTooLong), answers
    assert [[each.key for each in answer.coordinators] for answer in answers[1:]] == [["g0"], ["g1"], ["g2"]]


async def test_nothing_of_a_topic_is_kept_by_the_client() -> None:
    with lying_broker(Lie.PARTITIONS, 9_000) as broker:
        wire = KafkaWire({"bootstrap_servers": broker.address}, limits=SMALL)
        reader = KafkaGroupReader(wire, limits=SMALL)
        view = (await reader.observe(ASKED))["payments"]
        assert isinstance(view, GroupObservation)
        assert len(view.partitions) == 500
        assert wire._session is not None
        cluster = wire._session._manager.cluster
        assert [each.node_id for each in cluster.brokers()] == [1]
        assert not cluster.topics()
        await reader.close()


async def test_what_is_made_of_its_answers_waits_in_the_turn_of_the_namespace() -> None:
    pace = ReadingPace()
    with lying_broker(Lie.BROKERS, 0) as broker:
        wire = KafkaWire({"bootstrap_servers": broker.address}, pace=pace, limits=replace(SMALL, brokers=3_000))
        assert OWN_TURN.get() is None
        await wire.send(MetadataRequest(topics=[]))
        assert OWN_TURN.get() is pace.turn
        with pace.turn:  # a large answer is not decoded, then
            waits = asyncio.ensure_future(wire.send(MetadataRequest(topics=[])))
            done, _ = await asyncio.wait([waits], timeout=0.2)
            assert not done
            assert ONE_AT_A_TIME.acquire(blocking=False), "and others do not wait for it"
            ONE_AT_A_TIME.release()
        assert len((await waits).brokers) == 2_999
        await wire.close()


async def test_an_answer_that_is_slowed_down_here_is_no_silence() -> None:
    slow: Any = SimpleNamespace(wait_s=lambda _: 0.2, turn=Lock(), connects_in_s=lambda _: 0.0)
    with lying_broker(Lie.BROKERS, 0) as broker:
        wire = KafkaWire({"bootstrap_servers": broker.address}, timeout_s=0.3, pace=slow)
        with pytest.raises(KafkaUnreachable, match=r"more than is read in time: .* are read at 2 MB a second") as told:
            await wire.send(MetadataRequest(topics=[]))
        await wire.close()
    assert told.value.reason is Reason.ANSWER_TOO_LONG


async def test_whoever_runs_the_operator_may_have_it_look() -> None:
    view = await looked(Lie.MEMBERS, USUAL)
    assert isinstance(view, GroupObservation)
    assert len(view.members) == 1_000
