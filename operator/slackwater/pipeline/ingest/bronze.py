"""From raw records to the two bronze tables: what is an event, and what is none and why. The same for streams.

    judged = judge(raw)          # RAW -> RAW + the event's columns + problem
    events, quarantine = accepted(judged), refused(judged)

Stateless: nothing is deduplicated or ordered here, so late, doubled and disordered events need no watermark and no
state. What reads the tables deduplicates by `id` (`silver`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import chain
from operator import or_
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from slackwater.api.telemetry.events import SCHEMA
from slackwater.pipeline.ingest.fields import FIELDS, first_problem, literal_rules, problem
from slackwater.pipeline.ingest.rules import BODY_RULES, ENVELOPE_RULES, Reason
from slackwater.pipeline.ingest.shapes import is_as_usual
from slackwater.pipeline.ingest.times import impossible_times
from slackwater.pipeline.schemas import BODIES, ENVELOPE, EVENTS, QUARANTINE, RAW

_END: Final = "slackwater:end"


def judge(raw: DataFrame) -> DataFrame:
    """Add the columns of an event, as far as they can be read, and `problem`: struct<reason, detail>, or null."""
    parsed = _with(raw.select(*RAW.names), parsed=_parsed(F.col("raw")))
    single = _with(parsed, event=F.when(_is_one_value(F.col("parsed")), F.try_variant_get("parsed", "$[0]", "variant")))
    read = _with(single, **_envelope(F.col("event")), **_bodies(F.col("event")))
    malformed = F.when(~is_as_usual(F.col("event")), malformation(F.col("raw"), F.col("event")))
    impossible = impossible_times(F.col("at"), F.col("source_at"))
    return _with(read, problem=F.coalesce(malformed, _unreadable(), impossible))


def accepted(judged: DataFrame) -> DataFrame:
    """The events: EVENTS."""
    day = F.to_date("at").alias("day")
    return judged.where(F.col("problem").isNull()).withColumn("day", day).select(*EVENTS.names)


def refused(judged: DataFrame) -> DataFrame:
    """The rest, each with its reason: QUARANTINE. Filed under the day on which it was recorded."""
    return (
        judged.where(F.col("problem").isNotNull())
        .withColumn("seen_at", F.current_timestamp())
        .withColumn("day", F.to_date(F.coalesce("source_at", "seen_at")))
        .withColumn("raw", F.make_valid_utf8("raw"))
        .select("*", "problem.*")
        .select(*QUARANTINE.names)
    )


def malformation(raw: Column, event: Column) -> Column:
    """The first thing that is wrong with a record's form, as struct<reason, detail>; null when nothing is.

    `event`: the record as a variant, null when it is not one JSON value.
    """
    return (
        F.when(raw.isNull(), problem(Reason.NOT_JSON, "the record has no value"))
        .when(event.isNull(), problem(Reason.NOT_JSON, "the record is not one JSON value"))
        .otherwise(_let(F.try_variant_get(event, "$", FIELDS), _malformed))
    )


def _malformed(fields: Column) -> Column:
    version = F.try_variant_get(F.element_at(fields, F.lit("schema")), "$", "bigint")
    kind = F.try_variant_get(F.element_at(fields, F.lit("type")), "$", "string")
    names_nothing = ~F.map_contains_key(fields, "schema") & ~F.map_contains_key(fields, "type")
    newer = problem(Reason.FUTURE_SCHEMA, "its schema is ", version.cast("string"), f", the newest known here {SCHEMA}")
    older = problem(Reason.WRONG_TYPE, "schema is ", version.cast("string"), f" where {SCHEMA} is the first")
    return (
        F.when(fields.isNull(), problem(Reason.NO_ENVELOPE, "it is JSON, but no object"))
        .when(names_nothing, problem(Reason.NO_ENVELOPE, "it is an object, but has neither schema nor type"))
        .when(version > SCHEMA, newer)
        .when(version < SCHEMA, older)
        .otherwise(
            F.coalesce(first_problem(literal_rules(ENVELOPE_RULES), fields, F.lit("")), _wrong_body(fields, kind))
        )
    )


def _wrong_body(fields: Column, kind: Column) -> Column:
    rules = F.element_at(
        F.create_map(*chain.from_iterable((F.lit(name), literal_rules(of)) for name, of in BODY_RULES.items())), kind
    )
    body = F.element_at(fields, kind)
    missing = F.coalesce(F.schema_of_variant(body), F.lit("VOID")) == "VOID"

    def wrong(inside: Column) -> Column:
        no_object = F.when(inside.isNull(), problem(Reason.WRONG_TYPE, kind, " is no object"))
        return F.coalesce(no_object, first_problem(rules, inside, F.concat(kind, F.lit("."))))

    return (
        F.when(~kind.isin(*BODIES), problem(Reason.UNKNOWN_TYPE, "there is no type ", F.left(kind, F.lit(60))))
        .when(missing, problem(Reason.MISSING_FIELD, kind, " is missing"))
        .otherwise(_let(F.try_variant_get(body, "$", FIELDS), wrong))
    )


def _unreadable() -> Column:
    """Never silently: an event that keeps every rule and cannot be read all the same goes to quarantine, too."""
    has_a_body = reduce(or_, (F.col(name).isNotNull() for name in BODIES))
    lost = F.col("at").isNull() | ~has_a_body
    return F.when(lost, problem(Reason.WRONG_TYPE, "it cannot be read as ", F.col("type")))


def _parsed(raw: Column) -> Column:
    """The record as [event, end]; null when it cannot be parsed.

    Spark reads the first value of a text and ignores the rest. Between brackets, what follows the event (a torn line,
    two lines glued together) breaks the array, or is seen as another item of it.
    """
    return F.try_parse_json(F.when(F.is_valid_utf8(raw), F.concat(F.lit("["), raw, F.lit(f',"{_END}"]'))))


def _is_one_value(parsed: Column) -> Column:
    return F.coalesce(F.try_variant_get(parsed, "$[1]", "string") == _END, F.lit(False))


def _envelope(event: Column) -> dict[str, Column]:
    return {
        field.name: F.try_variant_get(event, f"$.{field.name}", field.dataType.simpleString())
        for field in ENVELOPE.fields
    }


def _bodies(event: Column) -> dict[str, Column]:
    kind = F.try_variant_get(event, "$.type", "string")
    return {
        name: F.when(kind == name, F.try_variant_get(event, f"$.{name}", struct.simpleString()))
        for name, struct in BODIES.items()
    }


def _let(value: Column, within: Callable[[Column], Column]) -> Column:
    """`within(value)`, where value is computed once, however often `within` names it."""
    return F.get(F.transform(F.array(value), within), F.lit(0))


def _with(rows: DataFrame, **columns: Column) -> DataFrame:
    """Add columns that are computed once for each row.

    As `withColumn`, but Spark would put the whole of such a column's expression into every place that uses it, and
    into the filter on `problem` once more, and parse each record a thousand times. It does not look through `inline`.
    """
    return rows.select("*", F.inline(F.array(F.struct(*(column.alias(name) for name, column in columns.items())))))
