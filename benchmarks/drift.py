"""Groups whose restarts change, and groups that are advised every week for a year and do as they are told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

import numpy as np

from benchmarks.recommended_fleet import BOUNDS, COOL, Case, case_of, other_shapes
from benchmarks.regret import BAD, FIRST_SEED, best_cost
from benchmarks.silences import (
    BIMODAL,
    LOST_A_MONTH,
    OTHERS,
    RESTARTS_A_MONTH,
    TIMEOUTS_S,
    YARDSTICK,
    Mixture,
)
from slackwater.api.recommendation import Recommendation, RecommendationStatus
from slackwater.api.timeouts import Objective
from slackwater.pipeline.statistics.history import DAYS_A_MONTH, Absences
from slackwater.pipeline.statistics.recommend import Known, recommend_group, seed_of
from slackwater.pipeline.statistics.settings import GroupSettings

YEAR_DAYS: Final = 360.0
AFTER_DAYS: Final = (14.0, 30.0, 60.0, 120.0)
DEAR_WARM_UP_S: Final = 100.0
WEEK_DAYS: Final = 7.0


def regret_after_change(groups: int, known: Known | None = None) -> dict[str, float]:
    """A slow kind of restart disappears after a year, and evictions are dear: mean regret so many days later."""
    return {
        f"{days:g} days": round(fmean(_changed(seed, days, known) for seed in range(groups)), 4) for days in AFTER_DAYS
    }


def _changed(seed: int, days: float, fleet: Known | None) -> float:
    """Regret of what the group has, which followed the advice of before the change."""
    rng = np.random.default_rng((FIRST_SEED, seed, 7))
    quick = Mixture("quick", ((1.0, BIMODAL.parts[0][1]),))
    before = int(rng.poisson(RESTARTS_A_MONTH * YEAR_DAYS / DAYS_A_MONTH))
    after = int(rng.poisson(RESTARTS_A_MONTH * days / DAYS_A_MONTH))
    lost = int(rng.poisson(LOST_A_MONTH * (YEAR_DAYS + days) / DAYS_A_MONTH))
    case = case_of(seed, BIMODAL, COOL)
    known = replace(case.known, members=6, partitions=30, rebalance_s=3.0, warm_up_s=DEAR_WARM_UP_S, warm_up_spread=0.0)
    silence_s = np.concatenate((BIMODAL.sample(before, rng), quick.sample(after, rng), np.full(lost, 86_400.0)))
    at = np.concatenate(
        (
            rng.uniform(-YEAR_DAYS - days, -days, before),
            rng.uniform(-days, 0, after),
            rng.uniform(-YEAR_DAYS - days, 0, lost),
        )
    )
    history = Absences(silence_s, silence_s < 86_400.0, YEAR_DAYS + days, batch=np.floor(at) + 1)
    old = _history_until(history, -days)
    was = _target_ms(_advice(old, known, fleet), known.session_timeout_ms)
    now = _target_ms(_advice(history, replace(known, session_timeout_ms=was), fleet), was)
    cost = quick.cost(known.costs, np.array([now / 1000]), RESTARTS_A_MONTH, LOST_A_MONTH)[0]
    return float(cost / best_cost(quick, known.costs) - 1)


def _history_until(history: Absences, day: float) -> Absences:
    assert history.batch is not None
    kept = history.batch <= day
    return replace(
        history,
        silence_s=history.silence_s[kept],
        returned=history.returned[kept],
        batch=history.batch[kept] - day,
        observed_days=history.observed_days + day,
    )


@dataclass(frozen=True, slots=True)
class Year:
    """Of groups that are advised each week for a year, and follow."""

    changes_a_group: float
    changed_for_the_worse: int
    """Changes after which the group really cost over 2 % more than before."""
    changes: int
    regret: float
    """At the end: mean true cost above the best timeout's."""


def year_of_advice(groups: int, every_days: float = WEEK_DAYS) -> Year:
    mixtures = YARDSTICK + OTHERS
    cases = [case_of(number + 10_000, mixtures[number % len(mixtures)], COOL) for number in range(groups)]
    shapes = other_shapes(cases)
    found = [_followed(case, Known(shapes(index)), every_days) for index, case in enumerate(cases)]
    changes = sum(len(each.factors) for each in found)
    worse = sum(factor > BAD for each in found for factor in each.factors)
    return Year(changes / groups, worse, changes, fmean(each.regret for each in found))


@dataclass(frozen=True, slots=True)
class _Followed:
    factors: tuple[float, ...]
    """Of the true cost, at each change."""
    regret: float


def _followed(case: Case, known: Known, every_days: float) -> _Followed:
    rng = np.random.default_rng((FIRST_SEED, int(case.known.group.name.split("-")[1])))
    count = int(rng.poisson(case.restarts_a_month * YEAR_DAYS / DAYS_A_MONTH))
    lost = int(rng.poisson(0.01 * case.restarts_a_month * YEAR_DAYS / DAYS_A_MONTH))
    silence_s = np.concatenate((case.mixture.sample(count, rng), np.full(lost, 86_400.0)))
    at = rng.uniform(0, YEAR_DAYS, count + lost)
    settings, factors = case.known, list[float]()
    for day in np.arange(every_days, YEAR_DAYS + 1, every_days):
        kept = at <= day
        batch = np.floor(at[kept] - day) + 1
        history = Absences(silence_s[kept], silence_s[kept] < 86_400.0, float(day), batch=batch)
        target_ms = _target_ms(_advice(history, settings, known), settings.session_timeout_ms)
        if target_ms != settings.session_timeout_ms:
            before, after = case.cost(np.array([settings.session_timeout_ms, target_ms]) / 1000)
            factors.append(float(after / before))
            settings = replace(settings, session_timeout_ms=target_ms)
    end = float(case.cost(np.array([settings.session_timeout_ms / 1000]))[0])
    return _Followed(tuple(factors), end / float(case.cost(TIMEOUTS_S).min()) - 1)


def _advice(history: Absences, settings: GroupSettings, known: Known | None) -> Recommendation:
    return recommend_group(history, settings, BOUNDS, Objective(), known, seed=seed_of(settings.group))


def _target_ms(found: Recommendation, today_ms: int) -> int:
    session = found.session_timeout_ms
    if found.status is not RecommendationStatus.RECOMMENDED or session is None:
        return today_ms
    return session.target
