"""What similar groups have in common: those of one client library and namespace, and those of one library.

A pool is a sum over groups, of a fixed number of counts (`statistics.pool`). Each group gives its share as whole
numbers, in millionths of a restart, so that the sum is the same in whatever order it is added up, and a group can be
taken out of the pool that it borrows from.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

SHARES: Final = StructType(
    [
        *(StructField(name, StringType()) for name in ("namespace", "library")),
        StructField("bin", IntegerType()),
        *(StructField(name, LongType()) for name in ("returned", "censored", "groups", "restarts")),
    ]
)
"""One row for each bin that a group has something in, and one without a bin for the group itself."""


def pooled_shares(shares: DataFrame) -> DataFrame:
    """SHARES, added up over the groups of one library and namespace. Takes SHARES."""
    return _summed(shares, "namespace", "library")


def with_pools(histories: DataFrame, pooled: DataFrame) -> DataFrame:
    """Histories with `namespace_pool` and `library_pool`, each struct<bins, groups, restarts> or null.

    `pooled` is what `pooled_shares` gives, and is read twice.
    """
    nearest = _pools(pooled, "namespace", "library").withColumnRenamed("pool", "namespace_pool")
    wider = _pools(_summed(pooled, "library"), "library").withColumnRenamed("pool", "library_pool")
    near = histories.join(F.broadcast(nearest), on=["namespace", "library"], how="left")
    return near.join(F.broadcast(wider), on="library", how="left")


def _summed(shares: DataFrame, *by: str) -> DataFrame:
    sums = [F.sum(name).alias(name) for name in ("returned", "censored", "groups", "restarts")]
    return shares.groupBy(*by, "bin").agg(*sums)


def _pools(summed: DataFrame, *by: str) -> DataFrame:
    bins = F.sort_array(F.collect_list(_bin()))
    pool = F.struct(bins.alias("bins"), F.sum("groups").alias("groups"), F.sum("restarts").alias("restarts"))
    return summed.groupBy(*by).agg(pool.alias("pool"))


def _bin() -> Column:
    return F.when(F.col("bin").isNotNull(), F.struct("bin", "returned", "censored"))
