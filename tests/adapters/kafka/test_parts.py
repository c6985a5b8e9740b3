"""What is too long for one answer is asked for in parts, and takes nothing else out of sight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from slackwater.adapters.kafka import parts as parts_module
from slackwater.adapters.kafka.errors import AnswerTooLong, Failure, KafkaUnreachable
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.parts import Parts, group_parts
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import GroupObservation, KafkaView
from tests.adapters.kafka.fake_cluster import CLASSIC, CONSUMER, FakeCluster, FakeGroup

WHY = "Kafka broker 1 answers with more bytes than are read of one answer"


class Broker:
    """Answers as long as what it is asked for comes to `limit` at most; each thing has its size."""

    def __init__(self, sizes: Mapping[str, int], limit: int = 10) -> None:
        self.sizes, self.limit = sizes, limit
        self.asked: list[list[str]] = []

    async def ask(self, names: list[str]) -> dict[str, int]:
        self.asked.append(names)
        if sum(self.sizes[name] for name in names) > self.limit:
            raise AnswerTooLong(WHY)
        return {name: self.sizes[name] for name in names}


def merged(answers: list[dict[str, int]]) -> dict[str, int]:
    return {name: size for answer in answers for name, size in answer.items()}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    now = [1_000.0]
    monkeypatch.setattr(parts_module, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def forward(seconds: float) -> None:
        now[0] += seconds

    return forward


async def test_what_fits_is_one_request_and_nothing_is_none() -> None:
    broker, parts = Broker(dict.fromkeys("dcba", 2)), group_parts()
    assert await parts.ask(["d", "c", "b", "a"], broker.ask) == ([dict.fromkeys("abcd", 2)], {})
    assert await parts.ask([], broker.ask) == ([], {})
    assert broker.asked == [["a", "b", "c", "d"]]


async def test_many_that_are_too_long_together_come_in_parts_and_from_then_on_at_once_in_those(
    clock: Callable[[float], None],
) -> None:
    names = [f"{each:02}" for each in range(40)]
    broker, parts = Broker(dict.fromkeys(names, 1)), group_parts()
    answers, failures = await parts.ask(names, broker.ask)
    assert merged(answers) == dict.fromkeys(names, 1)
    assert failures == {}
    broker.asked.clear()
    answers, _ = await parts.ask(names, broker.ask)
    assert merged(answers) == dict.fromkeys(names, 1)
    assert [len(asked) for asked in broker.asked] == [10] * 4, "each that is too long ends the connection"
    broker.limit = 100
    clock(parts_module.TOO_LONG_AGAIN_S)
    broker.asked.clear()
    await parts.ask(names, broker.ask)
    assert [len(asked) for asked in broker.asked] == [40]


async def test_one_that_is_too_long_alone_is_named_and_the_others_still_come_together(
    clock: Callable[[float], None],
) -> None:
    broker = Broker({**dict.fromkeys("abcdefgh", 1), "huge": 11})
    parts = Parts[str]("topic {}".format)
    for _ in range(2):
        answers, failures = await parts.ask([*"abcdefgh", "huge"], broker.ask)
        assert merged(answers) == dict.fromkeys("abcdefgh", 1)
        assert failures == {"huge": Failure(Reason.ANSWER_TOO_LONG, f"topic huge: {WHY}")}
    assert broker.asked[-1] == list("abcdefgh")
    clock(parts_module.TOO_LONG_AGAIN_S)
    broker.limit = 100
    answers, failures = await parts.ask([*"abcdefgh", "huge"], broker.ask)
    assert merged(answers)["huge"] == 11
    assert failures == {}


async def test_a_broker_that_takes_its_time_for_each_that_is_too_long_is_not_asked_for_ever(
    clock: Callable[[float], None],
) -> None:
    names = [f"{each:03}" for each in range(600)]
    broker, parts = Broker(dict.fromkeys(names, 11)), group_parts()

    async def slowly(some: list[str]) -> dict[str, int]:
        clock(1.9)
        return await broker.ask(some)

    answers, failures = await parts.ask(names, slowly)
    assert answers == []
    assert failures.keys() == set(names)
    assert len(broker.asked) <= parts_module.PATIENCE_S / 1.9 + 1
    late = [each for each in failures.values() if each.reason is Reason.OBSERVATION_INCOMPLETE]
    assert len(late) > 500
    broker.limit = 10_000
    assert merged((await parts.ask(names, broker.ask))[0]).keys() >= {names[-1]}, "they are asked for again"


async def test_every_other_failure_is_the_askers_own() -> None:
    async def silent(_: list[str]) -> None:
        raise KafkaUnreachable("Kafka broker 1 does not answer")

    with pytest.raises(KafkaUnreachable):
        await group_parts().ask(["a"], silent)


LENGTHS: Mapping[str, Callable[[Any], int]] = {
    "Metadata": lambda request: len(request.topics),
    "FindCoordinator": lambda request: len(request.coordinator_keys),
    "OffsetFetch": lambda request: len(request.groups),
    "DescribeGroups": lambda request: len(request.groups),
    "ConsumerGroupDescribe": lambda request: len(request.group_ids),
    "DescribeConfigs": lambda request: len(request.resources),
    "ListOffsets": lambda request: sum(len(topic.partitions) for topic in request.topics),
}


@pytest.mark.parametrize("name", LENGTHS)
async def test_a_pass_sees_every_group_whichever_answer_is_too_long_for_all(name: str) -> None:
    """One request of a pass after the other."""
    groups = {f"group-{each}": FakeGroup(CLASSIC if each % 2 else CONSUMER) for each in range(10)}
    cluster = FakeCluster(groups, topics={f"topic-{each}": 1 for each in range(10)})
    reader = KafkaGroupReader(cast("KafkaWire", cluster))
    topics = {group_id: frozenset({f"topic-{each}"}) for each, group_id in enumerate(groups)}
    await reader.observe(topics, groups)
    usual = await reader.observe(topics, groups)  # every group's type is known
    refused = 0

    def narrow(asked: str) -> None:
        nonlocal refused
        if asked == name and LENGTHS[name](cluster.asked[-1][2]) > 2:
            refused += 1
            raise AnswerTooLong(WHY)

    reader._coordinators.forget(groups)
    cluster.before = narrow
    views = await reader.observe(topics, groups)
    assert refused > 0
    assert {group: _timeless(view) for group, view in views.items()} == {
        group: _timeless(view) for group, view in usual.items()
    }


def _timeless(view: KafkaView) -> GroupObservation:
    assert isinstance(view, GroupObservation)
    return replace(view, observed_at=0.0, answered_at=0.0)


async def test_what_turned_out_to_be_too_much_is_not_asked_for_soon_again(clock: Callable[[float], None]) -> None:
    asked: list[list[str]] = []

    async def ask(names: list[str]) -> dict[str, int | Failure]:
        asked.append(names)
        return {name: Failure(Reason.ANSWER_TOO_LONG, "so many") if name == "b" else 1 for name in names}

    parts = group_parts()
    first = await parts.ask_each(["a", "b"], ask)
    assert first == await parts.ask_each(["a", "b"], ask) == {"a": 1, "b": Failure(Reason.ANSWER_TOO_LONG, "so many")}
    clock(parts_module.TOO_LONG_AGAIN_S + 1)
    await parts.ask_each(["a", "b"], ask)
    assert asked == [["a", "b"], ["a"], ["a", "b"]]
