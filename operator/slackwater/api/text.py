"""Strings with a pattern, refused with a sentence instead of the pattern."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

_UNPRINTABLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Unicode's categories of what steers a terminal, turns a line around, ends it, or cannot be seen."""


@dataclass(frozen=True, slots=True)
class Text:
    """Annotation of a string field: the whole text has to match `pattern`, in syntax common to Python and RE2."""

    pattern: str
    sentence: str
    max_length: int

    def check(self, text: str) -> str:
        if len(text) > self.max_length or not self.matches(text):
            raise ValueError(self.sentence)
        return text

    def matches(self, text: str) -> bool:
        return re.fullmatch(self.pattern, text) is not None

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(schema) | {
            "maxLength": self.max_length,
            "x-kubernetes-validations": [{"rule": f"self.matches(r'^(?:{self.pattern})$')", "message": self.sentence}],
        }


@dataclass(frozen=True, slots=True)
class PrintableText(Text):
    """One character or more, all of which can be seen. The API server reckons a rule's cost by its pattern's length, so
    that has RE2's names of the categories, which Python's `re` does not know."""

    pattern: str = r"[^\pC\p{Zl}\p{Zp}]+"
    sentence: str = ""
    max_length: int = 249

    def matches(self, text: str) -> bool:
        return bool(text) and not any(unicodedata.category(character) in _UNPRINTABLE for character in text)
