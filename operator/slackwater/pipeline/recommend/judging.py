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

from slackwater.api.recommendation import LEAST_DAYS, Recommendation
from slackwater.pipeline.recommend.advising import advice_of, batches_of, shape_row
from slackwater.pipeline.recommend.counting import GRID_FROM, LONGEST, RECORD, SILENCE
from slackwater.pipeline.recommend.fleets import Fleets
from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.history import Absences, PollCounts, lengths_of

Batches = Iterable[pa.RecordBatch]
_NO_POINTS: Final = np.empty(0)
_HEAVY: Final = (SILENCE, LONGEST, RECORD)


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


def recommending(
    schema: pa.Schema, as_of: datetime, fleets: Fleets, least_days: float = LEAST_DAYS
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """For `mapInArrow`: rows of histories to rows of `gold`."""

    def recommend(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            found = [gold_row(recommendation_of(row, as_of, fleets, least_days)) for row in rows_of(batch)]
            yield pa.RecordBatch.from_pylist(found, schema=schema)

    return recommend


def sharing(schema: pa.Schema, as_of: datetime) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """For `mapInArrow`: rows of histories to SHAPES of `pooling`."""

    def share(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            shapes = [each for row in rows_of(batch) if (each := shape_row(row.plain, absences_of(row), as_of))]
            yield pa.RecordBatch.from_pylist(shapes, schema=schema)

    return share


def recommendation_of(row: Row, as_of: datetime, fleets: Fleets, least_days: float = LEAST_DAYS) -> Recommendation:
    return advice_of(row.plain, history_of(row), as_of, fleets, least_days)


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
        batch=batches_of(_numbers(silence, "day"), _numbers(silence, "rollout"), row.plain["last_at"]),
    )


def gold_row(found: Recommendation) -> dict[str, Any]:
    return {**found.model_dump(mode="json"), "as_of": found.as_of, "message": found.message()}


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


def _numbers(points: pa.StructArray | None, name: str) -> Floats:
    """NaN for null."""
    if points is None:
        return _NO_POINTS
    return np.asarray(points.field(name).to_numpy(zero_copy_only=False), dtype=np.float64)


def _times(points: pa.StructArray | None) -> Floats:
    return _NO_POINTS if points is None else points.field("times").to_numpy().astype(np.float64)
