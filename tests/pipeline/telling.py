"""Events as operators write them, for tests: JSON texts of a small fleet's day, and rows as a source gives them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from slackwater.pipeline.schemas import EVENTS, RAW, SOURCE
from tests.api.telemetry_examples import EXAMPLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOON: Final = datetime(2026, 1, 31, 12, tzinfo=UTC)
RECORDED: Final = datetime(2026, 2, 1, tzinfo=UTC)


def at(seconds: float) -> str:
    """The moment that many seconds after noon, as it is written."""
    return (NOON + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def event(kind: str, id: str = "1", at_s: float = 0.0, body: Mapping[str, Any] | None = None, **envelope: Any) -> str:  # noqa: A002 - the field's own name
    """An event of that type: the example with changes."""
    example = EXAMPLES[kind]
    told = example | {"id": id, "at": at(at_s)} | envelope | {kind: example[kind] | dict(body or {})}
    return json.dumps(told)


def restart(id: str, at_s: float, body: Mapping[str, Any], **envelope: Any) -> str:  # noqa: A002 - as above
    """A telling of the restart e1, of which nothing is known but what is given."""
    unknown = dict.fromkeys(("last_seen_at", "stopped_at", "started_at", "ready_at", "rejoined_at", "evicted"))
    return event("member_restarted", id, at_s, {**unknown, "episode": "e1", **body}, **envelope)


def a_day(groups: int = 3, seed: int = 7) -> list[str]:
    """Events of every type, of several groups, in the order in which they happened."""
    chance = random.Random(seed)
    told: list[tuple[float, str]] = []
    for number in range(groups):
        who: dict[str, Any] = {"name": f"group-{number}", "group_id": f"group-{number}"}
        for step in range(4):
            moment = chance.uniform(0, 80_000)
            label = f"{number}-{step}"
            away_s = chance.uniform(1, 90)
            seen = {"episode": f"e{label}", "last_seen_at": at(moment), "stopped_at": at(moment)}
            back = {"rejoined_at": at(moment + away_s), "outcome": "Returned"}
            told += [
                (moment, event("group_observed", f"g{label}", moment, {"lag": step}, **who)),
                (moment + 1, restart(f"r{label}", moment + 1, seen | {"outcome": "Away"}, **who)),
                (moment + 99, restart(f"s{label}", moment + 99, seen | back, **who)),
                (moment, event("poll_observed", f"p{label}", moment, **who)),
                (moment, event("rebalance", f"b{label}", moment, **who)),
                (moment, event("gate_held", f"h{label}", moment, {"since": at(moment - 9)}, **who)),
                (moment, event("settings_changed", f"c{label}", moment, **who)),
                (moment, event("turn", f"t{label}", moment, {"turn": label}, **who)),
            ]
    return [text for _, text in sorted(told)]


def raw(spark: SparkSession, texts: Iterable[str | None]) -> DataFrame:
    """The texts as records of a topic, recorded at RECORDED."""
    rows = [(text, "telemetry", 0, offset, RECORDED) for offset, text in enumerate(texts)]
    return spark.createDataFrame(rows, RAW)


def events(spark: SparkSession, texts: Iterable[str]) -> DataFrame:
    """The bronze events of well-formed texts, without the trouble of judging them."""
    read = F.from_json("raw", StructType([field for field in EVENTS if field.name not in (*SOURCE.names, "day")]))
    opened = raw(spark, texts).select(read.alias("event"), *SOURCE.names).select("event.*", *SOURCE.names)
    return opened.withColumn("day", F.to_date("at")).select(*EVENTS.names)
