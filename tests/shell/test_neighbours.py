"""What a group costs while nothing changes does not depend on how many others there are. Counted, not timed."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from benchmarks.scale.around import Around, record
from benchmarks.scale.recorded import NAMESPACE, Recorded, name_of
from slackwater.adapters.cluster.paths import KAFKA_CONNECTION
from slackwater.adapters.kafka.connected import ConnectedKafka
from slackwater.shell.store import Key

FEW, MANY = 3, 300
KEY = Key(NAMESPACE, name_of(0))


class Walked(dict[Any, Any]):
    """Counts how often somebody goes through all of it; what the interpreter does in one instruction, too."""

    walks = 0

    def __iter__(self) -> Iterator[Any]:
        type(self).walks += 1
        return super().__iter__()

    def items(self) -> Any:
        type(self).walks += 1
        return super().items()

    def values(self) -> Any:
        type(self).walks += 1
        return super().values()

    def keys(self) -> Any:
        type(self).walks += 1
        return super().keys()


@asynccontextmanager
async def beside(recorded: Recorded, neighbours: int) -> AsyncIterator[Around]:
    async with Around(recorded.pods) as around:
        around.reader.there = True
        around.put(KAFKA_CONNECTION, recorded.connection)
        await around.settle(around.fill(recorded, [0]))
        await around.add_neighbours(recorded, neighbours)
        await around.settle([KEY])
        around.stopped_at = around.now()
        yield around


async def executed(once: Awaitable[object]) -> int:
    """How many of the interpreter's instructions it takes."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    gc.disable()
    sys.settrace(trace)
    try:
        await once
    finally:
        sys.settrace(before)
        gc.enable()
    return count


async def counted(around: Around) -> tuple[int, int]:
    """A look at the group, and a pass over it."""
    look = await executed(around.connections.look_now(KEY))
    return look, await executed(around.pass_over(KEY))


async def test_a_pass_and_a_look_take_as_much_beside_many_as_beside_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """At one moment: while neighbours are added the group gets older, and what is done depends on that."""
    recorded, began = await record(2), time.time()
    monkeypatch.setattr("benchmarks.scale.around.time", SimpleNamespace(time=lambda: began))
    async with beside(recorded, FEW) as few, beside(recorded, MANY) as many:
        for around in (few, many):
            await counted(around)  # what is done once
        for among_few, among_many in zip(await counted(few), await counted(many), strict=True):
            assert among_few > 0
            assert among_many - among_few < MANY - FEW, "less than one instruction for each of the others"


async def test_nothing_that_is_kept_of_all_groups_is_gone_through() -> None:
    recorded = await record(2)
    async with beside(recorded, FEW) as around:
        for owner, name in everything_kept(around):
            setattr(owner, name, Walked(getattr(owner, name)))
        Walked.walks = 0
        await around.connections.look_now(KEY)
        await around.pass_over(KEY)
        assert Walked.walks == 0


def everything_kept(around: Around) -> Iterator[tuple[object, str]]:
    """Where the shell and the observer keep something by group."""
    connections: Any = around.connections
    opened: list[Any] = [each.kafka for each in connections._open.values()]
    observers = [each._observer for each in opened if isinstance(each, ConnectedKafka)]
    assert observers
    reconciler: Any = around.reconciler
    parts = [connections, reconciler, reconciler._gathering, reconciler._sayings, *observers]
    for owner in parts:
        for name, value in vars(owner).items():
            if type(value) is dict and KEY in {*value} | {Key(*map(str, str(each).split("/")[:2])) for each in value}:
                yield owner, name
    for kind in list(around.store._objects):
        around.store._objects[kind] = Walked(around.store._objects[kind])
    yield around.metrics.groups, "_groups"
