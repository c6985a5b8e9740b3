"""The histories of all groups as a function over Arrow batches: records in order go in, rows of the tables come out.

Runs in Spark's Python workers. It holds one group at a time, as it is at that point of its history: a group of any age
needs no more memory than its members.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from slackwater.pipeline.audit.columns import FOLDED, Refused, folded
from slackwater.pipeline.audit.decoding import decode
from slackwater.pipeline.audit.errors import Undecodable
from slackwater.pipeline.audit.facts import Position
from slackwater.pipeline.audit.history import GroupStory
from slackwater.pipeline.audit.rows import Generation, Row

_BATCH_WEIGHT: Final = 20_000
"""Rows and members in one batch that is given back: about ten megabytes."""

Record = tuple[Any, ...]
"""One of RECORD_COLUMNS, in their order."""


def fold_groups(records: DataFrame) -> DataFrame:
    """FOLDED rows, out of what `records_of_groups` gives."""
    return records.mapInArrow(_fold_batches, FOLDED)


def told(records: Iterable[Record]) -> Iterator[tuple[str, Row | Refused]]:
    """Each group's rows with its id. `records`: those of a group together, in order."""
    for group_key, of_group in groupby(records, key=itemgetter(0)):
        group_id = (group_key or b"").decode(errors="replace")
        history = GroupStory()
        for _, _, partition, offset, at_ms, key, value in of_group:
            position = Position(partition, offset, at_ms)
            try:
                decoded = decode(key, value)
            except Undecodable as error:
                yield group_id, Refused(position, error, key, value)
                continue
            for refused in decoded.refused:
                yield group_id, Refused(position, refused, key, value)
            for row in history.tell(position, decoded.fact):
                yield group_id, row
        for row in history.end():
            yield group_id, row


def _fold_batches(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    schema = to_arrow_schema(FOLDED)
    waiting: list[dict[str, Any]] = []
    weight = 0
    for group_id, row in told(_rows(batches)):
        waiting.append(folded(group_id, row))
        weight += 1 + (len(row.members) if isinstance(row, Generation) else 0)
        if weight >= _BATCH_WEIGHT:
            yield pa.RecordBatch.from_pylist(waiting, schema=schema)
            waiting, weight = [], 0
    if waiting:
        yield pa.RecordBatch.from_pylist(waiting, schema=schema)


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Record]:
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
