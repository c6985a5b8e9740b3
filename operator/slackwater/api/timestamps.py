"""Moments as RFC 3339 in UTC: the one place that writes and reads them, for Kubernetes and for telemetry."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BeforeValidator, PlainSerializer

Precision = Literal["auto", "milliseconds", "microseconds"]
"""`auto`: a fraction only where there is one."""


def format_timestamp(at: datetime, precision: Precision = "auto") -> str:
    """For example `2026-01-31T12:00:00Z`."""
    return at.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")


Timestamp = Annotated[AwareDatetime, PlainSerializer(format_timestamp, str)]


def timestamp(seconds: float, precision: Precision = "auto") -> str:
    """Seconds since the epoch as RFC 3339, to the microsecond where `precision` does not say otherwise."""
    return format_timestamp(datetime.fromtimestamp(seconds, UTC), precision)


def moment(text: str) -> float:
    """The reverse of `timestamp`; reads what Kubernetes writes as well."""
    return datetime.fromisoformat(text).timestamp()


def strict_moment(text: str) -> float:
    """To the millisecond. Raises ValueError for a text that is no moment, or one without an offset from UTC."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("write the offset from UTC, such as Z")
    return round(at.timestamp(), 3)


Moment = Annotated[
    float,
    BeforeValidator(lambda value: moment(value) if isinstance(value, str) else value),
    PlainSerializer(timestamp, str),
]
"""Seconds since the epoch inside, RFC 3339 outside."""
