"""Where telemetry comes from: a Kafka topic, or a folder of files; rows of RAW, as a table or as a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from slackwater.pipeline.schemas import RAW, SOURCE

FILES_A_BATCH: Final = 1000
RECORDS_A_BATCH: Final = 1_000_000
FILE_NAMES: Final = "*.jsonl*"
HOWEVER_OLD: Final = "36500d"
"""Spark passes over files that are seven days older than the newest, and says nothing: copies that kept their times, a
backup that was brought back, another operator's folder."""


@dataclass(frozen=True, slots=True)
class Topic:
    """`options`: further ones of Spark's Kafka source; those of Kafka's own consumer begin with `kafka.`."""

    bootstrap_servers: str
    name: str
    starting_offsets: str = "earliest"
    records_a_batch: int = RECORDS_A_BATCH
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"the topic {self.name} of {self.bootstrap_servers}"


@dataclass(frozen=True, slots=True)
class Files:
    """A folder, with those below it, whose files `*.jsonl` (or `.jsonl.gz`) hold one event a line.

    As a stream, a file is read once, when it is first seen: it must be whole then. The operator writes under a name
    that begins with a dot, which Spark passes over, and renames the file when it is done.
    """

    path: str
    files_a_batch: int = FILES_A_BATCH

    def __str__(self) -> str:
        return f"the folder {self.path}"


Source = Topic | Files


def as_table(spark: SparkSession, source: Source) -> DataFrame:
    """All that is there now: RAW."""
    if isinstance(source, Topic):
        options = _options(source)
        options.pop("failOnDataLoss", None)  # of streams only
        return _records(spark.read.format("kafka").options(**options).load())
    return _lines(spark.read.options(**_FILE_OPTIONS).text(source.path))


def as_stream(spark: SparkSession, source: Source) -> DataFrame:
    """What is there and what comes: RAW."""
    if isinstance(source, Topic):
        options = {"maxOffsetsPerTrigger": str(source.records_a_batch)} | _options(source)
        return _records(spark.readStream.format("kafka").options(**options).load())
    options = {"maxFilesPerTrigger": str(source.files_a_batch), "maxFileAge": HOWEVER_OLD}
    reader = spark.readStream.options(**_FILE_OPTIONS, **options)
    return _lines(reader.text(source.path))


_FILE_OPTIONS: Final = {"recursiveFileLookup": "true", "pathGlobFilter": FILE_NAMES}


def _options(topic: Topic) -> dict[str, str]:
    return {
        "kafka.bootstrap.servers": topic.bootstrap_servers,
        "subscribe": topic.name,
        "startingOffsets": topic.starting_offsets,
        # Spark asks four times; the client's own minute each would be long to wait for "the brokers did not answer".
        "kafka.default.api.timeout.ms": "15000",
        "kafka.request.timeout.ms": "10000",
        **topic.options,
    }


def _records(records: DataFrame) -> DataFrame:
    # A cast of bytes to text keeps the bytes, so that what is not UTF-8 is seen and refused.
    return _raw(
        records, F.col("value").cast("string"), F.col("topic"), F.col("partition"), F.col("offset"), F.col("timestamp")
    )


def _lines(lines: DataFrame) -> DataFrame:
    written = F.col("_metadata.file_modification_time")
    blank = F.trim("value") == ""
    return _raw(lines.where(~blank), F.col("value"), F.col("_metadata.file_path"), F.lit(None), F.lit(None), written)


def _raw(rows: DataFrame, text: Column, *source: Column) -> DataFrame:
    named = (column.cast(of.dataType).alias(of.name) for column, of in zip(source, SOURCE.fields, strict=True))
    return rows.select(text.alias("raw"), *named).select(*RAW.names)
