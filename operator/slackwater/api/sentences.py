"""What is wrong with an object, one sentence for each problem: where, what, and what to do about it."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from slackwater.api.model import BROKEN_RULES

_LONGEST_VALUE: Final = 60
"""Characters of a refused value that are worth showing."""

_BEGINNING: Final = reprlib.Repr()
"""Writes no more of a value than is shown: one of ten thousand levels takes a tenth of a second."""
_BEGINNING.maxlevel = _BEGINNING.maxlist = _BEGINNING.maxdict = _LONGEST_VALUE
_BEGINNING.maxstring = _BEGINNING.maxother = _BEGINNING.maxlong = 2**31

_LONGEST_PATH: Final = 100
_MOST: Final = 50
"""Problems that are explained: an object of ten kilobytes may have a thousand, which nobody reads."""

_REMEDIES: Final = {
    "enum": "write one of {expected}",
    "literal_error": "write {expected}",
    "value_error": "{error}",
    "greater_than": "write more than {gt:g}",
    "greater_than_equal": "write {ge} or more",
    "less_than_equal": "write {le} or less",
    "too_long": "list {max_length} at most",
    "string_too_long": "keep it to {max_length} characters",
    "string_too_short": "write at least {min_length} character",
    "string_type": "write a text, in quotes if need be",
    "int_type": "write a whole number",
    "int_parsing": "write a whole number",
    "float_type": "write a number",
    "float_parsing": "write a number",
    "bool_type": "write true or false",
    "tuple_type": "write a list",
    "model_type": "write a mapping of fields",
    "model_attributes_type": "write a mapping of fields",
    "mapping_type": "write a mapping of fields",
    "recursion_depth_exceeded": "nest it less deep, no field of a pod has so many levels",
}
"""What to do about each type of pydantic error."""


def sentences(model: type[BaseModel], error: ValidationError) -> tuple[str, ...]:
    """Explain the problems that pydantic found in an object of `model`; the first of them, where there are many."""
    found = error.errors(include_url=False)
    said = tuple(sentence for details in found[:_MOST] for sentence in _explain(model, details))
    more = len(found) - _MOST
    return (*said, f"The object has {more} more {'problem' if more == 1 else 'problems'}.") if more > 0 else said


def _explain(model: type[BaseModel], details: ErrorDetails) -> Iterator[str]:
    path = _path(details["loc"])
    if details["type"] == BROKEN_RULES:
        for field_path, sentence in details["ctx"]["broken"]:
            yield f"{_within(path, field_path)}: {sentence}."
    elif details["type"] == "missing":
        yield f"{path} is missing: add it."
    elif details["type"] == "extra_forbidden":
        yield f"{path} is no known field: {_other_field(model, details['loc'])}"
    else:
        yield f"{path or 'the object'} cannot be {_shown(details['input'])}: {remedy(details)}."


def remedy(details: ErrorDetails) -> str:
    """What to write instead, without a full stop."""
    words = _REMEDIES.get(details["type"], "{msg}").format(msg=details["msg"], **details.get("ctx", {}))
    if details["type"] == "enum" and isinstance(details["input"], bool):
        return f"YAML reads a bare On, Off, Yes or No like that, {words} in quotes"
    return words


def _path(loc: tuple[int | str, ...]) -> str:
    path = ""
    for part in loc:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    path = path if len(path) <= _LONGEST_PATH else f"{path[:_LONGEST_PATH]}..."
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in path)


def _within(path: str, field_path: str) -> str:
    return ".".join(part for part in (path, field_path) if part) or "the object"


def _shown(value: object) -> str:
    text = _BEGINNING.repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def _other_field(model: type[BaseModel], loc: tuple[int | str, ...]) -> str:
    known = _fields_beside(model, loc)
    close = get_close_matches(str(loc[-1]), known, n=1)
    return f"did you mean {close[0]}?" if close else f"remove it, or use one of {', '.join(known)}."


@cache
def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(by_alias=True)


def _fields_beside(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """The fields that may stand where `loc` ends, found by walking the JSON schema of `model`."""
    node = _schema_of(model)
    definitions = node["$defs"]
    for part in loc[:-1]:
        node = node["items"] if isinstance(part, int) else node["properties"][part]
        node = next((choice for choice in node.get("anyOf", ()) if "$ref" in choice), node)
        if "$ref" in node:
            node = definitions[node["$ref"].removeprefix("#/$defs/")]
    return sorted(node["properties"])
