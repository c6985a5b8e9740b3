"""Strings with a pattern, refused with a sentence instead of the pattern."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

PRINTABLE: Final = r"[^\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+"
"""Nothing that steers a terminal, turns a line around or cannot be seen."""


@dataclass(frozen=True, slots=True)
class Text:
    """Annotation of a string field: the whole text has to match `pattern`, in syntax common to Python and RE2, but for
    Python's `\\uXXXX`, which is written as RE2 has it."""

    pattern: str
    sentence: str
    max_length: int

    def check(self, text: str) -> str:
        if len(text) > self.max_length or not re.fullmatch(self.pattern, text):
            raise ValueError(self.sentence)
        return text

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        pattern = re.sub(r"\\u([0-9a-f]{4})", r"\\x{\1}", self.pattern)
        return handler(schema) | {
            "maxLength": self.max_length,
            "x-kubernetes-validations": [{"rule": f"self.matches(r'^(?:{pattern})$')", "message": self.sentence}],
        }
