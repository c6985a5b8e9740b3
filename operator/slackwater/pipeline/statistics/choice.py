"""The cheapest timeout that is allowed, how surely it beats today's, and from where to where it hardly matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.constraint import Allowed
from slackwater.pipeline.statistics.minimum import minimiser
from slackwater.pipeline.statistics.model import TAILS, GroupModel
from slackwater.pipeline.statistics.survival import CONFIDENCE

WORTH_A_CHANGE: Final = 0.02
"""Of today's cost: a membership that saves less is not worth the trouble."""
NOTICEABLE: Final = 0.005
"""Of today's cost: a timeout that saves less is the same."""
HARM: Final = 1.02
"""Times today's cost, from which on a change has done harm."""
SURE_ENOUGH: Final = 0.8
"""The share of replicates in which a change has to do no harm. What is expected to pay and may do a little harm is
worth it: at 95 % a tenth of what a fleet could save was left lying, and no more changes turned out well (decision 25).
"""
FEW_RESTARTS: Final = 60.0
"""Independent ones below which a change has to be as sure as `CONFIDENCE`: who is looked at every week has many chances
to be wrong while little is known, and can wait."""
MONTHS_TO_PAY: Final = 12.0
"""What a change costs once has to come back within."""
_GRID_POINTS: Final = 120


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate and its two-sided 95 % interval."""

    lower: float
    value: float
    upper: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Of a timeout with today's."""

    saving: Estimate
    """In partition-seconds a month."""
    today_cost: float
    harmless: float
    """The share of replicates in which it does no harm."""
    change_cost: float = 0.0
    """What the change itself costs, in partition-seconds a month, for `MONTHS_TO_PAY`."""
    sure: float = SURE_ENOUGH
    """The share of replicates in which it has to do no harm."""

    @property
    def is_shown_better(self) -> bool:
        """It is expected to save more than the change costs, and it is shown to do no harm."""
        needed = NOTICEABLE * self.today_cost + self.change_cost
        return self.harmless >= self.sure and self.saving.value >= needed


@dataclass(frozen=True, slots=True)
class Choice:
    target_s: float
    lower_s: float
    """From here …"""
    upper_s: float
    """… to here the target is not shown to be cheaper with 95 % confidence."""
    against_today: Comparison


def cheapest(model: GroupModel, allowed: Allowed) -> float:
    """The timeout that costs least by the estimate, in whole seconds where that is allowed."""
    low_s, high_s = allowed.low.timeout_s, allowed.high.timeout_s
    curve = model.estimate
    exact_s = minimiser(model.estimated_cost, curve.at_s, curve.threshold_s, low_s, high_s, curve.smooth_from_s)
    return in_whole_seconds(exact_s, low_s, high_s)


def choose(model: GroupModel, allowed: Allowed, today_s: float, restarting: int = 0, *, broken: bool = False) -> Choice:
    """`allowed` must not be empty. `restarting`: members that have to restart for another timeout; none do under
    KIP-848 (F23). `broken`: today's timeout was chosen for restarts that are no more, and has nothing for it."""
    low_s, high_s = allowed.low.timeout_s, allowed.high.timeout_s
    target_s = cheapest(model, allowed)
    grid_s = np.unique(np.append(np.geomspace(low_s, high_s, _GRID_POINTS), target_s))
    grid_s = grid_s[(grid_s >= low_s) & (grid_s <= high_s)]
    cost = model.cost(np.append(grid_s, (target_s, today_s)))
    target, today = cost[:, -2], cost[:, -1]
    lower_s, upper_s = _undecided(grid_s, cost[1:, :-2], target[1:], target_s)
    change_cost = restarting * model.cost_of_a_restart(today_s) / MONTHS_TO_PAY
    sure = SURE_ENOUGH if broken else sureness(model.silences.independent)
    return Choice(target_s, lower_s, upper_s, comparison(target, today, change_cost, sure))


def sureness(independent: float) -> float:
    """How sure a change has to be after so many independent restarts."""
    return CONFIDENCE if independent < FEW_RESTARTS else SURE_ENOUGH


def comparison(target: Floats, today: Floats, change_cost: float = 0.0, sure: float = SURE_ENOUGH) -> Comparison:
    """Of two columns of costs, rows as in `GroupModel.cost`."""
    harmless = float((target <= HARM * today)[1:].mean())
    return Comparison(estimate_of(today - target), float(today[0]), harmless, change_cost, sure)


def estimate_of(rows: Floats) -> Estimate:
    """Of rows whose first is the estimate and whose others are replicates."""
    value = float(rows[0])
    lower, upper = (float(bound) for bound in np.quantile(rows[1:], TAILS))
    return Estimate(min(lower, value), value, max(upper, value))


def in_whole_seconds(timeout_s: float, low_s: float, high_s: float) -> float:
    """Rounded up, for people to read, where that is allowed: a silence just as long stays inside."""
    rounded_s = float(np.ceil(timeout_s - 1e-9))
    return rounded_s if low_s <= rounded_s <= high_s else timeout_s


def _undecided(grid_s: Floats, cost: Floats, target: Floats, target_s: float) -> tuple[float, float]:
    """The unbroken stretch around the target in which no timeout is shown to be worse than it."""
    undecided = (target[:, None] < cost).mean(axis=0) < CONFIDENCE
    at = int(np.searchsorted(grid_s, target_s))
    decided = np.flatnonzero(~undecided)
    below, above = decided[decided < at], decided[decided > at]
    first = below[-1] + 1 if len(below) else 0
    last = above[0] - 1 if len(above) else len(grid_s) - 1
    return float(grid_s[first]), float(grid_s[last])
