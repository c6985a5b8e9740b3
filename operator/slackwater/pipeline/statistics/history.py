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

from slackwater.pipeline.statistics.arrays import Bools, Floats, Indices

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
    polls: PollWindows | PollCounts = field(default_factory=PollWindows)
    times: Floats | None = None
    """How many restarts each entry stands for, where they were counted before they came here. None: one each."""
    batch: Floats | None = None
    """Which restarts came together, such as those of one rollout: the day on which that began, counted from the end of
    what was watched (0, -1, -2, …); NaN where nobody knows. They say less than as many that have nothing to do with
    each other. None: none came together."""

    def __post_init__(self) -> None:
        described = (self.silence_s, self.returned, self.planned, self.times, self.batch)
        if len({len(each) for each in described if each is not None}) > 1:
            raise ValueError(
                "silence_s, returned, planned, times and batch describe the same restarts: give them the same length"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Batches:
    """Which silences came together: one entry for each length in each batch, arrays of equal length."""

    point: Indices
    """Index of the length in `Silences.at_s`."""
    batch: Indices
    """Numbers from 0, in the order of time."""
    returned: Floats
    censored: Floats

    @property
    def sizes(self) -> Floats:
        return np.bincount(self.batch, weights=self.returned + self.censored).astype(np.float64)

    def table(self, which: Floats, points: int) -> Floats:
        """Batches by lengths, of `returned` or `censored`."""
        rows = int(self.batch.max()) + 1 if len(self.batch) else 0
        flat = np.bincount(self.batch * points + self.point, weights=which, minlength=rows * points)
        return np.asarray(flat.reshape(rows, points), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Silences:
    """Silences as distinct lengths in ascending order, with how many members (or what weight of them) had each."""

    at_s: Floats
    returned: Floats
    censored: Floats
    batches: Batches | None = None
    """None: each restart stands for itself."""

    @property
    def count(self) -> float:
        return float(self.returned.sum() + self.censored.sum())

    @property
    def independent(self) -> float:
        """As many restarts that have nothing to do with each other as the batches are worth (Kish's effective size)."""
        if self.batches is None:
            return self.count
        sizes = self.batches.sizes
        return float(sizes.sum() ** 2 / (sizes**2).sum()) if sizes.any() else 0.0


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
        silences=silences_of(
            silence_s[kept], returned[kept], times[kept], None if history.batch is None else history.batch[kept]
        ),
        lost=int(times[possible & ~kept].sum()),
        impossible=int(times[~possible].sum()),
        planned_share=planned,
    )


def silences_of(
    silence_s: Floats, returned: Bools, times: Floats | None = None, batch: Floats | None = None
) -> Silences:
    """Count equal silences; many different ones are rounded up to a grid of 0.5 % (`MOST_POINTS`).

    `times`: how many restarts each entry stands for; None: one. `batch`: as in `Absences`.
    """
    at_s, where = np.unique(silence_s, return_inverse=True)
    if len(at_s) > MOST_POINTS:
        step, where = np.unique(steps_of(silence_s, GRID_FROM_S), return_inverse=True)
        at_s = lengths_of(step, GRID_FROM_S)
    weights = np.ones(len(silence_s)) if times is None else times
    came, stayed_away = (
        np.bincount(where[which], weights[which], minlength=len(at_s)).astype(np.float64)
        for which in (returned, ~returned)
    )
    batches = None if batch is None else _batches_of(where, returned, weights, batch)
    return Silences(at_s, came, stayed_away, batches)


def _batches_of(point: Indices, returned: Bools, weights: Floats, batch: Floats) -> Batches:
    """Those of no known batch are batches of their own, before all others."""
    known = np.isfinite(batch)
    _, number = np.unique(batch[known], return_inverse=True)
    numbers = np.empty(len(batch), dtype=np.int64)
    alone = int((~known).sum())
    numbers[~known] = np.arange(alone)
    numbers[known] = alone + number
    return Batches(point, numbers, np.where(returned, weights, 0.0), np.where(returned, 0.0, weights))


def steps_of(values: Floats, from_value: float) -> Floats:
    """Where positive values are on a grid that begins at `from_value`: the step at or just above each."""
    return np.asarray(np.ceil(np.log(np.maximum(values, from_value) / from_value) / LOG_STEP - ON_THE_GRID))


def lengths_of(steps: Floats, from_value: float) -> Floats:
    """The values of that grid's steps."""
    return np.asarray(from_value * np.exp(steps * LOG_STEP))
