"""All of it, for one group: what Spark calls once for each group of the fleet.

history → restarts → loan of similar groups → model → what is allowed → the cheapest → is it shown to be better?
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Final

import numpy as np

from slackwater.api.recommendation import LEAST_DAYS, Interval, NeedlessRebalances, Recommendation, RecommendationStatus
from slackwater.api.timeouts import Objective
from slackwater.core.world.broker import Bounds
from slackwater.pipeline.statistics import advice, wording
from slackwater.pipeline.statistics.breaks import since_last_break
from slackwater.pipeline.statistics.choice import Choice, choose
from slackwater.pipeline.statistics.constraint import Allowed, allowed_timeouts
from slackwater.pipeline.statistics.cost import RebalanceProtocol
from slackwater.pipeline.statistics.curves import curves_of
from slackwater.pipeline.statistics.fleet import FEWEST_SHAPES, Fleet
from slackwater.pipeline.statistics.history import Absences, Restarts, restarts_of
from slackwater.pipeline.statistics.model import GroupModel, Watched, group_model
from slackwater.pipeline.statistics.settings import GroupIdentity, GroupSettings

FEWEST_RESTARTS: Final = 10
"""Silences that ended, below which nothing is recommended."""
FEWEST_WITH_LOAN: Final = 5
"""The same where similar groups lend."""


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What is known besides the group itself."""

    fleet: Fleet | None = None
    """The shapes of other groups' silences."""
    least_days: float = LEAST_DAYS
    """Watched for less, a group gets no recommendation."""


def seed_of(group: GroupIdentity) -> int:
    """The same group gets the same random numbers in every run, on every machine."""
    return zlib.crc32("/".join((group.cluster, group.namespace, group.name, group.group_id)).encode())


def recommend_group(
    history: Absences,
    settings: GroupSettings,
    bounds: Bounds,
    objective: Objective,
    known: Known | None = None,
    *,
    seed: int,
) -> Recommendation:
    """The recommendation for one group: pure, deterministic, linear in the number of restarts.

    `bounds` is what the brokers take as a session timeout under the group's protocol.
    """
    known = known or Known()
    rng = np.random.default_rng(seed)
    whole_days = history.observed_days
    broken = since_last_break(history)
    history = broken.history
    restarts = restarts_of(history, bounds.max_ms / 1000)
    said = _Saying(history, settings, bounds, restarts, rng)
    if unfit := _not_enough(whole_days, restarts, known):
        return said.without_choice(*unfit)
    watched = Watched(restarts.lost, history.observed_days)
    # What has just disappeared from this group is what the other groups would remind it of.
    fleet = known.fleet if broken.days is None else None
    model = group_model(restarts.silences, watched, settings.costs, rng, fleet)
    allowed = allowed_timeouts(
        bounds,
        objective,
        settings.rebalance_s,
        settings.heartbeat_bounds.min_ms if settings.heartbeat_bounds else None,
        model.needless_upper,
    )
    if allowed.is_empty:
        found = said.without_choice(RecommendationStatus.INFEASIBLE, wording.infeasible(allowed))
        return found.model_copy(update={"binding": allowed.conflict(), "curves": curves_of(model, bounds, settings)})
    restarting = 0 if settings.protocol is RebalanceProtocol.CONSUMER else settings.members
    today_s = settings.session_timeout_ms / 1000
    choice = choose(model, allowed, today_s, restarting, broken=broken.days is not None)
    return said.with_choice(model, allowed, choice, broken.days)


def _not_enough(days: float, restarts: Restarts, known: Known) -> tuple[RecommendationStatus, str] | None:
    """What is missing, and for how long; None where there is enough."""
    if not (np.isfinite(days) and days > 0):
        return RecommendationStatus.NOT_ENOUGH_DATA, wording.never_watched()
    ended = int(restarts.silences.returned.sum())
    needed = FEWEST_RESTARTS if known.fleet is None or known.fleet.size < FEWEST_SHAPES else FEWEST_WITH_LOAN
    if ended < needed:
        return RecommendationStatus.NOT_ENOUGH_DATA, wording.too_few(ended, needed, restarts)
    if days < known.least_days:
        return RecommendationStatus.NOT_ENOUGH_TIME, wording.too_short(days, known.least_days)
    return None


class _Saying:
    """Puts what was found about one group into the words of the wire."""

    def __init__(
        self,
        history: Absences,
        settings: GroupSettings,
        bounds: Bounds,
        restarts: Restarts,
        rng: np.random.Generator,
    ) -> None:
        self._history, self._settings, self._bounds, self._restarts = history, settings, bounds, restarts
        self._rng = rng

    def without_choice(self, status: RecommendationStatus, why: str) -> Recommendation:
        return self._recommendation(status, why, self._settings.session_timeout_ms)

    def with_choice(
        self, model: GroupModel, allowed: Allowed, choice: Choice, broken_days: float | None
    ) -> Recommendation:
        settings = self._settings
        today_s = settings.session_timeout_ms / 1000
        must = not allowed.contains(today_s)
        change = (must or choice.against_today.is_shown_better) and round(
            choice.target_s * 1000
        ) != settings.session_timeout_ms
        status = RecommendationStatus.RECOMMENDED if change else RecommendationStatus.KEEP_TODAY
        target_s = choice.target_s if change else today_s
        fitted = advice.fitted(settings, self._bounds, round(target_s * 1000))
        basis = wording.Basis(self._restarts, self._history.observed_days, model.lent, broken_days is not None)
        why = wording.verdict(basis, choice, today_s, must=must, change=change)
        found = self._recommendation(status, why, fitted.session_ms)
        nothing = Interval(lower=0.0, value=0.0, upper=0.0)
        return found.model_copy(
            update={
                "pooled_restarts": round(model.lent, 1),
                "binding": wording.binding(allowed, choice, today_s, must=must),
                "session_timeout_ms": advice.session(settings, choice, fitted.session_ms, why),
                "heartbeat_interval_ms": advice.heartbeat(settings, fitted),
                "membership": advice.membership(model, settings, target_s, self._restarts.planned_share),
                "saving_partition_s_per_month": advice.interval(choice.against_today.saving) if change else nothing,
                "needless_rebalances_per_month": _needless(model, today_s, target_s),
                "curves": curves_of(model, self._bounds, settings, target_s),
            }
        )

    def _recommendation(self, status: RecommendationStatus, why: str, session_ms: int) -> Recommendation:
        settings, history = self._settings, self._history
        days = history.observed_days if np.isfinite(history.observed_days) else 0.0
        interval, records = advice.polls(settings, history.polls, days, session_ms, self._rng)
        group = settings.group
        return Recommendation(
            cluster=group.cluster,
            namespace=group.namespace,
            name=group.name,
            group_id=group.group_id,
            as_of=group.as_of,
            spec_generation=group.spec_generation,
            restarts=int(self._restarts.silences.count) + self._restarts.lost,
            observed_days=max(0.0, days),
            status=status,
            why=why,
            max_poll_interval_ms=interval,
            max_poll_records=records,
        )


def _needless(model: GroupModel, today_s: float, target_s: float) -> NeedlessRebalances:
    points_s = np.array([today_s, target_s])
    today, target = (float(each) for each in model.needless(points_s)[0])
    return NeedlessRebalances(today=today, recommended=target, upper=float(model.needless_upper(points_s)[1]))
