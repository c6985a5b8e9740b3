"""Pictures of many groups: side by side where the terminal is wide enough, else one below the other. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

GAP: Final = 4
"""Columns between two pictures."""
_UNBOUNDED: Final = 10_000


def titled(title: str, picture: RenderableType) -> RenderableType:
    return Group(Text(title, style="bold"), picture)


def beside(pictures: Sequence[RenderableType], console: Console) -> Iterator[RenderableType]:
    """Rows with as many as fit, an empty line between them. One that is wider than the console has a row for itself."""
    row: list[RenderableType] = []
    used = 0
    for picture in pictures:
        width = Measurement.get(console, console.options.update(max_width=_UNBOUNDED), picture).maximum
        if row and used + GAP + width > console.width:
            yield _row(row)
            yield Text()
            row, used = [], 0
        used += width + (GAP if row else 0)
        row.append(picture)
    if row:
        yield _row(row)


def list_document(items: Sequence[Any]) -> dict[str, Any]:
    """As kubectl prints many objects."""
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


def _row(pictures: Sequence[RenderableType]) -> RenderableType:
    if len(pictures) == 1:
        return pictures[0]
    table = Table.grid(padding=(0, GAP, 0, 0))
    table.add_row(*pictures)
    return table
