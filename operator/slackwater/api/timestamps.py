"""Moments, as Kubernetes writes them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AwareDatetime, BeforeValidator, PlainSerializer


def format_timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC, with a fraction only where there is one."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


Timestamp = Annotated[AwareDatetime, PlainSerializer(format_timestamp, str)]


def timestamp(moment: float) -> str:
    """Seconds since the epoch as RFC 3339 in UTC, to the microsecond."""
    return datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")


def moment(text: str) -> float:
    """The reverse of `timestamp`; reads what Kubernetes writes as well."""
    return datetime.fromisoformat(text).timestamp()


Moment = Annotated[
    float,
    BeforeValidator(lambda value: moment(value) if isinstance(value, str) else value),
    PlainSerializer(timestamp, str),
]
"""Seconds since the epoch inside, RFC 3339 outside."""
