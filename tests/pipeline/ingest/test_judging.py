"""What is an event and what is none, and why: against a table, and against the models that operators write by."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pyspark.sql import functions as F

from slackwater.api.telemetry.events import read_line
from slackwater.pipeline.ingest.bronze import accepted, judge, malformation, refused
from slackwater.pipeline.ingest.rules import Reason
from slackwater.pipeline.schemas import BODIES, EVENTS, QUARANTINE
from tests.api.telemetry_examples import EXAMPLES
from tests.pipeline.telling import at, event, raw, restart

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLL = EXAMPLES["poll_observed"]
REFUSED: dict[str | None, tuple[str, str]] = {
    None: ("NotJson", "the record has no value"),
    "": ("NotJson", "the record is not one JSON value"),
    "hello": ("NotJson", "the record is not one JSON value"),
    '{"schema": 1': ("NotJson", "the record is not one JSON value"),
    json.dumps(POLL) + json.dumps(POLL): ("NotJson", "the record is not one JSON value"),
    json.dumps(POLL) + "," + json.dumps(POLL): ("NotJson", "the record is not one JSON value"),
    json.dumps(POLL) + ' {"schema"': ("NotJson", "the record is not one JSON value"),
    '{"schema": 1, "schema": 1}': ("NotJson", "the record is not one JSON value"),
    "[1]": ("NoEnvelope", "it is JSON, but no object"),
    "7": ("NoEnvelope", "it is JSON, but no object"),
    "null": ("NoEnvelope", "it is JSON, but no object"),
    '{"kind": "ConsumerGroup"}': ("NoEnvelope", "it is an object, but has neither schema nor type"),
    json.dumps(POLL | {"schema": 2, "id": 7}): ("FutureSchema", "its schema is 2, the newest known here 1"),
    json.dumps(POLL | {"schema": 0}): ("WrongType", "schema is 0 where 1 is the first"),
    json.dumps(POLL | {"type": "weather"}): ("UnknownType", "there is no type weather"),
    json.dumps({name: value for name, value in POLL.items() if name != "id"}): ("MissingField", "id is missing"),
    json.dumps(POLL | {"poll_observed": None}): ("MissingField", "poll_observed is missing"),
    json.dumps(POLL | {"poll_observed": []}): ("WrongType", "poll_observed is no object"),
    event("poll_observed", body={"pod": None}): ("MissingField", "poll_observed.pod is missing"),
    event("poll_observed", body={"pod": 5}): ("WrongType", "poll_observed.pod is 5 where text is to be"),
    event("poll_observed", body={"window_s": "60"}): (
        "WrongType",
        "poll_observed.window_s is 60 where a number of 0 or more is to be",
    ),
    event("poll_observed", body={"poll_idle_ratio_avg": 1.5}): (
        "WrongType",
        "poll_observed.poll_idle_ratio_avg is 1.5 where a number of 0 or more, at most 1.0 is to be",
    ),
    event("poll_observed", body={"source": "Go"}): (
        "WrongType",
        "poll_observed.source is Go where one of Java, Micrometer, Librdkafka is to be",
    ),
    event("poll_observed", at_s=0).replace("2026-01-31T12", "1999-01-31T12"): (
        "ImpossibleTimes",
        "at is 1999-01-31T12:00:00.000Z",
    ),
    event("poll_observed", at_s=86_400 * 2): (
        "ImpossibleTimes",
        "at, 2026-02-02T12:00:00.000Z, is more than a day after it was recorded, 2026-02-01T00:00:00.000Z",
    ),
    restart("1", 9, {"outcome": "Away", "last_seen_at": at(5), "stopped_at": at(4)}): (
        "ImpossibleTimes",
        "member_restarted.last_seen_at, 2026-01-31T12:00:05.000Z, is after stopped_at, 2026-01-31T12:00:04.000Z",
    ),
    restart("1", 9, {"outcome": "Returned", "stopped_at": at(5), "rejoined_at": at(4)}): (
        "ImpossibleTimes",
        "member_restarted.stopped_at, 2026-01-31T12:00:05.000Z, is after rejoined_at, 2026-01-31T12:00:04.000Z",
    ),
    event("rebalance", body={"started_at": at(5), "ended_at": at(4)}): (
        "ImpossibleTimes",
        "rebalance.started_at, 2026-01-31T12:00:05.000Z, is after ended_at, 2026-01-31T12:00:04.000Z",
    ),
}


def mutations(value: Any) -> list[Any]:
    """What a field may hold by mistake."""
    return [None, 5, -1, 1.5, "5", "", True, [], [None], ["x"], [5], {}, [{"name": "x"}], [{"name": 5}], [{}], at(1)]


def mutated() -> list[str]:
    """Each field of each type, holding each of them, or not there; and with one that nobody knows."""
    texts = []
    for kind, example in EXAMPLES.items():
        texts.append(json.dumps(example | {"mood": {"good": 1}}))
        for name in (*example, *example[kind]):
            told = json.loads(json.dumps(example))
            where = told if name in told else told[kind]
            held = where.pop(name)
            texts.append(json.dumps(told))
            for value in mutations(held):
                where[name] = value
                texts.append(json.dumps(told))
    return texts


def is_valid(text: str) -> bool:
    try:
        read_line(text)
    except ValidationError:
        return False
    return True


def test_every_refusal_has_its_reason_and_says_what_is_wrong(spark: SparkSession) -> None:
    found = {row.raw: (row.reason, row.detail) for row in refused(judge(raw(spark, REFUSED))).collect()}
    assert found == REFUSED
    assert {reason for reason, _ in found.values()} == set(Reason)


def test_the_verdicts_are_those_of_the_models(spark: SparkSession) -> None:
    """So nothing that an operator writes is refused, and nothing else gets in. Models do not judge the order of times,
    and take `true` for the schema 1, as Python does."""
    texts = sorted(text for text in set(mutated()) if '"schema": true' not in text)
    judged = judge(raw(spark, texts)).select("raw", "problem.reason").collect()
    fine = {row.raw: row.reason in (None, "ImpossibleTimes") for row in judged}
    assert {text for text, verdict in fine.items() if verdict != is_valid(text)} == set()
    assert len(fine) == len(texts)


def test_the_quick_look_and_the_thorough_one_agree(spark: SparkSession) -> None:
    judged = judge(raw(spark, sorted(set(mutated())))).where("event is not null")
    form = F.when(F.col("problem.reason") != "ImpossibleTimes", F.col("problem"))
    thorough = malformation(F.col("raw"), F.col("event"))
    assert judged.where(~form.eqNullSafe(thorough)).select("raw", "problem", thorough).limit(3).collect() == []


def test_an_event_is_read_as_it_was_written(spark: SparkSession) -> None:
    texts = [event(kind, kind, 1.25, mood="a field of later") for kind in BODIES]
    rows = accepted(judge(raw(spark, texts)))
    assert [(field.name, field.dataType.simpleString()) for field in rows.schema] == [
        (field.name, field.dataType.simpleString()) for field in EVENTS
    ]
    moments = rows.select("id", F.date_format("at", "HH:mm:ss.SSS").alias("at")).collect()
    assert {row.id: row.at for row in moments} == dict.fromkeys(BODIES, "12:00:01.250")
    (poll,) = rows.where("type = 'poll_observed'").select("poll_observed.*").collect()
    assert poll.asDict() == POLL["poll_observed"]


def test_what_is_not_utf8_is_kept_as_far_as_it_can_be_shown(spark: SparkSession) -> None:
    broken = raw(spark, ["x"]).withColumn("raw", F.unhex(F.lit("7bff7d")).cast("string"))
    (row,) = refused(judge(broken)).collect()
    assert (row.raw, row.reason) == ("{\ufffd}", "NotJson")


def test_the_quarantine_has_the_columns_of_its_schema(spark: SparkSession) -> None:
    found = refused(judge(raw(spark, []))).schema
    assert [(f.name, f.dataType) for f in found] == [(f.name, f.dataType) for f in QUARANTINE]
