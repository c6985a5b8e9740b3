"""How many: a number, or a share of all, as Kubernetes' own `maxUnavailable` is written (`3`, `10%`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

MOST: Final = 10_000
_PERCENT: Final = "([1-9]|[1-9][0-9]|100)%"


IntOrPercent = int | str


def amount_of(written: IntOrPercent, all_of_them: int) -> int:
    """A share is rounded down, and is 1 at least."""
    if isinstance(written, int):
        return written
    return max(1, all_of_them * int(written.removesuffix("%")) // 100)


@dataclass(frozen=True, slots=True)
class Amount:
    """Annotation of an `IntOrPercent`; anything else is refused with `sentence`."""

    sentence: str
    least: int | None = 1
    """The lowest number; None: no number will do, only a share."""

    def check(self, value: Any) -> IntOrPercent:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if is_number and self.least is not None and self.least <= value <= MOST:
            return int(value)
        if isinstance(value, str) and re.fullmatch(_PERCENT, value):
            return value
        raise ValueError(self.sentence)

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        if self.least is None:
            rule = {"rule": f"self.matches('^({_PERCENT})$')", "message": self.sentence}
            return {"type": "string", "maxLength": 4, "x-kubernetes-validations": [rule]}
        # Not by a pattern: what may be a number or a text has no longest length, and the API server takes no rule that
        # could cost as much as the longest one.
        shares = ", ".join(f"'{percent}%'" for percent in range(1, 101))
        cel = f"type(self) == int ? self >= {self.least} && self <= {MOST} : self in [{shares}]"
        return {
            "x-kubernetes-int-or-string": True,
            "x-kubernetes-validations": [{"rule": cel, "message": self.sentence}],
        }
