"""Scales: from a value to a place between 0 and 1, and the ticks that a reader wants there. Pure.

A value outside the domain goes to its nearer end, so that no path leaves its plot.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from slackwater.pipeline.report.quantities import clock_text, compact_text, day_text, duration_text, share_text

MOST_TICKS: Final = 6
DURATIONS_S: Final = (
    0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 60, 180, 600, 1_800, 3_600, 10_800, 21_600, 43_200,
    86_400, 259_200, 864_000, 2_592_000, 7_776_000, 31_536_000,
)  # fmt: skip
TIME_STEPS_S: Final = (
    1, 5, 15, 60, 300, 900, 3_600, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600, 2_592_000,
    7_776_000, 31_536_000,
)  # fmt: skip
MINUTE_S: Final = 60
DAY_S: Final = 86_400
MONTHS_OF_ONE_YEAR_S: Final = 330 * DAY_S
"""Beyond it, the same day may come twice."""


@dataclass(frozen=True, slots=True)
class Tick:
    """`place` is in 0..1."""

    place: float
    label: str


class Scale(Protocol):
    def place(self, value: float) -> float: ...

    def ticks(self) -> tuple[Tick, ...]: ...


@dataclass(frozen=True, slots=True)
class Linear:
    """From zero, which every quantity of ours has, to `high` or a little more."""

    high: float

    def place(self, value: float) -> float:
        return _within(value / self.high)

    def ticks(self) -> tuple[Tick, ...]:
        step = nice_step(self.high, 4)
        count = math.floor(self.high / step + 1e-9)
        return tuple(Tick(self.place(step * index), compact_text(step * index)) for index in range(count + 1))


@dataclass(frozen=True, slots=True)
class Share:
    """From nothing to everything."""

    def place(self, value: float) -> float:
        return _within(value)

    def ticks(self) -> tuple[Tick, ...]:
        return tuple(Tick(share, share_text(share)) for share in (0.0, 0.25, 0.5, 0.75, 1.0))


@dataclass(frozen=True, slots=True)
class Durations:
    """Logarithmic seconds: restarts take a second or an hour, and both matter."""

    low_s: float
    high_s: float

    def place(self, value: float) -> float:
        if value <= self.low_s:
            return 0.0
        return _within(math.log(value / self.low_s) / math.log(self.high_s / self.low_s))

    def ticks(self) -> tuple[Tick, ...]:
        inside = [duration for duration in DURATIONS_S if self.low_s <= duration <= self.high_s]
        kept = inside[:: math.ceil(len(inside) / MOST_TICKS) or 1]
        return tuple(Tick(self.place(duration), duration_text(duration)) for duration in kept)


@dataclass(frozen=True, slots=True)
class Moments:
    """Unix seconds, ticks at whole days or hours of UTC."""

    first_s: float
    last_s: float

    def place(self, value: float) -> float:
        return _within((value - self.first_s) / (self.last_s - self.first_s))

    def ticks(self) -> tuple[Tick, ...]:
        span_s = self.last_s - self.first_s
        step = next((step for step in TIME_STEPS_S if span_s / step < MOST_TICKS), 10 * TIME_STEPS_S[-1])
        first = math.ceil(self.first_s / step)
        last = math.floor(self.last_s / step)
        moments = [index * step for index in range(first, last + 1)]
        return tuple(Tick(self.place(at), self._label(at, step)) for at in moments)

    def _label(self, at_s: float, step_s: int) -> str:
        if step_s >= DAY_S:
            return day_text(at_s, year=self.last_s - self.first_s > MONTHS_OF_ONE_YEAR_S)
        if step_s < MINUTE_S:
            return clock_text(at_s, seconds=True)
        if self.last_s - self.first_s < DAY_S:  # a whole day has one time of day twice
            return clock_text(at_s)
        return f"{day_text(at_s)} {clock_text(at_s)}"


def linear_to(values: Iterable[float]) -> Linear:
    """A linear scale that ends at a round number above all values."""
    top = max((value for value in values if math.isfinite(value)), default=0.0)
    if top <= 0:
        return Linear(1.0)
    step = nice_step(top, 4)
    return Linear(step * math.ceil(top / step - 1e-9))


def durations_over(values_s: Iterable[float]) -> Durations:
    """A scale that holds every positive duration among the values; a second to half an hour where there is none."""
    positive = [value for value in values_s if value > 0 and math.isfinite(value)]
    low, high = (min(positive), max(positive)) if positive else (1.0, 1_800.0)
    return Durations(low, high) if high >= 2 * low else Durations(low / 2, high * 2)


def moments_between(first_s: float, last_s: float) -> Moments:
    """A scale of at least a minute, also where everything happened at once."""
    return Moments(first_s, last_s) if last_s - first_s >= 60 else Moments(first_s - 30, last_s + 30)


def nice_step(span: float, count: int) -> float:
    """The 1, 2 or 5 times a power of ten that divides `span` into `count` parts or fewer, but for one."""
    rough = span / count
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)


def _within(place: float) -> float:
    return min(1.0, max(0.0, place))
