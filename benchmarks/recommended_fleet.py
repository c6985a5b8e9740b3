"""Fleets of eager groups with the 45 s default, before and after what is recommended for each; priced by the truth.

A group knows the shapes of the others' silences, as it does in the pipeline, and has its warm-up measured: from the
rebalances that its history had, each with an error of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import numpy as np

from benchmarks.regret import BAD, DEFAULT_S
from benchmarks.silences import OTHERS, TIMEOUTS_S, YARDSTICK, Mixture
from slackwater.api.recommendation import MembershipKind, Recommendation, RecommendationStatus
from slackwater.api.timeouts import Objective
from slackwater.core.world.broker import Bounds
from slackwater.pipeline.statistics.cost import REBALANCES_AN_EVICTION, RebalanceProtocol
from slackwater.pipeline.statistics.fleet import MOST_SHAPES, Fleet, fleet_of, shape_of
from slackwater.pipeline.statistics.history import DAYS_A_MONTH, Absences, restarts_of
from slackwater.pipeline.statistics.recommend import Known, recommend_group, seed_of
from slackwater.pipeline.statistics.settings import GroupIdentity, GroupSettings
from slackwater.pipeline.statistics.warming import warmed_up

BOUNDS: Final = Bounds(6_000, 1_800_000)
COOL: Final = (0.0, 20.0)
WARM: Final = (20.0, 120.0)
"""Seconds that partitions take to warm up: from … to …."""
_LOST_SHARE: Final = 0.01
_AS_OF: Final = datetime(2026, 1, 1, tzinfo=UTC)
_MOVES_A_MONTH: Final = 2.0
"""Rebalances that somebody makes on purpose, such as by scaling."""
_MEASURED_SIGMA: Final = 0.4
_LOOK_S: Final = 5.0
"""The operator looks at the lag so often."""


@dataclass(frozen=True, slots=True)
class Case:
    """One group: what is known of it, and the truth."""

    mixture: Mixture
    known: GroupSettings
    true: GroupSettings
    history: Absences
    restarts_a_month: float

    def cost(self, timeouts_s: np.typing.NDArray[np.float64]) -> np.typing.NDArray[np.float64]:
        """True partition-seconds a month."""
        rate = self.restarts_a_month
        return self.mixture.cost(self.true.costs, timeouts_s, rate, _LOST_SHARE * rate)


@dataclass(frozen=True, slots=True)
class GroupResult:
    """One group; costs are true partition-seconds a month, rebalances true ones a month."""

    mixture: str
    changed: bool
    worse: bool
    """It was changed, and really costs over 2 % more."""
    cost_today: float
    cost_recommended: float
    cost_best: float
    needless_today: float
    needless_recommended: float


@dataclass(frozen=True, slots=True)
class FleetRow:
    """The groups of one mixture, or all, added up."""

    name: str
    groups: int
    changed: int
    worse: int
    cost_today: float
    cost_recommended: float
    cost_best: float
    needless_today: float
    needless_recommended: float

    @property
    def saving(self) -> float:
        """Share of today's cost."""
        return 1 - self.cost_recommended / self.cost_today

    @property
    def captured(self) -> float:
        """Share of what the truly best timeouts would save."""
        return (self.cost_today - self.cost_recommended) / (self.cost_today - self.cost_best)


def fleet_rows(groups: int, warm_up_s: tuple[float, float] = COOL) -> tuple[FleetRow, ...]:
    """A row for each mixture, and the last one for the whole fleet."""
    mixtures = YARDSTICK + OTHERS
    cases = [case_of(number, mixtures[number % len(mixtures)], warm_up_s) for number in range(groups)]
    found = [priced(case, recommended) for case, recommended in zip(cases, advised(cases), strict=True)]
    rows = [_row(mixture.name, [each for each in found if each.mixture == mixture.name]) for mixture in mixtures]
    return (*rows, _row("all", found))


def _row(name: str, results: list[GroupResult]) -> FleetRow:
    fields = [field for field in FleetRow.__slots__ if field not in ("name", "groups")]
    return FleetRow(name, len(results), *(sum(getattr(each, field) for each in results) for field in fields))


