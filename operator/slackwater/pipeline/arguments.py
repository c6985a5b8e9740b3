"""Arguments that several jobs take, from text to values. Imports no pyspark."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import typer


def moment(text: str) -> datetime:
    """A moment as ISO 8601 has it; UTC where it names no zone."""
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no moment: write it as 2026-11-02T14:05:09Z") from error
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def pairs(given: Iterable[str]) -> dict[str, str]:
    """What `--option NAME=VALUE` gave, each time it was there."""
    parts = [each.partition("=") for each in given]
    if wrong := [name for name, equals, _ in parts if not name or not equals]:
        raise typer.BadParameter(f"--option takes NAME=VALUE, not {wrong[0]!r}")
    return {name: value for name, _, value in parts}
