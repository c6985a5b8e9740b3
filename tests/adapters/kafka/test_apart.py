"""What takes long is worked out beside the event loop, and what does not, at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from threading import Lock
from types import SimpleNamespace

import pytest
from kafka.protocol.admin import DescribeGroupsResponse

from slackwater.adapters.aside import aside
from slackwater.adapters.kafka import apart as module
from slackwater.adapters.kafka.apart import MOST_AT_ONCE, ONE_AT_A_TIME, OWN_TURN, apart
from slackwater.adapters.kafka.descriptions import weight_of
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.world.observation import GroupObservation
from tests.adapters.kafka.lying_broker import Lie, lying_broker


@pytest.mark.parametrize(("weight", "here"), [(MOST_AT_ONCE, True), (MOST_AT_ONCE + 1, False)])
async def test_it_is_worked_out_where_it_holds_nobody_up(weight: int, here: bool) -> None:
    where = await apart(weight, threading.current_thread)
    assert (where is threading.current_thread()) is here


async def test_there_is_one_at_a_time() -> None:
    assert not await apart(MOST_AT_ONCE + 1, lambda: ONE_AT_A_TIME.acquire(blocking=False))
    assert ONE_AT_A_TIME.acquire(blocking=False)
    ONE_AT_A_TIME.release()


async def test_of_one_namespace_one_waits_and_others_do_not_wait_behind_it() -> None:
    busy, idle = Lock(), Lock()
    with busy:
        OWN_TURN.set(busy)
        waits = asyncio.ensure_future(apart(MOST_AT_ONCE + 1, lambda: 1))
        OWN_TURN.set(idle)
        assert await apart(MOST_AT_ONCE + 1, idle.locked)
        assert not waits.done()
    assert await waits == 1


async def test_what_it_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        await apart(MOST_AT_ONCE + 1, lambda: 1 // 0)


@pytest.mark.parametrize(
    ("lie", "size", "at_least"),
    [(Lie.PARTITIONS, 1_100 * 18, 9), (Lie.MEMBERS, 1_100 * 22, 1), (Lie.ASSIGNMENT, 1_100 * 4, 1)],
)
async def test_what_a_large_answer_means_is(
    lie: Lie, size: int, at_least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of partitions: the layout, what is wanted of it, both requests and both answers, and what comes of them."""
    beside: list[Callable[[], object]] = []

    async def seen(function: Callable[[], object], name: str) -> object:
        beside.append(function)
        return await aside(function, name)

    monkeypatch.setattr(module, "aside", seen)
    with lying_broker(lie, size) as broker:
        reader = KafkaGroupReader(KafkaWire({"bootstrap_servers": broker.address}))
        view = (await reader.observe({"payments": frozenset({"t"})}))["payments"]
        await reader.close()
    assert isinstance(view, GroupObservation)
    assert view.blind_to is None
    assert len(beside) >= at_least


def test_what_takes_long_to_read_weighs_as_much() -> None:
    """Many members, long assignments and long lists of topics, of either type."""
    member = DescribeGroupsResponse.DescribedGroup.DescribedGroupMember
    plain = {"member_id": "m", "client_id": "c", "client_host": "/h"}
    owns = member(**plain, member_assignment=bytes(2_000))
    asks = member(**plain, member_metadata=bytes(2_000))
    for many in ([member(**plain)] * 500, [owns], [asks], [owns, asks]):
        assert 500 <= weight_of(SimpleNamespace(groups=[SimpleNamespace(members=many)])) < 1_500
    target = SimpleNamespace(topic_partitions=[SimpleNamespace(topic_name="orders", partitions=range(500))])
    modern = SimpleNamespace(assignment=target, target_assignment=target)
    assert weight_of(SimpleNamespace(groups=[SimpleNamespace(members=[modern])])) == 1_001
