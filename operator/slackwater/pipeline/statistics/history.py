"""What a group's members did: the input of the statistics, checked, and compressed to a bounded number of points.

A *silence* lasts from the last moment a member was known to work until it was back in its group. A member that is still
away, or was scaled away, has not been silent for longer than we watched: its silence is right-censored. Being scaled
away is a competing end, but it is decided without looking at the restart, so that it says nothing about how much longer
the member would have needed: it is censored at that moment as well. Warm handovers are no silences (F37).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from slackwater.pipeline.statistics.arrays import Bools, Floats

DAYS_A_MONTH: Final = 30.0
MOST_POINTS: Final = 2_000
"""Distinct silences beyond which they are put on a logarithmic grid."""
GRID_FROM_S: Final = 0.1
LOG_STEP: Final = 0.005
"""Of the grid: a silence is at most 0.5 % longer on it than it was, so every cost on it is at most 0.5 % too high."""
ON_THE_GRID: Final = 1e-6
"""Of a step: what is on the grid already stays where it is, whatever the last digit of its logarithm."""


def no_floats() -> Floats:
    return np.empty(0)


@dataclass(frozen=True, slots=True, eq=False)
class PollWindows:
    """One row for each window of each member, arrays of equal length; NaN where a client does not tell."""

    window_s: Floats = field(default_factory=no_floats)
    longest_ms: Floats = field(default_factory=no_floats)
    """The longest time between two polls."""
    records: Floats = field(default_factory=no_floats)
    """Records a poll, on average over the window."""


@dataclass(frozen=True, slots=True, eq=False)
class PollCounts:
    """Windows as counted values: what a history of any length is compressed to before it comes here."""

    longest_ms: Floats = field(default_factory=no_floats)
    windows: Floats = field(default_factory=no_floats)
    """How many windows had each of `longest_ms`; same length."""
    record_ms: Floats = field(default_factory=no_floats)
    """A window's longest time between two polls over the records of its average poll, where it had any."""
    record_windows: Floats = field(default_factory=no_floats)
    """How many windows had each of `record_ms`; same length."""


@dataclass(frozen=True, slots=True, eq=False)
class Absences:
    """One group's restarts, arrays of equal length and in any order, over `observed_days` ending now."""

    silence_s: Floats
    """How long each restarted member was away: until it was back, was scaled away, or now."""
    returned: Bools
    """False where it was not seen to return: the silence is censored."""
    observed_days: float
    planned: Bools | None = None
    """True where a rollout restarted the member: what a warm handover would have avoided. None: not known, so none."""
    longest_live_gap_s: float | None = None
    """The longest time between two heartbeats of a member that lived; None where nobody measured it."""
    polls: PollWindows | PollCounts = field(default_factory=PollWindows)
    times: Floats | None = None
    """How many restarts each entry stands for, where they were counted before they came here. None: one each."""

    def __post_init__(self) -> None:
        described = (self.silence_s, self.returned, self.planned, self.times)
        if len({len(each) for each in described if each is not None}) > 1:
            raise ValueError(
                "silence_s, returned, planned and times describe the same restarts: give them the same length"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Silences:
    """Silences as distinct lengths in ascending order, with how many members (or what weight of them) had each."""

    at_s: Floats
    returned: Floats
    censored: Floats

    @property
    def count(self) -> float:
        return float(self.returned.sum() + self.censored.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Restarts:
    """A history put in order for one highest session timeout."""

    silences: Silences
    """Those that some timeout could have waited for."""
    lost: int
    """Members away for longer than the highest timeout: evicted whatever one chooses, so they are crashes without
    return to this decision, whether they came back in the end or not."""
    impossible: int
    """Rows left out because their silence is negative or no number."""
    planned_share: float


def restarts_of(history: Absences, longest_timeout_s: float) -> Restarts:
    """Put a history in order; linear in the number of restarts but for one sort."""
    silence_s = np.asarray(history.silence_s, dtype=np.float64)
    returned = np.asarray(history.returned, dtype=np.bool_)
    times = np.ones(len(silence_s)) if history.times is None else np.asarray(history.times, dtype=np.float64)
    possible = np.isfinite(silence_s) & (silence_s >= 0)
    kept = possible & (silence_s <= longest_timeout_s)
    seen = float(times[kept].sum())
    planned = float(times[kept & history.planned].sum()) / seen if history.planned is not None and seen else 0.0
    return Restarts(
        silences=silences_of(silence_s[kept], returned[kept], times[kept]),
        lost=int(times[possible & ~kept].sum()),
        impossible=int(times[~possible].sum()),
        planned_share=planned,
    )


def silences_of(silence_s: Floats, returned: Bools, times: Floats | None = None) -> Silences:
    """Count equal silences; many different ones are rounded up to a grid of 0.5 % (`MOST_POINTS`).

    `times`: how many restarts each entry stands for; None: one.
    """
    at_s, where = np.unique(silence_s, return_inverse=True)
    if len(at_s) > MOST_POINTS:
        step, where = np.unique(steps_of(silence_s, GRID_FROM_S), return_inverse=True)
        at_s = lengths_of(step, GRID_FROM_S)
    weights = np.ones(len(silence_s)) if times is None else times
    counts = [
        np.bincount(where[which], weights[which], minlength=len(at_s)).astype(np.float64)
        for which in (returned, ~returned)
    ]
    return Silences(at_s, *counts)


def steps_of(values: Floats, from_value: float) -> Floats:
    """Where positive values are on a grid that begins at `from_value`: the step at or just above each."""
    return np.asarray(np.ceil(np.log(np.maximum(values, from_value) / from_value) / LOG_STEP - ON_THE_GRID))


def lengths_of(steps: Floats, from_value: float) -> Floats:
    """The values of that grid's steps."""
    return np.asarray(from_value * np.exp(steps * LOG_STEP))
