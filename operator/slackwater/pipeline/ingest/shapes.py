"""The quick look that most events pass: is this one, as a whole, what an event of its type is?

`fields` finds out what is wrong with an event, field by field, and takes a fifth of a millisecond for it. Here one
regular expression over Spark's description of the whole JSON value, and a few comparisons of what was read, say that
nothing is. Both follow from the same rules, and a test holds them to the same verdicts. Who does not pass (an event
with fields of a later version, for one) is not wrong yet: it is looked at field by field.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import and_, or_
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from slackwater.api.telemetry.events import SCHEMA
from slackwater.pipeline.ingest.rules import BODY_RULES, ENVELOPE_RULES, HELD_BY, Kind, Rule

RFC_3339: Final = r"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d([.]\d+)?([Zz]|[+-]\d\d:\d\d)$"
"""Spark alone would take a bare year for a moment, or a number."""
_CHANGE: Final = "OBJECT<(after: (STRING|VOID), )?(before: (STRING|VOID), )?name: STRING>"
_NUMBER: Final = r"(BIGINT|DOUBLE|FLOAT|DECIMAL\(\d+,\d+\))"
_OR_NOT: Final = "(STRING|VOID)"
_HELD: Final = f"OBJECT<by: STRING, (fleet: {_OR_NOT}, )?held_s: {_NUMBER}(, name: {_OR_NOT})?(, place: {_OR_NOT})?>"
_DESCRIBED: Final = {
    Kind.TEXT: "STRING",
    Kind.COUNT: "BIGINT",
    Kind.NUMBER: _NUMBER,
    Kind.TRUTH: "BOOLEAN",
    Kind.MOMENT: "STRING",
    Kind.TEXTS: "ARRAY<(STRING|VOID)>",
    Kind.CHANGES: f"ARRAY<({_CHANGE}|VOID)>",
    Kind.HELD: f"ARRAY<({_HELD}|VOID)>",
}
"""How `schema_of_variant` describes a value of each kind; it lists an object's fields by name."""


def is_as_usual(event: Column) -> Column:
    """True for an event that keeps all rules, and, seldom, false for one that does as well.

    `event` is the variant; the columns named after the envelope's fields and the types hold what was read of it.
    """
    described = F.schema_of_variant(event)
    each_type = (
        (F.col("type") == name) & described.rlike(_pattern(name)) & _values_fit(event, name) for name in BODY_RULES
    )
    return F.coalesce(reduce(or_, each_type), F.lit(False))


def _pattern(name: str) -> str:
    fields = {rule.name: _described(rule) for rule in ENVELOPE_RULES} | {name: f"{name}: {_object(BODY_RULES[name])}"}
    return f"^{_in_braces(fields)}$"


def _object(rules: Iterable[Rule]) -> str:
    return _in_braces({rule.name: _described(rule) for rule in rules})


def _in_braces(fields: dict[str, str]) -> str:
    parts = (fields[name].removesuffix("?") for name in sorted(fields))
    optional = ("?" if fields[name].endswith("?") else "" for name in sorted(fields))
    return f"OBJECT<{''.join(f'({part}(, |(?=>))){mark}' for part, mark in zip(parts, optional, strict=True))}>"


def _described(rule: Rule) -> str:
    if rule.needed:
        return f"{rule.name}: {_DESCRIBED[rule.kind]}"
    return f"{rule.name}: ({_DESCRIBED[rule.kind]}|VOID)?"


def _values_fit(event: Column, name: str) -> Column:
    """What the description does not tell: words, bounds, moments, nulls in lists."""
    of_envelope = [_fits(rule, F.col(rule.name), event, f"$.{rule.name}") for rule in ENVELOPE_RULES]
    of_body = [_fits(rule, F.col(name)[rule.name], event, f"$.{name}.{rule.name}") for rule in BODY_RULES[name]]
    this_schema = F.col("schema") == SCHEMA
    return reduce(and_, (each for each in (this_schema, *of_envelope, *of_body) if each is not None))


def _fits(rule: Rule, value: Column, event: Column, path: str) -> Column | None:
    fits = None
    if rule.words:
        fits = value.isin(*rule.words)
    elif rule.kind is Kind.COUNT or rule.kind is Kind.NUMBER:
        fits = value.between(0, rule.most) if rule.most is not None else (value >= 0)
    elif rule.kind is Kind.MOMENT:
        text = F.try_variant_get(event, path, "string")
        return F.when(text.isNotNull(), text.rlike(RFC_3339) & value.isNotNull()).otherwise(not rule.needed)
    elif rule.kind is Kind.TEXTS:
        fits = F.forall(value, lambda each: each.isNotNull())
    elif rule.kind is Kind.CHANGES:
        fits = F.forall(value, lambda each: each["name"].isNotNull())
    elif rule.kind is Kind.HELD:
        fits = F.forall(value, lambda each: each["by"].isin(*HELD_BY) & (each["held_s"] >= 0))
    return None if fits is None else F.coalesce(fits, F.lit(not rule.needed))
