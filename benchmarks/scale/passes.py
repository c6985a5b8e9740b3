"""What a group at rest costs while nothing changes, alone and beside others on its connection: passes that find nothing
to do, and looks at it in Kafka.

All are measured in turn, round by round, so that whatever else runs on the machine slows down all of them.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Final

from benchmarks.scale.around import Around
from benchmarks.scale.recorded import NAMESPACE, NotAtRest, Recorded, name_of
from slackwater.adapters.cluster.paths import KAFKA_CONNECTION
from slackwater.shell.store import Key

ROUNDS: Final = 5
ROUND_S: Final = 0.4
"""Of one core."""
_AT_A_TIME: Final = 20
_MINE: Final = Key(NAMESPACE, name_of(0))


@dataclass(frozen=True, slots=True)
class Rates:
    """Per second of one core."""

    passes: int
    looks: int
    """The answers are there at once: what remains is the observer's own."""


async def rates_beside(recorded: Recorded, neighbours: Sequence[int]) -> dict[int, Rates]:
    """By number of neighbours; the medians of some rounds. Raises NotAtRest."""
    passes: dict[int, list[float]] = {number: [] for number in neighbours}
    looks: dict[int, list[float]] = {number: [] for number in neighbours}
    arounds = {number: await at_rest(recorded, number) for number in neighbours}
    gc.collect()
    gc.freeze()
    try:
        for _ in range(ROUNDS):
            for number, around in arounds.items():
                looks[number].append(await _round(around, partial(around.connections.look_now, _MINE)))
                passes[number].append(await passes_a_cpu_second(around))
    finally:
        gc.unfreeze()
        for around in arounds.values():
            await around.close()
    return {each: Rates(round(median(passes[each])), round(median(looks[each]))) for each in neighbours}


async def passes_a_cpu_second(around: Around) -> float:
    """One round. Raises NotAtRest."""
    return await _round(around, partial(around.pass_over, _MINE))


async def at_rest(recorded: Recorded, neighbours: int) -> Around:
    """One group at rest, beside so many others of its connection."""
    around = Around(recorded.pods)
    around.reader.there = True
    around.put(KAFKA_CONNECTION, recorded.connection)
    await around.settle(around.fill(recorded, [0]))
    await around.add_neighbours(recorded, neighbours)
    await around.settle([_MINE])
    return around


async def _round(around: Around, once: Callable[[], Awaitable[object]]) -> float:
    around.api.asked.clear()
    number, began = 0, time.process_time()
    while (spent_s := time.process_time() - began) < ROUND_S:
        for _ in range(_AT_A_TIME):
            await once()
        number += _AT_A_TIME
    if around.api.asked:
        raise NotAtRest(f"a group at rest is written: {around.api.asked[:5]}")
    return number / spent_s
