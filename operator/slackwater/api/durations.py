"""Durations as people write them (`45s`, `1h30m`, `500ms`) and as Kafka takes them: whole milliseconds.

The notation is Go's, kept to whole numbers of h, m, s and ms, so that CEL's `duration()` reads the same text.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo, WithJsonSchema

_UNITS: Final = (("h", 3_600_000, 3), ("m", 60_000, 5), ("s", 1_000, 7), ("ms", 1, 9))
"""Unit, its length in ms, most digits before it: no sum of them overflows the 64-bit nanoseconds of CEL."""

DURATION_PATTERN: Final = "^" + "".join(f"([0-9]{{1,{digits}}}{unit})?" for unit, _, digits in _UNITS) + "$"
DURATION_SENTENCE: Final = "write a duration in whole h, m, s and ms, such as 45s, 5m, 1h30m or 500ms"
POSITIVE_SENTENCE: Final = "write a duration longer than 0, such as 45s, 5m, 1h30m or 500ms"
_MAX_CHARACTERS: Final = 32

WIRE_CONTEXT: Final = {"wire": True}
"""Validation context of objects that come from YAML or the API server, where a bare number is no duration."""


def parse_duration_ms(text: str) -> int:
    """Return the milliseconds that `text` means; ValueError when it is no duration."""
    match = re.fullmatch(DURATION_PATTERN, text)
    if not text or match is None:
        raise ValueError(DURATION_SENTENCE)
    return sum(
        int(part.removesuffix(unit)) * unit_ms
        for part, (unit, unit_ms, _) in zip(match.groups(), _UNITS, strict=True)
        if part
    )


def format_duration(duration_ms: int) -> str:
    """Write `duration_ms` in the largest whole units: 90_000 gives `1m30s`, 0 gives `0s`."""
    parts = []
    for unit, unit_ms, _ in _UNITS:
        count, duration_ms = divmod(duration_ms, unit_ms)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def cel_between(texts: tuple[str, ...], relation: str) -> str:
    """CEL for a relation between durations, which holds as well where one of `texts` is no duration: that is refused
    at its own place, and CEL would stumble over it here."""
    return f"[{', '.join(texts)}].exists(text, text == '' || !text.matches('{DURATION_PATTERN}')) || {relation}"


def _read(value: Any, info: ValidationInfo) -> int:
    if isinstance(value, str):
        return parse_duration_ms(value)
    on_the_wire = bool(info.context and info.context.get("wire"))
    if on_the_wire or isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(DURATION_SENTENCE)
    return value


def _read_positive(value: Any, info: ValidationInfo) -> int:
    duration_ms = _read(value, info)
    if duration_ms == 0:
        raise ValueError(POSITIVE_SENTENCE)
    return duration_ms


def _schema(*rules: dict[str, str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "maxLength": _MAX_CHARACTERS, "x-kubernetes-validations": list(rules)})


def _in_words(duration_ms: Any) -> Any:
    return format_duration(duration_ms) if isinstance(duration_ms, int) else duration_ms


_IS_DURATION = {"rule": f"self != '' && self.matches('{DURATION_PATTERN}')", "message": DURATION_SENTENCE}
_IS_POSITIVE = {
    "rule": f"!self.matches('{DURATION_PATTERN}') || self.matches('[1-9]')",
    "message": POSITIVE_SENTENCE,
}

DurationMs = Annotated[int, BeforeValidator(_read), PlainSerializer(_in_words), _schema(_IS_DURATION)]
"""0 or longer."""
PositiveDurationMs = Annotated[
    int, BeforeValidator(_read_positive), PlainSerializer(_in_words), _schema(_IS_DURATION, _IS_POSITIVE)
]
