"""Tables of numbers: what a cell shows, and the number itself for sorting, for tooltips and for tests. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from slackwater.pipeline.report.markup import Markup, shown, tag
from slackwater.pipeline.report.quantities import number_text


@dataclass(frozen=True, slots=True)
class Cell:
    """What is read, and the figure behind it; None where there is none."""

    words: str
    figure: float | None = None


@dataclass(frozen=True, slots=True)
class DataRow:
    """`x` (0..1000) and `y` (pixels) are where the row's mark is on the chart; the tooltip looks for the nearest."""

    cells: tuple[Cell, ...]
    x: float
    y: float | None = None


@dataclass(frozen=True, slots=True)
class DataTable:
    columns: tuple[str, ...]
    rows: tuple[DataRow, ...]


def figure_cell(value: float | None) -> Cell:
    return Cell(number_text(value), value)


def data_table(table: DataTable, name: str) -> Markup:
    """The numbers of a chart, closed until somebody asks."""
    head = tag("tr", *(tag("th", column, scope="col") for column in table.columns))
    body = (
        tag(
            "tr",
            *(_cell(cell) for cell in row.cells),
            data_x=round(row.x, 1),
            data_y=None if row.y is None else round(row.y, 1),
        )
        for row in table.rows
    )
    whole = tag("table", tag("thead", head), tag("tbody", *body), id=name)
    return tag("details", tag("summary", "The numbers"), tag("div", whole, class_="scroll"), class_="numbers")


def _cell(cell: Cell) -> Markup:
    figure = None if cell.figure is None else shown(cell.figure)
    return tag("td", cell.words, data_v=figure if figure != cell.words else None)
