"""From one group's row and history to its recommendation: what Spark's workers and the command without Spark share.

Knows neither Spark nor Arrow.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import numpy as np

from slackwater.api.recommendation import LEAST_DAYS, Recommendation, RecommendationStatus
from slackwater.pipeline.recommend.facts import GroupFacts, facts_of, identity_of
from slackwater.pipeline.recommend.fleets import KEY, Fleets, key_of
from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.breaks import since_last_break
from slackwater.pipeline.statistics.fleet import shape_of
from slackwater.pipeline.statistics.history import Absences, restarts_of
from slackwater.pipeline.statistics.recommend import Known, recommend_group, seed_of

_MAY_BE_LEFT_TO_KAFKA: Final = ("session_timeout_ms", "heartbeat_interval_ms", "max_poll_interval_ms")
_DAY_S: Final = 86_400.0


def advice_of(
    plain: Mapping[str, Any], history: Absences, as_of: datetime, fleets: Fleets, least_days: float = LEAST_DAYS
) -> Recommendation:
    """For one group: `plain` is its row of `silver/groups` with `rebalance_s` and `warmed_up`."""
    facts = facts_of(plain, as_of)
    if facts is None:
        return _never_seen(plain, history, as_of)
    shapes = fleets.get(plain["library"])
    known = Known(shapes.without(key_of(plain)) if shapes is not None else None, least_days)
    seed = seed_of(facts.settings.group)
    found = recommend_group(history, facts.settings, facts.bounds, facts.objective, known, seed=seed)
    return _with_assumptions(found, facts)


def shape_row(plain: Mapping[str, Any], history: Absences, as_of: datetime) -> dict[str, Any] | None:
    """What the group gives to its library's fleet, None where it has nothing to give."""
    facts = facts_of(plain, as_of)
    if facts is None:
        return None
    recent = since_last_break(history).history
    shape = shape_of(restarts_of(recent, facts.bounds.max_ms / 1000).silences)
    if shape is None:
        return None
    own = {name: plain[name] for name in (*KEY, "library")}
    return {**own, "restarts": shape.restarts, "survival": shape.survival.tolist()}


def batches_of(day: Floats, rollout: Floats, last_at: datetime) -> Floats:
    """Which restarts came together, as `Absences` wants it: those of one rollout, by the day on which it began; others
    by their day. `day`: since 1970; `rollout`: the spec's generation, NaN where there was none, or nobody knows which.

    The same generation may be rolled out again, as by an annotation: a day without a restart ends a rollout.
    """
    began = day.copy()
    known = np.flatnonzero(np.isfinite(rollout))
    if len(known):
        order = known[np.lexsort((day[known], rollout[known]))]
        days, numbers = day[order], rollout[order]
        first = np.concatenate(([True], (np.diff(numbers) != 0) | (np.diff(days) > 1)))
        began[order] = days[first][np.cumsum(first) - 1]
    return np.asarray(began - np.floor(last_at.timestamp() / _DAY_S))


def _never_seen(plain: Mapping[str, Any], history: Absences, as_of: datetime) -> Recommendation:
    group = identity_of(plain, as_of)
    return Recommendation(
        cluster=group.cluster,
        namespace=group.namespace,
        name=group.name,
        group_id=group.group_id,
        as_of=as_of,
        spec_generation=group.spec_generation,
        restarts=int(history.times.sum()) if history.times is not None else 0,
        observed_days=max(0.0, history.observed_days),
        status=RecommendationStatus.NOT_ENOUGH_DATA,
        why="The group's members and partitions were never seen: nothing can be said about what a timeout costs.",
    )


def _with_assumptions(found: Recommendation, facts: GroupFacts) -> Recommendation:
    """Say what was taken for today's, and that the group itself has no value of its own there."""
    changed: dict[str, Any] = {"why": found.why + facts.assumption}
    for name in _MAY_BE_LEFT_TO_KAFKA:
        setting = getattr(found, name)
        if setting is not None and facts.is_assumed(name):
            changed[name] = setting.model_copy(update={"current": None})
    return found.model_copy(update=changed)
