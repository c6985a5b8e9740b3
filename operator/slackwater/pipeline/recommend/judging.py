"""From rows of histories to rows of recommendations: what Spark's workers run, on Arrow and without a session.

One row is one group, so that a batch is as big as its number of groups allows, and no group depends on another's batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa

from slackwater.api.recommendation import Recommendation, RecommendationStatus
from slackwater.pipeline.recommend.counting import GRID_FROM, LONGEST, RECORD, SILENCE
from slackwater.pipeline.recommend.facts import GroupFacts, facts_of, identity_of
from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.history import Absences, PollCounts, lengths_of, restarts_of
from slackwater.pipeline.statistics.pool import BINS, FEWEST_OWN, LENT, Pool, pool_of, sketch_of
from slackwater.pipeline.statistics.recommend import recommend_group, seed_of

Batches = Iterable[pa.RecordBatch]
UNIT: Final = 1_000_000
"""Of a restart's weight, in a pool's whole numbers."""
_MAY_BE_LEFT_TO_KAFKA: Final = ("session_timeout_ms", "heartbeat_interval_ms", "max_poll_interval_ms")
_NO_POINTS: Final = np.empty(0)
_HEAVY: Final = (SILENCE, LONGEST, RECORD, "namespace_pool", "library_pool")


@dataclass(frozen=True, slots=True)
class Row:
    """One group: its plain columns, and where the arrays lie."""

    batch: pa.RecordBatch
    index: int
    plain: dict[str, Any]

    def points(self, name: str) -> pa.StructArray | None:
        """That column's structs, None where the group has none. `name` may lead into a struct: pool.bins."""
        outer, _, inner = name.partition(".")
        column = self.batch.column(outer)
        if not column[self.index].is_valid:
            return None
        scalar = column[self.index][inner] if inner else column[self.index]
        return scalar.values if scalar.is_valid else None


def rows_of(batch: pa.RecordBatch) -> Iterator[Row]:
    plain = batch.select([name for name in batch.schema.names if name not in _HEAVY]).to_pylist()
    return (Row(batch, index, each) for index, each in enumerate(plain))


def recommending(schema: pa.Schema, as_of: datetime) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """For `mapInArrow`: rows of histories with pools to rows of `gold`."""

    def recommend(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            found = [gold_row(recommendation_of(row, as_of)) for row in rows_of(batch)]
            yield pa.RecordBatch.from_pylist(found, schema=schema)

    return recommend


def sharing(schema: pa.Schema, as_of: datetime) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """For `mapInArrow`: rows of histories to SHARES of `pooling`."""

    def share(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            shares = [each for row in rows_of(batch) for each in _shares(row, as_of)]
            yield pa.RecordBatch.from_pylist(shares, schema=schema)

    return share


def recommendation_of(row: Row, as_of: datetime) -> Recommendation:
    facts = facts_of(row.plain, as_of)
    if facts is None:
        return _never_seen(row, as_of)
    history = history_of(row)
    pool = lender(row, own_share(history, facts))
    seed = seed_of(facts.settings.group)
    found = recommend_group(history, facts.settings, facts.bounds, facts.objective, pool, seed=seed)
    return _with_assumptions(found, facts)


def history_of(row: Row) -> Absences:
    longest, record = row.points(LONGEST), row.points(RECORD)
    polls = PollCounts(_values(longest, LONGEST), _times(longest), _values(record, RECORD), _times(record))
    return replace(absences_of(row), polls=polls)


def absences_of(row: Row) -> Absences:
    """The history without its polls."""
    silence = row.points(SILENCE)
    return Absences(
        silence_s=_values(silence, SILENCE),
        returned=_flags(silence, "returned"),
        planned=_flags(silence, "planned"),
        times=_times(silence),
        observed_days=row.plain["observed_days"],
    )


def own_share(history: Absences, facts: GroupFacts) -> Pool | None:
    """The pool of this group alone; None where it gives nothing."""
    silences = restarts_of(history, facts.bounds.max_ms / 1000).silences
    if silences.returned.sum() < FEWEST_OWN:
        return None
    return pool_of([sketch_of(silences)])


def lender(row: Row, own: Pool | None) -> Pool | None:
    """The nearest pool that has enough to lend, without the group itself."""
    if own is None:
        return None
    for name in ("namespace_pool", "library_pool"):
        points = row.points(f"{name}.bins")
        if points is None:
            continue
        total = row.batch.column(name)[row.index]
        groups, restarts = total["groups"].as_py() - 1, total["restarts"].as_py() - round(own.restarts)
        returned, censored = (_others(points, which, getattr(own, which)) for which in ("returned", "censored"))
        if groups > 0 and (returned + censored).sum() >= LENT:
            return Pool(returned, censored, groups, float(restarts))
    return None


def gold_row(found: Recommendation) -> dict[str, Any]:
    return {**found.model_dump(mode="json"), "as_of": found.as_of, "message": found.message()}


def _shares(row: Row, as_of: datetime) -> Iterator[dict[str, Any]]:
    facts = facts_of(row.plain, as_of)
    own = own_share(absences_of(row), facts) if facts is not None else None
    if own is None:
        return
    place = {"namespace": row.plain["namespace"], "library": row.plain["library"]}
    returned, censored = _units(own.returned), _units(own.censored)
    for at in np.flatnonzero(returned + censored).tolist():
        counts = {"returned": int(returned[at]), "censored": int(censored[at])}
        yield {**place, "bin": at, **counts, "groups": 0, "restarts": 0}
    yield {**place, "bin": None, "returned": 0, "censored": 0, "groups": 1, "restarts": round(own.restarts)}


def _units(weights: Floats) -> np.typing.NDArray[np.int64]:
    return np.rint(weights * UNIT).astype(np.int64)


def _others(points: pa.StructArray, which: str, own: Floats) -> Floats:
    total = np.zeros(2 * BINS + 1, dtype=np.int64)
    total[points.field("bin").to_numpy()] = points.field(which).to_numpy()
    return np.asarray((total - _units(own)) / UNIT)


def _values(points: pa.StructArray | None, quantity: str) -> Floats:
    """Exact values as they are, and those of the grid by their step."""
    if points is None:
        return _NO_POINTS
    steps = points.field("step").to_numpy(zero_copy_only=False).astype(np.float64)
    exact = points.field("value").to_numpy(zero_copy_only=False).astype(np.float64)
    return np.where(np.isnan(steps), exact, lengths_of(steps, GRID_FROM[quantity]))


def _flags(points: pa.StructArray | None, name: str) -> np.typing.NDArray[np.bool_]:
    if points is None:
        return np.empty(0, dtype=np.bool_)
    return np.asarray(points.field(name).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _times(points: pa.StructArray | None) -> Floats:
    return _NO_POINTS if points is None else points.field("times").to_numpy().astype(np.float64)


def _never_seen(row: Row, as_of: datetime) -> Recommendation:
    group, history = identity_of(row.plain, as_of), history_of(row)
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
