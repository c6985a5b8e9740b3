"""What an audit found, together with what earlier ones found: of other clusters, and of this one.

Kafka's compaction takes from the topic what an earlier audit has read, in the end all of a group but its newest
generation. So rows stay that are found no longer, and of a row that both know, that one stays which knows what came
before it; else the newer.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from slackwater.pipeline.tables import Table

_RECORD: Final = ("cluster", "group_id", "source_partition", "source_offset")
_MEMBER: Final = ("cluster", "group_id", "group_type", "member_id")
_SAME: Final = {
    Table.AUDIT_GENERATIONS: _RECORD,
    Table.AUDIT_REBALANCES: _RECORD,
    Table.AUDIT_MEMBERS: (*_MEMBER, "joined_at"),
    Table.AUDIT_QUARANTINE: (*_RECORD, "reason", "detail"),
}
"""What makes two rows of a table the same one."""
_KNOWS_BEFORE: Final = {
    Table.AUDIT_GENERATIONS: "unrecorded_before",
    Table.AUDIT_REBALANCES: "from_generation",
}


def merged(table: Table, earlier: DataFrame, found: DataFrame) -> DataFrame:
    """Rows of both, each once, with the columns of `found`."""
    columns = found.columns
    both = earlier.select(*columns, F.lit(False).alias("newer")).unionByName(
        found.select(*columns, F.lit(True).alias("newer"))
    )
    if table is Table.AUDIT_MEMBERS:
        both = _without_half_known(both)
    best_first = Window.partitionBy(*_SAME[table]).orderBy(F.desc(_knows_before(table)), F.desc("newer"))
    ranked = both.withColumn("rank", F.row_number().over(best_first))
    return ranked.where(F.col("rank") == 1).select(*columns)


def _knows_before(table: Table) -> Column:
    name = _KNOWS_BEFORE.get(table)
    return F.lit(False) if name is None else F.col(name).isNotNull()


def _without_half_known(stays: DataFrame) -> DataFrame:
    """Without those of which it is no longer known when they began, where an earlier audit knew."""
    of_member = Window.partitionBy(*_MEMBER)
    begun = F.col("joined_at").isNotNull()
    marked = stays.withColumn("known", F.max(begun).over(of_member))
    return marked.where(begun | ~F.col("known")).drop("known")
