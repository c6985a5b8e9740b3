"""Write the page of all fields from the models: `python -m tests.docs.fields`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from slackwater.api.annotations import GROUP, VERSION
from slackwater.api.crd import RESOURCES, Resource
from slackwater.api.durations import DURATION_SENTENCE, POSITIVE_SENTENCE
from slackwater.api.structural import Schema, structural_schema
from tests.test_layout import ROOT

PAGE: Final = ROOT / "docs" / "fields.md"
_RULES: Final = "x-kubernetes-validations"
_OPEN: Final = "x-kubernetes-preserve-unknown-fields"
_HEAD: Final = f"""# Fields

Every field of the custom resources, `{GROUP}/{VERSION}`, generated from the same models as the CRDs.
`kubectl explain cg.spec.rollout` says the same in a terminal.

A duration is a text in whole h, m, s and ms, such as `45s`, `5m`, `1h30m` or `500ms`. A field whose default is "—" may
be left out: it is then empty, or as its meaning says. What is refused is refused by the API server, when it is applied.
"""


def made() -> str:
    return "\n".join([_HEAD, *(line for resource in RESOURCES for line in _resource(resource))]).strip() + "\n"


def _resource(resource: Resource) -> Iterator[str]:
    schema = structural_schema(resource.model)
    yield f"## {resource.kind}\n"
    yield f"{schema['description']} Short name: `{resource.short_name}`.\n"
    yield from _refusals([schema], "the whole object")
    yield from _section(resource.kind, "spec", schema["properties"]["spec"])
    status = structural_schema(resource.status, reported=True)
    yield f"### {resource.kind}: status\n"
    yield "Written by the operator, for reading.\n"
    yield from _table(("Field", "Type", "Meaning"), _status_rows("status", status))


def _section(kind: str, path: str, schema: Schema) -> Iterator[str]:
    """An object's own fields in a table, then those of the objects in it."""
    yield f"### {kind}: {path}\n"
    required = {*schema.get("required", ()), *_required_by_rules(schema)}
    fields: dict[str, Schema] = schema["properties"]
    rows = [_row(name, field, name in required) for name, field in fields.items()]
    yield from _table(("Field", "Type", "Default", "Bounds", "Meaning"), rows)
    yield from _refusals(
        [schema, *(part for field in fields.values() for part in _without_section(field))], f"`{path}`"
    )
    for name, field in fields.items():
        if part := _object_in(field):
            yield from _section(kind, f"{path}.{name}" + ("[]" if "items" in field else ""), part)


def _required_by_rules(schema: Schema) -> Iterator[str]:
    """Lists that must have an entry: a rule asks for it, whose sentence says what to write."""
    for rule in schema.get(_RULES, ()):
        if found := re.fullmatch(r"has\(self\.(\w+)\) && size\(self\.\1\) > 0", rule["rule"]):
            yield found[1]


def _row(name: str, field: Schema, required: bool) -> tuple[str, ...]:
    default = "**required**" if required else _default(field)
    return (f"`{name}`", _type(field), default, "; ".join(_bounds(field)), field.get("description", ""))


def _status_rows(path: str, schema: Schema) -> Iterator[tuple[str, ...]]:
    for name, field in schema.get("properties", {}).items():
        below = f"{path}.{name}"
        yield (f"`{below}`", _type(field), field.get("description", ""))
        part: Schema = field.get("items", field)
        if "properties" in part:
            yield from _status_rows(below + ("[]" if "items" in field else ""), part)


def _object_in(field: Schema) -> Schema | None:
    """The object with fields of its own that a field is, or is a list of; a type of Kubernetes' own is none."""
    part: Schema = field.get("items", field)
    return part if "properties" in part and _OPEN not in part else None


def _without_section(field: Schema) -> Iterator[Schema]:
    """The schemas of a field that are too much for a cell, and have no section of their own."""
    if "additionalProperties" in field:
        yield field
    elif _OPEN in (part := field.get("items", field)):
        yield from _parts(part)


def _parts(schema: Schema) -> Iterator[Schema]:
    """It, and every object in it."""
    yield schema
    for field in schema.get("properties", {}).values():
        yield from _parts(field.get("items", field))


def _type(field: Schema) -> str:
    if values := field.get("enum"):
        return " or ".join(f"`{value}`" for value in values)
    if "items" in field:
        item = field["items"]
        return "list of objects" if "properties" in item else f"list of {_type(item)}s"
    if isinstance(further := field.get("additionalProperties"), dict):
        return f"map of {_type(further)}s"
    if DURATION_SENTENCE in _messages(field):
        return "duration"
    if "x-kubernetes-int-or-string" in field:
        return "number or percentage"
    return str(field["type"])


def _default(field: Schema) -> str:
    if "default" not in field or isinstance(field["default"], dict):
        return "—"
    return f"`{json.dumps(field['default'])}`" if field["default"] != "" else "—"


def _bounds(field: Schema) -> Iterator[str]:
    for key, words in (
        ("minimum", "at least {}"),
        ("maximum", "at most {:,}"),
        ("maxItems", "at most {} of them"),
        ("maxProperties", "at most {} of them"),
    ):
        if key in field:
            yield words.format(field[key])
    if field.get("x-kubernetes-list-type") == "set":
        yield "none twice"
    item = field.get("items", field)
    messages = _messages(item) if item.get("type") != "object" else []
    if POSITIVE_SENTENCE in messages:
        yield "longer than 0"
    yield from (message for message in messages if message not in (DURATION_SENTENCE, POSITIVE_SENTENCE))


def _refusals(schemas: list[Schema], what: str) -> Iterator[str]:
    if sentences := dict.fromkeys(sentence for schema in schemas for sentence in _messages(schema)):
        yield f"Refusals of {what}:\n"
        yield from (f"- {_escaped(sentence)}" for sentence in sentences)
        yield ""


def _messages(schema: Schema) -> list[str]:
    return [rule["message"] for rule in schema.get(_RULES, ())]


def _table(head: tuple[str, ...], rows: Any) -> Iterator[str]:
    yield _line(head)
    yield "|" + "---|" * len(head)
    yield from (_line(tuple(map(_escaped, row))) for row in rows)
    yield ""


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escaped(text: str) -> str:
    """As a cell: a bar would end it, and `<` begin an element."""
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(made(), encoding="utf-8")