def case_of(number: int, mixture: Mixture, warm_up_s: tuple[float, float]) -> Case:
    """Its size, pace, loss and how long it was watched are random; the number is the seed."""
    rng = np.random.default_rng(number)
    mixture = mixture.scaled(float(np.exp(rng.normal(0, 0.3))))
    identity = GroupIdentity("fleet", "default", f"group-{number}", f"group-{number}", _AS_OF)
    members = int(rng.integers(3, 13))
    settings = GroupSettings(
        group=identity,
        protocol=RebalanceProtocol.EAGER,
        membership=MembershipKind.STATIC,
        partitions=members * int(rng.integers(1, 9)),
        members=members,
        session_timeout_ms=round(DEFAULT_S * 1000),
        heartbeat_interval_ms=3_000,
        max_poll_interval_ms=300_000,
        rebalance_s=float(rng.uniform(1, 6)),
        warm_up_s=float(rng.uniform(*warm_up_s)),
    )
    restarts_a_month, months = float(rng.uniform(10, 60)), float(rng.uniform(1, 12))
    history = _history(mixture, restarts_a_month, months, rng)
    known = _with_measured_warm_up(settings, history, months, number)
    return Case(mixture, known, settings, history, restarts_a_month)


def _with_measured_warm_up(settings: GroupSettings, history: Absences, months: float, number: int) -> GroupSettings:
    """What the operator saw: two rebalances for each eviction, and some that were made on purpose."""
    rng = np.random.default_rng((number, 1))
    evictions = int((history.silence_s > DEFAULT_S).sum())
    count = REBALANCES_AN_EVICTION * evictions + int(rng.poisson(_MOVES_A_MONTH * months))
    seen_s = settings.warm_up_s * np.exp(rng.normal(0, _MEASURED_SIGMA, count))
    measured = warmed_up(_LOOK_S * np.ceil(seen_s / _LOOK_S))
    return replace(settings, warm_up_s=measured.seconds, warm_up_spread=measured.spread)


def _history(mixture: Mixture, restarts_a_month: float, months: float, rng: np.random.Generator) -> Absences:
    """The lost ones are still away at the end, after longer than any timeout."""
    count = int(rng.poisson(restarts_a_month * months))
    lost = int(rng.poisson(_LOST_SHARE * restarts_a_month * months))
    silence_s = np.concatenate((mixture.sample(count, rng), np.full(lost, 86_400.0)))
    return Absences(silence_s, np.arange(count + lost) < count, months * DAYS_A_MONTH)


def advised(cases: list[Case]) -> list[Recommendation]:
    """What each is recommended, which knows the shapes of the others."""
    others = other_shapes(cases)
    return [_recommended(case, others(index)) for index, case in enumerate(cases)]


def other_shapes(cases: list[Case]) -> Callable[[int], Fleet]:
    """For each case, the fleet of the others: as many as the pipeline takes, those with most restarts."""
    shapes = [shape_of(restarts_of(case.history, BOUNDS.max_ms / 1000).silences) for case in cases]
    known = sorted(
        ((index, shape) for index, shape in enumerate(shapes) if shape is not None),
        key=lambda pair: -pair[1].restarts,
    )

    def without(index: int) -> Fleet:
        return fleet_of(shape for at, shape in known[: MOST_SHAPES + 1] if at != index)

    return without


def _recommended(case: Case, fleet: Fleet) -> Recommendation:
    seed = seed_of(case.known.group)
    return recommend_group(case.history, case.known, BOUNDS, Objective(), Known(fleet), seed=seed)


def priced(case: Case, recommendation: Recommendation) -> GroupResult:
    changed = recommendation.status is RecommendationStatus.RECOMMENDED
    session = recommendation.session_timeout_ms
    target_s = session.target / 1000 if changed and session is not None else DEFAULT_S
    points_s = np.array([DEFAULT_S, target_s])
    today, target = (float(each) for each in case.cost(points_s))
    best = min(float(case.cost(TIMEOUTS_S).min()), today)
    needless = REBALANCES_AN_EVICTION * case.restarts_a_month * case.mixture.survival(points_s)
    worse = changed and target > BAD * today
    return GroupResult(case.mixture.name, changed, worse, today, target, best, *(float(each) for each in needless))
