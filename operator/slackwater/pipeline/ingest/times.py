"""Moments that cannot be: an event that holds one is of no use to statistics of durations, however well formed."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from slackwater.pipeline.ingest.fields import problem
from slackwater.pipeline.ingest.rules import Reason
from slackwater.pipeline.schemas import BODIES, MOMENT

EARLIEST: Final = "2000-01-01 00:00:00"
LATEST: Final = "2100-01-01 00:00:00"
AHEAD_AT_MOST: Final = "INTERVAL 1 DAY"
"""How far the clock that dated an event may be ahead of the one that dated its record. Both are data: to judge by the
clock of the machine that reads would give another verdict on another day."""

_IN_ORDER: Final = {
    "member_restarted": (("last_seen_at", "stopped_at"),),
    "rebalance": (("started_at", "ended_at"),),
    "gate_held": (("since", "until"),),
    "turn": (("given_at", "ended_at"),),
}
"""Pairs of fields of which the first cannot be later than the second."""
_IN_ORDER_UNLESS_HANDED_OVER: Final = (
    ("last_seen_at", "rejoined_at"),
    ("stopped_at", "started_at"),
    ("stopped_at", "rejoined_at"),
    ("started_at", "ready_at"),
)
"""Of a restart. In a warm handover the successor is there before its predecessor stops (F37)."""


def impossible_times(at: Column, source_at: Column) -> Column:
    """What is impossible about an event's times, as struct<reason, detail>; null when nothing is.

    Takes the columns named after the types as their bodies.
    """
    checks = [
        _outside("at", at),
        F.when(
            at > source_at + F.expr(AHEAD_AT_MOST),
            _told("at", at, " is more than a day after it was recorded,", source_at),
        ),
    ]
    for name, struct in BODIES.items():
        checks += [F.when(F.col(name).isNotNull(), each) for each in _of_body(name, struct)]
    return F.coalesce(*checks)


def _of_body(name: str, struct: StructType) -> list[Column]:
    moments = [field.name for field in struct.fields if field.dataType == MOMENT]
    body = F.col(name)
    checks = [_outside(f"{name}.{each}", body[each]) for each in moments]
    checks += [out_of_order(name, body, *pair) for pair in _IN_ORDER.get(name, ())]
    if name == "member_restarted":
        checks.append(out_of_order_restart(body))
    return checks


def out_of_order_restart(restart: Column) -> Column:
    """What is impossible about the order of one restart's times; null when nothing is."""
    checks = [out_of_order("member_restarted", restart, *pair) for pair in _IN_ORDER_UNLESS_HANDED_OVER]
    return F.when(restart["mode"] != "WarmHandover", F.coalesce(*checks))


def out_of_order(prefix: str, of: Column, first: str, second: str) -> Column:
    return F.when(of[first] > of[second], _told(f"{prefix}.{first}", of[first], f" is after {second},", of[second]))


def _outside(name: str, moment: Column) -> Column:
    outside = (moment < F.lit(EARLIEST).cast("timestamp")) | (moment >= F.lit(LATEST).cast("timestamp"))
    return F.when(outside, problem(Reason.IMPOSSIBLE_TIMES, f"{name} is ", _written(moment)))


def _told(name: str, moment: Column, relation: str, other: Column) -> Column:
    return problem(Reason.IMPOSSIBLE_TIMES, f"{name}, ", _written(moment), f",{relation} ", _written(other))


def _written(moment: Column) -> Column:
    return F.date_format(moment, "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")
