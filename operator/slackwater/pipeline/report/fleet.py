"""From the lake's tables to the model: the only place that collects, and only rows of bounded number. Spark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from pydantic import ValidationError
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from slackwater.api.recommendation import Curves
from slackwater.pipeline.errors import LakeUnusable
from slackwater.pipeline.report import ranking, series, turns
from slackwater.pipeline.report.model import Detail, Fleet, Group, Key, Kind, Waits
from slackwater.pipeline.report.notes import Findings, notes_of
from slackwater.pipeline.report.rows import (
    Fields,
    curves_of,
    generation_of,
    group_of,
    held_of,
    key_of,
    lag_of,
    slot_of,
    totals_of,
    wait_slot_of,
    waits_of,
)
from slackwater.pipeline.report.sources import Sources

MOST_ROWS: Final = 5_000
"""Groups in the table; a page with more helps nobody."""

T = TypeVar("T")


def read_fleet(spark: SparkSession, sources: Sources, detailed: int) -> Fleet:
    """The fleet, with charts for its first `detailed` groups. LakeUnusable where a row is no recommendation."""
    with ExitStack() as kept:

        def keep(rows: DataFrame) -> DataFrame:
            """Computed once for all that is read of it; on the workers' disks where memory does not suffice."""
            kept.callback(rows.persist(StorageLevel.MEMORY_AND_DISK).unpersist)
            return rows

        restarts, rebalances, told = keep(sources.restarts), keep(sources.rebalances), keep(sources.turns)
        sources = replace(sources, restarts=restarts, rebalances=rebalances, turns=told)
        ranked = keep(ranking.ranked(sources))
        groups = tuple(_group(row.asDict(recursive=True)) for row in ranked.limit(MOST_ROWS).collect())
        totals = totals_of(row.asDict() for row in ranking.totals(ranked).collect())
        newest = ranking.newest(ranked).first()
        details = _details(spark, sources, groups[:detailed])
        found = _findings(sources, newest.asDict() if newest else {}, len(groups), len(details))
        waits = _waits(sources.turns)
    return Fleet(found.as_of_s, groups, details, totals, notes_of(found, totals), waits)


def _waits(told: DataFrame) -> Waits | None:
    waits = waits_of(turns.totals(told).collect()[0].asDict())
    if waits is None:
        return None
    slots = turns.slots(told, waits.first_s, waits.last_s)
    return replace(
        waits,
        by_budget=tuple(held_of(row.asDict()) for row in turns.held_by_budget(told).collect()),
        by_place=tuple(held_of(row.asDict()) for row in turns.held_by_place(told).collect()),
        slots=tuple(wait_slot_of(row.asDict()) for row in slots.collect()),
    )


def _group(row: Fields) -> Group:
    try:
        return group_of(row)
    except ValidationError as error:
        raise LakeUnusable(_sentence(row, error)) from error


def _sentence(row: Fields, error: ValidationError) -> str:
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    return (
        f"gold/recommendations holds no recommendation for {key_of(row).title} ({where}: {problem['msg']}):"
        " run `slackwater pipeline recommend` again"
    )


def _details(spark: SparkSession, sources: Sources, groups: tuple[Group, ...]) -> tuple[Detail, ...]:
    if not groups:
        return ()
    picked = spark.createDataFrame([_placed(group) for group in groups], series.PICKED)
    curves = _by_group(series.curves(sources.recommendations, picked), curves_of)
    restarts = _by_group(series.restart_slots(sources.restarts, picked), partial(slot_of, Kind.RESTART))
    rebalances = _by_group(series.rebalance_slots(sources.rebalances, picked), partial(slot_of, Kind.REBALANCE))
    audited = _by_group(series.rebalance_slots(sources.audit_rebalances, picked), partial(slot_of, Kind.AUDITED))
    told = series.generations(sources.rebalances, sources.audit_generations, picked)
    generations = _by_group(told, generation_of)
    lag = _by_group(series.lag_slots(sources.lag, picked), lag_of)

    def detail(group: Group) -> Detail:
        key = group.key
        curve = curves[key][0] if key in curves else Curves()
        slots = (*restarts[key], *rebalances[key], *audited[key])
        return Detail(group, curve.survival, curve.cost, slots, tuple(generations[key]), tuple(lag[key]))

    return tuple(map(detail, groups))


def _placed(group: Group) -> tuple[str, str, str, str, float | None, float | None]:
    key, history = group.key, group.history
    return key.cluster, key.namespace, key.name, key.group_id, history.first_s, history.last_s


def _by_group(rows: DataFrame, made: Callable[[Fields], T]) -> defaultdict[Key, list[T]]:
    """Collects: `rows` must be bounded for each group."""
    found: defaultdict[Key, list[T]] = defaultdict(list)
    for row in rows.collect():
        fields = row.asDict(recursive=True)
        found[key_of(fields)].append(made(fields))
    return found


def _findings(sources: Sources, newest: Fields, listed: int, detailed: int) -> Findings:
    counts = sources.quarantine.groupBy("reason").count().collect()
    return Findings(
        missing=sources.missing,
        quarantined={row["reason"]: row["count"] for row in counts},
        unread=sources.unread.count(),
        as_of_s=newest.get("newest_s"),
        advised_s=newest.get("advised_s"),
        listed=listed,
        detailed=detailed,
    )
