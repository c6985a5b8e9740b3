"""Whether a field of an event is what its rule says: column expressions over variants, no Python per row.

A variant keeps the JSON type of each value, so `"5"` is not taken for 5, as `from_json` would in one direction and
turn to null in the other. The rules come as an array of structs: one small expression is evaluated for each of them,
where one expression per field of every type would grow past what Java compiles.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from slackwater.pipeline.ingest.rules import HELD_BY, Kind, Reason, Rule
from slackwater.pipeline.ingest.shapes import RFC_3339

FIELDS: Final = "map<string, variant>"
_SHOWN: Final = 60


def problem(reason: Reason, *detail: Column | str) -> Column:
    """struct<reason, detail>; `detail` is put together from texts and columns."""
    parts = [F.lit(part) if isinstance(part, str) else F.coalesce(part, F.lit("null")) for part in detail]
    return F.struct(F.lit(reason.value).alias("reason"), F.concat(*parts).alias("detail"))


def first_problem(rules: Column, fields: Column, where: Column) -> Column:
    """The first rule that a field breaks, as struct<reason, detail>; null when all hold.

    `rules`: as `literal_rules` gives them. `fields`: map<string, variant>. `where`: what goes before a field's name.
    """
    problems = F.transform(rules, lambda rule: _problem(rule, F.element_at(fields, rule["name"]), where))
    return F.get(F.filter(problems, lambda each: each.isNotNull()), F.lit(0))


def literal_rules(rules: Iterable[Rule]) -> Column:
    """The rules as array<struct<name, kind, needed, words, most>>."""
    return F.array(
        *(
            F.struct(
                F.lit(rule.name).alias("name"),
                F.lit(rule.kind.value).alias("kind"),
                F.lit(rule.needed).alias("needed"),
                F.array(*map(F.lit, rule.words)).cast("array<string>").alias("words"),
                F.lit(rule.most).cast("double").alias("most"),
            )
            for rule in rules
        )
    )


def _problem(rule: Column, value: Column, where: Column) -> Column:
    name = F.concat(where, rule["name"])
    absent = F.coalesce(F.schema_of_variant(value), F.lit("VOID")) == "VOID"
    shown = F.left(F.try_variant_get(value, "$", "string"), F.lit(_SHOWN))
    wanted = F.when(F.size(rule["words"]) > 0, F.concat(F.lit("one of "), F.array_join(rule["words"], ", ")))
    wanted = F.coalesce(wanted, rule["kind"])
    bound = F.when(rule["most"].isNotNull(), F.concat(F.lit(", at most "), rule["most"])).otherwise("")
    wrong = problem(Reason.WRONG_TYPE, name, " is ", shown, " where ", wanted, bound, " is to be")
    return (
        F.when(absent & rule["needed"], problem(Reason.MISSING_FIELD, name, " is missing"))
        .when(absent, None)
        .when(~F.coalesce(_fits(rule, value), F.lit(False)), wrong)
    )


def _fits(rule: Column, value: Column) -> Column:
    """Whether a value that is there is what the rule says. Null counts as no."""
    kind = rule["kind"]
    return (
        F.when(kind == Kind.TEXT.value, _is_text(value, rule["words"]))
        .when(kind == Kind.COUNT.value, _is_a(value, "BIGINT") & (F.try_variant_get(value, "$", "bigint") >= 0))
        .when(kind == Kind.NUMBER.value, _is_number(value, rule["most"]))
        .when(kind == Kind.TRUTH.value, _is_a(value, "BOOLEAN"))
        .when(kind == Kind.MOMENT.value, _is_moment(value))
        .when(kind == Kind.TEXTS.value, F.forall(_items(value), lambda each: _is_a(each, "STRING")))
        .when(kind == Kind.CHANGES.value, F.forall(_items(value), _is_change))
        .when(kind == Kind.HELD.value, F.forall(_items(value), _is_held))
    )


def _is_a(value: Column, json_type: str) -> Column:
    return F.coalesce(F.schema_of_variant(value) == json_type, F.lit(False))


def _is_text(value: Column, words: Column) -> Column:
    text = F.try_variant_get(value, "$", "string")
    return _is_a(value, "STRING") & ((F.size(words) == 0) | F.array_contains(words, text))


def _is_number(value: Column, most: Column) -> Column:
    number = F.try_variant_get(value, "$", "double")
    within = (number >= 0) & (number <= F.coalesce(most, F.lit(1.7976931348623157e308)))
    return F.schema_of_variant(value).rlike("^(BIGINT|DOUBLE|FLOAT|DECIMAL)") & within


def _is_moment(value: Column) -> Column:
    in_form = F.try_variant_get(value, "$", "string").rlike(RFC_3339)
    return _is_a(value, "STRING") & in_form & F.try_variant_get(value, "$", "timestamp").isNotNull()


def _items(value: Column) -> Column:
    return F.try_variant_get(value, "$", "array<variant>")


def _is_change(change: Column) -> Column:
    named = _is_a(_inside(change, "name"), "STRING")
    return named & _is_text_or_null(change, "before") & _is_text_or_null(change, "after")


def _is_held(held: Column) -> Column:
    words, any_number = F.array(*map(F.lit, HELD_BY)), F.lit(None).cast("double")
    texts = _is_text_or_null(held, "fleet") & _is_text_or_null(held, "name") & _is_text_or_null(held, "place")
    seconds = F.coalesce(_is_number(_inside(held, "held_s"), any_number), F.lit(False))
    return F.coalesce(_is_text(_inside(held, "by"), words), F.lit(False)) & texts & seconds


def _is_text_or_null(of: Column, name: str) -> Column:
    return F.coalesce(F.schema_of_variant(_inside(of, name)), F.lit("VOID")).isin("VOID", "STRING")


def _inside(of: Column, name: str) -> Column:
    return F.try_variant_get(of, f"$.{name}", "variant")
