"""The event loop's own heartbeat."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress

from slackwater.shell.heartbeat import BEAT_S, beat
from slackwater.shell.metrics import Metrics


class Ended(Exception):
    """The test has seen enough."""


async def test_it_tells_how_much_later_each_turn_came() -> None:
    moments: Iterator[float] = iter((0.0, BEAT_S, 1.0, 1.0 + BEAT_S + 0.4, 2.0, 2.0 + BEAT_S / 2))
    told: list[float] = []

    def clock() -> float:
        moment = next(moments, None)
        if moment is None:
            raise Ended
        return moment

    async def sleep(_: float) -> None: ...

    with suppress(Ended):
        await beat(told.append, clock, sleep)
    assert [round(each, 6) for each in told] == [0.0, 0.4, 0.0]


async def test_what_computes_in_the_loop_shows() -> None:
    told: list[float] = []
    heart = asyncio.create_task(beat(told.append))
    await asyncio.sleep(0)
    end = asyncio.get_running_loop().time() + 3 * BEAT_S
    while asyncio.get_running_loop().time() < end:
        pass
    while not told:  # noqa: ASYNC110 - the beat is what is waited for
        await asyncio.sleep(0)
    heart.cancel()
    assert told[0] >= BEAT_S


def test_the_longest_is_kept() -> None:
    metrics = Metrics()
    for stall_s in (0.01, 0.3, 0.02):
        metrics.stood_still(stall_s)
    text = metrics.text().decode()
    assert "slackwater_event_loop_longest_stall_seconds 0.3" in text
    assert 'slackwater_event_loop_stall_seconds_bucket{le="0.25"} 2.0' in text
