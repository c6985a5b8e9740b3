"""What the audit's tables are made of: Spark's schemas, and how a row of the history becomes a row of Arrow.

Inside the fold a row is one of four kinds in one schema, since a function of Spark's gives one table; times are
milliseconds there. The tables of the lake are cut out of it by `tables_of`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from slackwater.pipeline.audit.errors import Undecodable
from slackwater.pipeline.audit.facts import Member, Partitions, Position
from slackwater.pipeline.audit.rows import Generation, Rebalance, Row, Stay
from slackwater.pipeline.tables import Table

SHOWN_BYTES: Final = 512
"""How much of a refused key or value is kept."""

_TEXTS: Final = ArrayType(StringType())


def _struct(**fields: Any) -> StructType:
    return StructType([StructField(name, kind) for name, kind in fields.items()])


MEMBER: Final = _struct(
    member_id=StringType(),
    instance_id=StringType(),
    client_id=StringType(),
    client_host=StringType(),
    session_timeout_ms=IntegerType(),
    rebalance_timeout_ms=IntegerType(),
    subscription=_TEXTS,
    partitions=_TEXTS,
)
_GENERATION: Final = _struct(
    at_ms=LongType(),
    generation=IntegerType(),
    group_type=StringType(),
    protocol_type=StringType(),
    assignor=StringType(),
    leader=StringType(),
    members=ArrayType(MEMBER),
    unrecorded_before=IntegerType(),
    source_partition=IntegerType(),
    source_offset=LongType(),
)
_REBALANCE: Final = _struct(
    at_ms=LongType(),
    from_generation=IntegerType(),
    to_generation=IntegerType(),
    group_type=StringType(),
    assignor=StringType(),
    members_before=IntegerType(),
    members_after=IntegerType(),
    joined=IntegerType(),
    left=IntegerType(),
    returned=IntegerType(),
    partitions_moved=IntegerType(),
    duration_ms=LongType(),
    cause=StringType(),
    source_partition=IntegerType(),
    source_offset=LongType(),
)
_STAY: Final = _struct(
    group_type=StringType(),
    member=MEMBER,
    joined_at_ms=LongType(),
    left_at_ms=LongType(),
    returned=BooleanType(),
)
_REFUSED: Final = _struct(
    at_ms=LongType(),
    reason=StringType(),
    detail=StringType(),
    key_hex=StringType(),
    value_hex=StringType(),
    source_partition=IntegerType(),
    source_offset=LongType(),
)
FOLDED: Final = _struct(
    group_id=StringType(), generation=_GENERATION, rebalance=_REBALANCE, stay=_STAY, refused=_REFUSED
)
"""What the fold gives: of the four structs one is there in each row."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A record, or a part of one, that could not be read."""

    position: Position
    error: Undecodable
    key: bytes | None
    value: bytes | None


def folded(group_id: str, row: Row | Refused) -> dict[str, Any]:
    """The row as the fold gives it."""
    match row:
        case Generation():
            return {"group_id": group_id, "generation": _generation(row)}
        case Rebalance():
            return {"group_id": group_id, "rebalance": _rebalance(row)}
        case Stay():
            return {"group_id": group_id, "stay": _stay(row)}
        case Refused():
            return {"group_id": group_id, "refused": _refused(row)}


def tables_of(rows: DataFrame, cluster: str) -> dict[Table, DataFrame]:
    """The tables of the lake, out of what the fold gave."""
    of_group = (F.lit(cluster).alias("cluster"), F.col("group_id"))
    moment = _time("at")

    def cut(struct: str, *columns: Column | str) -> DataFrame:
        chosen = rows.filter(F.col(struct).isNotNull()).select("group_id", f"{struct}.*")
        return chosen.select(*of_group, *columns)

    duration = (F.col("duration_ms") / 1000).alias("duration_s")
    return {
        Table.AUDIT_GENERATIONS: cut("generation", moment, *_GENERATION.names[1:]),
        Table.AUDIT_REBALANCES: cut(
            "rebalance", moment, *(duration if name == "duration_ms" else name for name in _REBALANCE.names[1:])
        ),
        Table.AUDIT_MEMBERS: cut(
            "stay", "group_type", "member.*", _time("joined_at"), _time("left_at"), F.col("returned")
        ),
        Table.AUDIT_QUARANTINE: cut("refused", moment, *_REFUSED.names[1:]),
    }


def _time(name: str) -> Column:
    return F.timestamp_millis(F.col(f"{name}_ms")).alias(name)


def _generation(row: Generation) -> dict[str, Any]:
    return {
        "at_ms": row.position.at_ms,
        "generation": row.generation,
        "group_type": row.group_type.value,
        "protocol_type": row.protocol_type,
        "assignor": row.assignor,
        "leader": row.leader,
        "members": [_member(each) for each in row.members],
        "unrecorded_before": row.unrecorded_before,
        **_source(row.position),
    }


def _rebalance(row: Rebalance) -> dict[str, Any]:
    return {
        "at_ms": row.position.at_ms,
        "from_generation": row.from_generation,
        "to_generation": row.to_generation,
        "group_type": row.group_type.value,
        "assignor": row.assignor,
        "members_before": row.members_before,
        "members_after": row.members_after,
        "joined": row.joined,
        "left": row.left,
        "returned": row.returned,
        "partitions_moved": row.partitions_moved,
        "duration_ms": row.duration_ms,
        "cause": row.cause.value,
        **_source(row.position),
    }


def _stay(row: Stay) -> dict[str, Any]:
    return {
        "group_type": row.group_type.value,
        "member": _member(row.member),
        "joined_at_ms": row.joined_at_ms,
        "left_at_ms": row.left_at_ms,
        "returned": row.returned,
    }


def _refused(row: Refused) -> dict[str, Any]:
    return {
        "at_ms": row.position.at_ms,
        "reason": row.error.reason.value,
        "detail": row.error.detail,
        "key_hex": _hex(row.key),
        "value_hex": _hex(row.value),
        **_source(row.position),
    }


def _member(member: Member) -> dict[str, Any]:
    return {
        "member_id": member.member_id,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "client_host": member.client_host,
        "session_timeout_ms": member.session_timeout_ms,
        "rebalance_timeout_ms": member.rebalance_timeout_ms,
        "subscription": list(member.subscription),
        "partitions": None if member.partitions is None else _texts(member.partitions),
    }


def _texts(partitions: Partitions) -> list[str]:
    return [f"{topic}-{number}" for topic, number in sorted(partitions)]


def _source(position: Position) -> dict[str, int]:
    return {"source_partition": position.partition, "source_offset": position.offset}


def _hex(content: bytes | None) -> str | None:
    return None if content is None else content[:SHOWN_BYTES].hex()
