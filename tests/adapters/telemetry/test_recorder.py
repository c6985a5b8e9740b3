"""The buffer between the operator and its sink: recording never waits, and what is lost is counted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from slackwater.adapters.telemetry.recorder import BATCH, Dropped, Recorder
from slackwater.api.telemetry.events import write_line
from tests.adapters.telemetry.events import FakeSink, event, events, ids

AT_ONCE = (0.0,)


@asynccontextmanager
async def running(recorder: Recorder) -> AsyncIterator[None]:
    task = asyncio.create_task(recorder.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - the parts under test tell nobody
            await asyncio.sleep(0)


async def test_what_is_recorded_is_written_in_order() -> None:
    sink = FakeSink()
    recorder = Recorder(sink)
    async with running(recorder):
        recorder.record(events(3 * BATCH + 1))
        await until(lambda: len(sink.taken) == 3 * BATCH + 1)
    assert ids(sink.taken) == [f"event-{n}" for n in range(3 * BATCH + 1)]
    assert recorder.recorded == {"gate_held": 3 * BATCH + 1}
    assert recorder.dropped.total() == 0


async def test_a_sink_that_does_not_answer_delays_nobody_and_what_does_not_fit_is_counted() -> None:
    sink = FakeSink()
    sink.open.clear()
    recorder = Recorder(sink, capacity=10)
    async with running(recorder):
        recorder.record(events(1))
        await until(lambda: recorder.waiting == 1 and not recorder._waiting)
        recorder.record(events(50))  # returns, though nobody takes anything
        assert recorder.waiting == 10
        assert recorder.dropped == {Dropped.BUFFER_FULL: 41}
        sink.open.set()
        await until(lambda: len(sink.taken) == 10)
        recorder.record([event(99)])
        await until(lambda: len(sink.taken) == 11)


async def test_what_waits_has_a_size_as_well_as_a_number() -> None:
    """What brokers say may stand in an event, and is as long as they like."""
    sink = FakeSink()
    sink.open.clear()
    size = len(write_line(event(0)))
    recorder = Recorder(sink, largest=4 * size)
    async with running(recorder):
        recorder.record(events(1))
        await until(lambda: recorder.waiting == 1 and not recorder._waiting)
        recorder.record(events(9))
        assert recorder.dropped == {Dropped.BUFFER_FULL: 5}, "what is in hand does not count"
        sink.open.set()
        await until(lambda: len(sink.taken) == 5)
        recorder.record(events(4))
        await until(lambda: len(sink.taken) == 9)
    assert recorder.dropped.total() == 5


async def test_what_a_sink_did_not_take_is_tried_again_in_order() -> None:
    sink = FakeSink(failures=["away", "away", "full"], takes=2)
    recorder = Recorder(sink, again_s=AT_ONCE)
    async with running(recorder):
        recorder.record(events(10))
        await until(lambda: len(sink.taken) == 10)
    assert ids(sink.taken) == [f"event-{n}" for n in range(10)]


async def test_the_same_problem_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    sink = FakeSink(failures=["away"] * 5)
    recorder = Recorder(sink, again_s=AT_ONCE)
    async with running(recorder):
        recorder.record(events(1))
        await until(lambda: len(sink.taken) == 1)
    said = capsys.readouterr().out
    assert said.count("telemetry_not_written") == 1
    assert said.count("telemetry_written_again") == 1


async def test_what_can_never_be_written_holds_nothing_up() -> None:
    sink = FakeSink(refuses=frozenset({"event-1"}))
    recorder = Recorder(sink)
    async with running(recorder):
        recorder.record(events(3))
        await until(lambda: len(sink.taken) == 2)
    assert recorder.dropped == {Dropped.REFUSED: 1}


async def test_a_bug_in_a_sink_costs_what_it_broke_at_and_no_more() -> None:
    sink = FakeSink(bugs=1)
    recorder = Recorder(sink)
    async with running(recorder):
        recorder.record(events(2 * BATCH))
        await until(lambda: len(sink.taken) == BATCH)
    assert recorder.dropped == Counter({Dropped.FAILED: BATCH})


async def test_at_the_end_what_is_left_is_written() -> None:
    sink = FakeSink()
    recorder = Recorder(sink)
    recorder.record(events(BATCH + 1))
    await recorder.close(within_s=10)
    assert len(sink.taken) == BATCH + 1
    assert sink.closed


@pytest.mark.parametrize("failures", [[], ["away"]])
async def test_the_end_does_not_wait_for_a_sink_that_is_away(failures: list[str]) -> None:
    sink = FakeSink(failures=failures)
    if not failures:
        sink.open.clear()
    recorder = Recorder(sink)
    recorder.record(events(7))
    await recorder.close(within_s=0.05)
    assert recorder.dropped == {Dropped.ENDING: 7}


async def test_what_was_in_hand_when_the_writing_was_cancelled_is_not_lost() -> None:
    sink = FakeSink()
    sink.open.clear()
    recorder = Recorder(sink)
    async with running(recorder):
        recorder.record(events(3))
        await until(lambda: not recorder._waiting)
    sink.open.set()
    await recorder.close(within_s=10)
    assert ids(sink.taken) == ["event-0", "event-1", "event-2"]
