"""Every group of the lake in one table, ranked by what a change would save: `DataFrame -> DataFrame`. Spark.

A group is known by its recommendation, by its events, or only by the audit; whatever knows it, it is one row. Nothing
is collected here.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from slackwater.pipeline.report.model import Standing
from slackwater.pipeline.report.sources import Sources
from slackwater.pipeline.schemas import GROUP_KEY

KEY: Final = list(GROUP_KEY)
IN_KAFKA: Final = ["cluster", "group_id"]
"""The key of the audit's tables, which know nothing of Kubernetes."""
FACTS: Final = ("members", "partitions", "protocol", "assignor", "library", "library_version")


def ranked(sources: Sources) -> DataFrame:
    """One row a group, in the order of the page's table."""
    audited = _audited(sources.audit_rebalances, sources.audit_generations)
    known = sources.recommendations.select(KEY).unionByName(sources.groups.select(KEY)).distinct()
    recorded = (
        known.join(_advised(sources.recommendations), on=KEY, how="left")
        .join(_facts(sources.groups), on=KEY, how="left")
        .join(_restarts(sources.restarts), on=KEY, how="left")
        .join(_rebalances(sources.rebalances), on=KEY, how="left")
        .join(audited, on=IN_KAFKA, how="left")
    )
    foreign = audited.join(known, on=IN_KAFKA, how="left_anti").withColumns({"namespace": F.lit(""), "name": F.lit("")})
    return _in_order(_with_standing(_with_span(recorded.unionByName(foreign, allowMissingColumns=True))))


def totals(groups: DataFrame) -> DataFrame:
    """One row a standing, over every ranked group. Only a change changes what is needless."""
    needless = F.col("needless_rebalances_per_month")
    then = F.when(_changes(), needless["recommended"]).otherwise(needless["today"])
    return groups.groupBy("standing").agg(
        F.count("*").alias("groups"),
        F.sum("saving").alias("saving"),
        F.sum("cost_today").alias("cost_today"),
        F.sum(needless["today"]).alias("needless_today"),
        F.sum(then).alias("needless_recommended"),
        *(F.sum(name).alias(name) for name in ("recorded_restarts", "recorded_evictions", "recorded_rebalances")),
    )


def newest(groups: DataFrame) -> DataFrame:
    """One row: when the newest thing known of any group was, and as of when the newest recommendation is."""
    return groups.agg(F.max(F.greatest("last_s", "as_of_s")).alias("newest_s"), F.max("as_of_s").alias("advised_s"))


def moment_s(name: str) -> Column:
    """A timestamp as Unix seconds with their fraction, whatever time zone the session has."""
    return F.col(name).cast("double")


def stopped_s() -> Column:
    """When a member was restarted, as well as it is known."""
    return F.coalesce(moment_s("stopped_at"), moment_s("last_seen_at"), moment_s("told_at"))


def _advised(recommendations: DataFrame) -> DataFrame:
    """Everything but the curves, and of the cost curve today's value."""
    today = F.get(F.filter(F.col("curves.cost"), lambda point: point["today"]), 0)
    return recommendations.select("*", moment_s("as_of").alias("as_of_s"), today["cost"].alias("cost_today")).drop(
        "curves", "as_of"
    )


def _facts(groups: DataFrame) -> DataFrame:
    return groups.select(
        *KEY,
        *FACTS,
        F.col("session_timeout_ms").alias("observed_session_ms"),
        moment_s("first_at").alias("first_event_s"),
        moment_s("last_at").alias("last_event_s"),
    )


def _restarts(restarts: DataFrame) -> DataFrame:
    return restarts.groupBy(KEY).agg(
        F.count("*").alias("recorded_restarts"),
        F.count_if(F.col("evicted")).alias("recorded_evictions"),
        F.min(stopped_s()).alias("first_restart_s"),
    )


def _rebalances(rebalances: DataFrame) -> DataFrame:
    return rebalances.groupBy(KEY).agg(
        F.count("*").alias("recorded_rebalances"), F.min(moment_s("at")).alias("first_rebalance_s")
    )


def _audited(rebalances: DataFrame, generations: DataFrame) -> DataFrame:
    """A group with one generation and no rebalance was audited, too."""
    counted = rebalances.select(*IN_KAFKA, "at", F.lit(1).alias("rebalance"))
    told = counted.unionByName(generations.select(*IN_KAFKA, "at", F.lit(0).alias("rebalance")))
    return told.groupBy(IN_KAFKA).agg(
        F.sum("rebalance").alias("audited_rebalances"),
        F.min(moment_s("at")).alias("first_audited_s"),
        F.max(moment_s("at")).alias("last_audited_s"),
    )


def _with_span(groups: DataFrame) -> DataFrame:
    """`first_s` and `last_s`: from the first to the last thing that any table has of the group."""
    firsts = ("first_event_s", "first_restart_s", "first_rebalance_s", "first_audited_s")
    return groups.withColumns({"first_s": F.least(*firsts), "last_s": F.greatest("last_event_s", "last_audited_s")})


def _with_standing(groups: DataFrame) -> DataFrame:
    """`standing` in the model's words, and `saving` where there is a change to save by."""
    unadvised = F.when(F.col("name") == "", Standing.AUDITED_ONLY.value).otherwise(Standing.NONE_YET.value)
    saving = F.when(_changes(), F.col("saving_partition_s_per_month.value"))
    return groups.withColumns({"standing": F.coalesce("status", unadvised), "saving": saving})


def _changes() -> Column:
    return F.col("status") == Standing.RECOMMENDED.value


def _in_order(groups: DataFrame) -> DataFrame:
    largest = ("saving", "cost_today", "recorded_restarts", "audited_rebalances")
    return groups.orderBy(*(F.desc_nulls_last(name) for name in largest), *KEY)
