"""One row for each restart of a member, put together from all that was told of it.

An episode is told of several times, by several operator processes perhaps, and each telling holds what its teller knew:
so each field is that of the newest telling which has it. `Unknown` is not having it: so an operator that was restarted
calls what only the one before it saw. A member that is away is known to have been away until the newest telling, and
not a moment longer: nobody looked.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from slackwater.api.telemetry.words import RestartReason
from slackwater.pipeline.ingest.fields import problem
from slackwater.pipeline.ingest.rules import Reason
from slackwater.pipeline.ingest.times import out_of_order_restart
from slackwater.pipeline.schemas import GROUP_KEY, IMPOSSIBLE_RESTARTS, MEMBER_RESTARTED, RESTARTS
from slackwater.pipeline.silver.events import once

_SAYS_NOTHING: Final = {"reason": RestartReason.UNKNOWN}
"""Words that are as good as a null, by their field."""


def restarts_of(events: DataFrame) -> DataFrame:
    """RESTARTS: those whose times can be."""
    return _judged(events).where(F.col("problem").isNull()).select(*RESTARTS.names)


def impossible_restarts_of(events: DataFrame) -> DataFrame:
    """IMPOSSIBLE_RESTARTS: those whose tellings, each fine alone, contradict one another. Of no use to statistics."""
    impossible = _judged(events).where(F.col("problem").isNotNull())
    return impossible.select(*GROUP_KEY, "episode", "problem.*").select(*IMPOSSIBLE_RESTARTS.names)


def _judged(events: DataFrame) -> DataFrame:
    restarts = with_silence(together(once(events, "member_restarted")))
    backwards = F.when(
        (F.col("silence_s") < 0) | (F.col("observed_away_s") < 0),
        problem(Reason.IMPOSSIBLE_TIMES, "it was away for less than no time: a clock went backwards"),
    )
    whole = F.struct(*MEMBER_RESTARTED.names)
    return restarts.withColumn("problem", F.coalesce(out_of_order_restart(whole), backwards))


def together(tellings: DataFrame) -> DataFrame:
    """One row an episode: its group, every field of MEMBER_RESTARTED, and `told_at`, the newest telling's moment."""
    fields = [name for name in MEMBER_RESTARTED.names if name != "episode"]
    newest = [
        F.max_by(_field(name), F.struct(_is_known(name), "at", F.xxhash64("body"))).alias(name) for name in fields
    ]
    episode = _field("episode").alias("episode")
    return tellings.groupBy(*GROUP_KEY, episode).agg(*newest, F.max("at").alias("told_at"))


def with_silence(restarts: DataFrame) -> DataFrame:
    """Add `silence_s`, from a member's last sign of life to its return, and `observed_away_s`, as far as that was seen.

    Null `silence_s`: still away, gone for good, or a moment of it is not known. `observed_away_s` is the same for those
    that returned, and ends with the newest telling for the others.
    """
    returned = F.col("outcome") == "Returned"
    silence_s = F.when(returned, _between("last_seen_at", "rejoined_at"))
    # The successor of a warm handover was there before: nothing was silent.
    silence_s = F.when(F.col("mode") == "WarmHandover", F.greatest(silence_s, F.lit(0.0))).otherwise(silence_s)
    with_it = restarts.withColumn("silence_s", silence_s)
    away_s = F.when(returned, F.col("silence_s")).otherwise(_between("last_seen_at", "told_at"))
    return with_it.withColumn("observed_away_s", away_s)


def _is_known(name: str) -> Column:
    there = _field(name).isNotNull()
    return there & (_field(name) != _SAYS_NOTHING[name].value) if name in _SAYS_NOTHING else there


def _between(first: str, second: str) -> Column:
    return F.col(second).cast("double") - F.col(first).cast("double")


def _field(name: str) -> Column:
    return F.col("body")[name]
