"""Durations as people write them (`45s`, `1h30m`, `500ms`) and as Kafka takes them: whole milliseconds.

The notation is Go's, kept to whole numbers of h, m, s and ms, so that CEL's `duration()` reads the same text.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo, WithJsonSchema

_UNITS_MS: Final = (("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1))

DURATION_PATTERN: Final = "^([0-9]{1,3}h)?([0-9]{1,5}m)?([0-9]{1,7}s)?([0-9]{1,9}ms)?$"
POSITIVE_PATTERN: Final = "[1-9]"
MAX_DURATION_CHARACTERS: Final = 32

DURATION_SENTENCE: Final = "write a duration in whole h, m, s and ms, such as 45s, 5m, 1h30m or 500ms"
POSITIVE_SENTENCE: Final = "write a duration longer than 0, such as 45s, 5m, 1h30m or 500ms"

_DURATION = re.compile(DURATION_PATTERN.replace("(", "(?:").replace("?:[0-9]", "?:([0-9]").replace("}", "})"))

WIRE_CONTEXT: Final = {"wire": True}
"""Validation context of objects that come from YAML or the API server, where a bare number is no duration."""


def parse_duration_ms(text: str) -> int:
    """Return the milliseconds that `text` means; ValueError when it is no duration."""
    match = _DURATION.match(text)
    if not text or match is None:
        raise ValueError(DURATION_SENTENCE)
    return sum(int(count or 0) * unit_ms for count, (_, unit_ms) in zip(match.groups(), _UNITS_MS, strict=True))


def format_duration(duration_ms: int) -> str:
    """Write `duration_ms` in the largest whole units: 90_000 gives `1m30s`, 0 gives `0s`."""
    parts = []
    for unit, unit_ms in _UNITS_MS:
        count, duration_ms = divmod(duration_ms, unit_ms)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def _read(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, str):
        return parse_duration_ms(value)
    on_the_wire = bool(info.context and info.context.get("wire"))
    if on_the_wire or isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(DURATION_SENTENCE)
    return value


def _read_positive(value: Any, info: ValidationInfo) -> Any:
    duration_ms = _read(value, info)
    if duration_ms <= 0:
        raise ValueError(POSITIVE_SENTENCE)
    return duration_ms


def _schema(*rules: dict[str, str]) -> WithJsonSchema:
    return WithJsonSchema(
        {"type": "string", "maxLength": MAX_DURATION_CHARACTERS, "x-kubernetes-validations": list(rules)}
    )


_IS_DURATION = {"rule": f"self != '' && self.matches('{DURATION_PATTERN}')", "message": DURATION_SENTENCE}
_IS_POSITIVE = {"rule": f"self.matches('{POSITIVE_PATTERN}')", "message": POSITIVE_SENTENCE}

DurationMs = Annotated[int, BeforeValidator(_read), PlainSerializer(format_duration, str), _schema(_IS_DURATION)]
PositiveDurationMs = Annotated[
    int,
    BeforeValidator(_read_positive),
    PlainSerializer(format_duration, str),
    _schema(_IS_DURATION, _IS_POSITIVE),
]
