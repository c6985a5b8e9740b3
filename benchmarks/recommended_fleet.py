"""A fleet of eager groups with the 45 s default, before and after what is recommended for each; priced by the truth."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np

from benchmarks.regret import DEFAULT_S
from benchmarks.silences import OTHERS, YARDSTICK, Mixture
from slackwater.api.recommendation import MembershipKind, Recommendation, RecommendationStatus
from slackwater.api.timeouts import Objective
from slackwater.core.world.broker import Bounds
from slackwater.pipeline.statistics.cost import REBALANCES_AN_EVICTION, RebalanceProtocol
from slackwater.pipeline.statistics.history import DAYS_A_MONTH, Absences
from slackwater.pipeline.statistics.recommend import recommend_group, seed_of
from slackwater.pipeline.statistics.settings import GroupIdentity, GroupSettings

BOUNDS: Final = Bounds(6_000, 1_800_000)
_LOST_SHARE: Final = 0.01
_AS_OF: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class GroupResult:
    """One group; costs are true partition-seconds a month, rebalances true ones a month."""

    mixture: str
    changed: bool
    cost_today: float
    cost_recommended: float
    needless_today: float
    needless_recommended: float


@dataclass(frozen=True, slots=True)
class FleetRow:
    """The groups of one mixture, or all, added up."""

    name: str
    groups: int
    changed: int
    cost_today: float
    cost_recommended: float
    needless_today: float
    needless_recommended: float

    @property
    def saving(self) -> float:
        """Share of today's cost."""
        return 1 - self.cost_recommended / self.cost_today


def fleet_rows(groups: int) -> tuple[FleetRow, ...]:
    """A row for each mixture, and the last one for the whole fleet."""
    mixtures = YARDSTICK + OTHERS
    found = [_group(number, mixtures[number % len(mixtures)]) for number in range(groups)]
    rows = [_row(mixture.name, [each for each in found if each.mixture == mixture.name]) for mixture in mixtures]
    return (*rows, _row("all", found))


def _row(name: str, results: list[GroupResult]) -> FleetRow:
    sums = (
        sum(getattr(each, field) for each in results)
        for field in ("changed", "cost_today", "cost_recommended", "needless_today", "needless_recommended")
    )
    return FleetRow(name, len(results), *sums)


def _group(number: int, mixture: Mixture) -> GroupResult:
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
        warm_up_s=float(rng.uniform(0, 20)),
    )
    restarts_a_month, months = float(rng.uniform(10, 60)), float(rng.uniform(1, 12))
    recommendation = recommend_group(
        _history(mixture, restarts_a_month, months, rng), settings, BOUNDS, Objective(), seed=seed_of(identity)
    )
    return _priced(mixture, settings, recommendation, restarts_a_month)


def _history(mixture: Mixture, restarts_a_month: float, months: float, rng: np.random.Generator) -> Absences:
    """The lost ones are still away at the end, after longer than any timeout."""
    count = int(rng.poisson(restarts_a_month * months))
    lost = int(rng.poisson(_LOST_SHARE * restarts_a_month * months))
    silence_s = np.concatenate((mixture.sample(count, rng), np.full(lost, 86_400.0)))
    return Absences(silence_s, np.arange(count + lost) < count, months * DAYS_A_MONTH)


def _priced(
    mixture: Mixture, settings: GroupSettings, recommendation: Recommendation, restarts_a_month: float
) -> GroupResult:
    changed = recommendation.status is RecommendationStatus.RECOMMENDED
    session = recommendation.session_timeout_ms
    target_s = session.target / 1000 if changed and session is not None else DEFAULT_S
    points_s = np.array([DEFAULT_S, target_s])
    cost = mixture.cost(settings.costs, points_s, restarts_a_month, _LOST_SHARE * restarts_a_month)
    needless = REBALANCES_AN_EVICTION * restarts_a_month * mixture.survival(points_s)
    return GroupResult(mixture.name, changed, *(float(each) for pair in (cost, needless) for each in pair))
