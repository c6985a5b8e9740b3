"""Moments, as Kubernetes writes them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AwareDatetime, PlainSerializer


def format_timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC, with a fraction only where there is one."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


Timestamp = Annotated[AwareDatetime, PlainSerializer(format_timestamp, str)]
