"""The ingest job: two streaming queries over one source, one for each bronze table.

Each is a native file sink with a checkpoint of its own: what a batch wrote counts when the sink's log says so, and a
batch that a crash cut short is written again. So every record is in exactly one of the tables, once, however often the
job is killed and started again. What is read twice for that is small beside what it is good for.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery

from slackwater.pipeline.failures import all_said, in_sentences, told
from slackwater.pipeline.ingest.bronze import accepted, judge, refused
from slackwater.pipeline.ingest.rules import Reason
from slackwater.pipeline.ingest.source import Source, as_stream
from slackwater.pipeline.interrupts import interrupts_noted
from slackwater.pipeline.progress import tell
from slackwater.pipeline.tables import Table, checkpoint_of, path_of

_LOOK_EVERY_S: Final = 1
_ACCEPTED: Final = "events"


@dataclass(frozen=True, slots=True)
class Options:
    """`every_s`: seconds between batches, for ever; None: take what is there, and end."""

    source: Source
    lake: str
    every_s: float | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """What this run wrote. `refused` has only the reasons that there were."""

    accepted: int
    refused: dict[Reason, int]

    def __str__(self) -> str:
        kinds = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.refused.items()))
        return f"{self.accepted:,} events, {sum(self.refused.values()):,} in quarantine" + (
            f" ({kinds})" if kinds else ""
        )


def run(spark: SparkSession, options: Options) -> Summary:
    """Take the source's records into the lake. Raises SourceUnreadable, LakeUnusable or JobFailed.

    Ctrl-C ends it in order, as KeyboardInterrupt.
    """
    count = _Count()
    source, lake = str(options.source), f"the lake {options.lake}"
    with in_sentences(source, options.lake), interrupts_noted() as interrupted:
        judged = judge(as_stream(spark, options.source))
        queries = [
            _started(_counted_events(accepted(judged)), Table.EVENTS, options),
            _started(_counted_refusals(refused(judged)), Table.QUARANTINE, options),
        ]
        try:
            while any(query.isActive for query in queries) and not interrupted.is_set():
                for query in queries:
                    query.awaitTermination(_LOOK_EVERY_S)
                    count.look(query)
                    if (error := query.exception()) is not None:
                        raise told(all_said(error), source, lake) from error
        finally:
            for query in queries:
                query.stop()
    for query in queries:
        count.look(query)
    return count.summary


def _started(rows: DataFrame, table: Table, options: Options) -> StreamingQuery:
    writer = rows.writeStream.queryName(table.replace("/", "_")).format("parquet").partitionBy("day")
    writer = writer.option("checkpointLocation", checkpoint_of(options.lake, f"ingest-{table.replace('/', '-')}"))
    if options.every_s is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{options.every_s} seconds")
    return writer.start(path_of(options.lake, table))


def _counted_events(events: DataFrame) -> DataFrame:
    return events.observe("counted", F.count(F.lit(1)).alias(_ACCEPTED))


def _counted_refusals(quarantine: DataFrame) -> DataFrame:
    def of(reason: Reason) -> Column:
        return F.count_if(F.col("reason") == reason.value).alias(reason.value)

    return quarantine.observe("counted", *map(of, Reason))


class _Count:
    """Adds up what the batches of both queries report, and tells of each."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._total: Counter[str] = Counter()

    @property
    def summary(self) -> Summary:
        refused_ = {reason: self._total[reason.value] for reason in Reason if self._total[reason.value]}
        return Summary(self._total[_ACCEPTED], refused_)

    def look(self, query: StreamingQuery) -> None:
        """Take in the batches that were done since the last look."""
        for progress in query.recentProgress:
            if progress.batchId > self._seen.get(str(query.id), -1) and progress.numInputRows:
                self._seen[str(query.id)] = progress.batchId
                self._take(query.name, progress)

    def _take(self, name: str, progress: StreamingQueryProgress) -> None:
        observed = progress.observedMetrics.get("counted")
        counts = {} if observed is None else {key: value for key, value in observed.asDict().items() if value}
        self._total.update(counts)
        seconds = progress.durationMs.get("triggerExecution", 0) / 1000
        what = ", ".join(f"{value:,} {key}" for key, value in counts.items()) or "nothing to write"
        tell(f"{name}: batch {progress.batchId} of {progress.numInputRows:,} records in {seconds:.1f} s: {what}")
