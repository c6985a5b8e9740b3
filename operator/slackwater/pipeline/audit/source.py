"""Where the records come from: `__consumer_offsets` of a cluster, or a copy of it in Parquet.

Of the cluster one exact stretch is read (from the first offset to the last at the start), as often as needed: the topic
grows while it is read, and all tables are to be of one moment. The broker is asked for it with the Kafka client that
Spark's connector brings, in the driver's Java; this package has no Kafka client of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from slackwater.pipeline.audit.complaints import GROUP_PREFIX, TOPIC, kafka_errors
from slackwater.pipeline.audit.selection import SOURCE_COLUMNS
from slackwater.pipeline.errors import SourceUnreadable

LISTS_INTERNAL_TOPICS: Final = {"spark.sql.streaming.kafka.useDeprecatedOffsetFetching": "true"}
"""Without it Spark's Kafka source gives no record of an internal topic, and says nothing (F44)."""
_ANSWER_WITHIN_S: Final = 60
_DUMP_COLUMNS: Final = ("partition", "offset", "timestamp", "key", "value")


@dataclass(frozen=True, slots=True)
class Stretch:
    """What of the topic is read: for each partition the first offset and the one after the last."""

    cluster: str
    beginning: Mapping[int, int]
    end: Mapping[int, int]

    @property
    def is_empty(self) -> bool:
        return all(self.end[partition] <= first for partition, first in self.beginning.items())


def stretch_of_topic(spark: SparkSession, servers: str, options: Mapping[str, str]) -> Stretch:
    """Ask the cluster. `options`: Spark's, with `kafka.` before the client's. Raises SourceUnreadable."""
    jvm = _java(spark)
    properties = jvm.java.util.Properties()
    properties.setProperty("bootstrap.servers", servers)
    for name, value in options.items():
        if name.startswith("kafka."):
            properties.setProperty(name.removeprefix("kafka."), value)
    with kafka_errors(servers):
        admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(properties)
        try:
            return _ask(jvm, admin)
        finally:
            admin.close()


def records_of_topic(spark: SparkSession, servers: str, options: Mapping[str, str], stretch: Stretch) -> DataFrame:
    """SOURCE_COLUMNS of that stretch. To be computed within `settings(spark, LISTS_INTERNAL_TOPICS)`."""
    own = {"groupIdPrefix": GROUP_PREFIX, **options}
    reader = spark.read.format("kafka").options(**own).option("kafka.bootstrap.servers", servers)
    rows = (
        reader.option("assign", json.dumps({TOPIC: sorted(stretch.beginning)}))
        .option("startingOffsets", _offsets(stretch.beginning))
        .option("endingOffsets", _offsets(stretch.end))
        .load()
    )
    return rows.select("partition", "offset", _milliseconds("timestamp"), "key", "value")


def records_of_dump(spark: SparkSession, path: str) -> DataFrame:
    """SOURCE_COLUMNS of a copy: Parquet with partition, offset, timestamp (or milliseconds), and binary key and value.

    Raises SourceUnreadable.
    """
    try:
        rows = spark.read.parquet(path)
    except AnalysisException as error:
        raise SourceUnreadable(f"there is no Parquet at {path} to read a copy of {TOPIC} from") from error
    if missing := [name for name in _DUMP_COLUMNS if name not in rows.columns]:
        raise SourceUnreadable(
            f"{path} is no copy of {TOPIC}: it lacks {', '.join(missing)}. Write {', '.join(_DUMP_COLUMNS)}, as"
            " Spark's Kafka source names them"
        )
    is_time = isinstance(rows.schema["timestamp"].dataType, TimestampType)
    at_ms = _milliseconds("timestamp") if is_time else F.col("timestamp").cast("long").alias("at_ms")
    binary = [F.col(name).cast("binary").alias(name) for name in ("key", "value")]
    numbers = (F.col("partition").cast("int").alias("partition"), F.col("offset").cast("long").alias("offset"))
    return rows.select(*numbers, at_ms, *binary).select(*SOURCE_COLUMNS)


@contextmanager
def settings(spark: SparkSession, chosen: Mapping[str, str]) -> Iterator[None]:
    """Spark's settings for the body only: the session may be another's."""
    before: dict[str, str | None] = {name: spark.conf.get(name, None) for name in chosen}
    for name, value in chosen.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, former in before.items():
            if former is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, former)


def _java(spark: SparkSession) -> Any:
    return spark.sparkContext._jvm  # noqa: SLF001 - pyspark's own way to Java has no public name


def _ask(jvm: Any, admin: Any) -> Stretch:
    cluster = _answer(jvm, admin.describeCluster().clusterId())
    names = jvm.java.util.Collections.singletonList(TOPIC)
    described = _answer(jvm, admin.describeTopics(names).allTopicNames()).get(TOPIC)
    partitions = [info.partition() for info in described.partitions()]
    if not partitions:
        raise SourceUnreadable(f"the broker names no partition of {TOPIC}, so nothing can be read: ask again later")
    spec = jvm.org.apache.kafka.clients.admin.OffsetSpec
    beginning = _listed(jvm, admin, partitions, spec.earliest())
    end = _listed(jvm, admin, partitions, spec.latest())
    return Stretch(cluster or "", beginning, end)


def _listed(jvm: Any, admin: Any, partitions: list[int], which: Any) -> dict[int, int]:
    asked = jvm.java.util.HashMap()
    of = {number: jvm.org.apache.kafka.common.TopicPartition(TOPIC, number) for number in partitions}
    for partition in of.values():
        asked.put(partition, which)
    answer = _answer(jvm, admin.listOffsets(asked).all())
    return {number: answer.get(partition).offset() for number, partition in of.items()}


def _answer(jvm: Any, future: Any) -> Any:
    return future.get(_ANSWER_WITHIN_S, jvm.java.util.concurrent.TimeUnit.SECONDS)


def _offsets(by_partition: Mapping[int, int]) -> str:
    return json.dumps({TOPIC: {str(partition): offset for partition, offset in sorted(by_partition.items())}})


def _milliseconds(name: str) -> Column:
    return F.unix_millis(name).alias("at_ms")
