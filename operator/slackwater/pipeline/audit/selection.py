"""Which records of the offsets topic the histories are made of, chosen by Spark alone: commits never reach Python.

Column expressions over `key` and `value`. A source is any DataFrame of SOURCE_COLUMNS.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from slackwater.pipeline.audit.layouts import COMMITS_WITH_TOPIC_ID_SINCE, GROUP_RECORDS, KeyType

SOURCE_COLUMNS: Final = ("partition", "offset", "at_ms", "key", "value")
RECORD_COLUMNS: Final = ("group_key", "turn", *SOURCE_COLUMNS)
"""`group_key`: the group's id as bytes; `turn`: 0 for what names topics, 1 for the history."""
_UUID_BYTES: Final = 16


def records_of_groups(source: DataFrame) -> DataFrame:
    """RECORD_COLUMNS: each group's records in one place and in order, the names of its topics first.

    All records of a group stand in one partition of the topic, so that offset order is the order of events.
    """
    return (
        _naming(source)
        .unionByName(_history(source))
        .repartition("group_key")
        .sortWithinPartitions("group_key", "turn", "partition", "offset")
    )


def count_by_key_type(source: DataFrame) -> DataFrame:
    """`key_type` (null where there is none), `records`, `tombstones`, `oldest_ms`, `newest_ms`: a row for each."""
    return source.groupBy(key_type().alias("key_type")).agg(
        F.count("*").alias("records"),
        F.count_if(F.col("value").isNull()).alias("tombstones"),
        F.min("at_ms").alias("oldest_ms"),
        F.max("at_ms").alias("newest_ms"),
    )


def key_type() -> Column:
    """The number that the key begins with; null for a key that is too short for one."""
    return F.when(F.length("key") >= 2, _int16(F.col("key"), 1))


def _history(source: DataFrame) -> DataFrame:
    first, last = int(min(GROUP_RECORDS)), int(max(GROUP_RECORDS))
    of_groups = key_type().isNull() | key_type().between(first, last)
    return source.filter(of_groups).select(_group_key().alias("group_key"), F.lit(1).alias("turn"), *SOURCE_COLUMNS)


def _naming(source: DataFrame) -> DataFrame:
    """One offset commit for each group, topic and topic id, which a commit of this version ends with."""
    names = (key_type() == int(KeyType.OFFSET_COMMIT)) & (_int16(F.col("value"), 1) >= COMMITS_WITH_TOPIC_ID_SINCE)
    newest = F.max_by(F.struct(*SOURCE_COLUMNS), F.col("offset")).alias("commit")
    topic_id = F.substring(F.col("value"), -_UUID_BYTES, _UUID_BYTES)
    return (
        source.filter(names)
        .groupBy(_group_key().alias("group_key"), _topic_key().alias("topic"), topic_id.alias("topic_id"))
        .agg(newest)
        .select("group_key", F.lit(0).alias("turn"), "commit.*")
    )


def _group_key() -> Column:
    """The first text of the key. Whatever a damaged key gives here, its decoder will refuse it."""
    return F.substring(F.col("key"), F.lit(5), _int16(F.col("key"), 3))


def _topic_key() -> Column:
    """The second text of an offset commit's key."""
    at = _int16(F.col("key"), 3) + 5
    return F.substring(F.col("key"), at + 2, _int16(F.col("key"), at))


def _int16(content: Column, position: int | Column) -> Column:
    """The two bytes from `position` (counted from 1) on as a signed number."""
    at = F.lit(position) if isinstance(position, int) else position
    unsigned = F.conv(F.hex(F.substring(content, at, F.lit(2))), 16, 10).cast("int")
    return F.when(unsigned > 0x7FFF, unsigned - 0x10000).otherwise(unsigned)
