"""The cost curve: expected partition-seconds a month without an owner, for each session timeout. Pure."""

from __future__ import annotations

from typing import Final

from slackwater.api.recommendation import CostPoint
from slackwater.pipeline.report.charts.session import flags, legend, shared_axis
from slackwater.pipeline.report.markup import Markup
from slackwater.pipeline.report.model import Detail
from slackwater.pipeline.report.paths import line_path
from slackwater.pipeline.report.plot import WIDTH, Figure, curve, placing, plot
from slackwater.pipeline.report.quantities import UNKNOWN, counted, milliseconds_text
from slackwater.pipeline.report.scales import Durations, linear_to
from slackwater.pipeline.report.table import Cell, DataRow, DataTable, figure_cell

MOST_TIMES_MARKED: Final = 3


def cost_chart(detail: Detail) -> Figure:
    x = shared_axis(detail)
    return Figure(
        name="cost",
        title="What each session timeout costs",
        hint="Expected partition-seconds a month without an owner. Too short evicts members that come back; too long"
        f" waits for those that do not.{_cut(detail.cost)}",
        drawing=_drawing(detail, x) if detail.cost else None,
        legend=legend(("line", "expected cost"), ("today", "today"), ("recommended", "recommended")),
        table=_table(detail.cost, x),
        absent="No curve: there is no estimate of costs yet.",
    )


def _drawing(detail: Detail, x: Durations) -> Markup:
    ceiling = ceiling_of(detail.cost)
    y = linear_to(min(point.cost, ceiling) for point in detail.cost)
    at = placing(x, y)
    path = line_path(
        at(point.session_timeout_ms / 1000, point.cost) if point.cost <= y.high else None for point in detail.cost
    )
    label = f"Cost curve of {detail.group.key.title} over {counted(len(detail.cost), 'session timeout')}"
    return plot(x, y, (curve(path, "line"),), flags(detail, x, y), label)


def ceiling_of(points: tuple[CostPoint, ...]) -> float:
    """Where the drawing is cut: the ends of the curve would press flat what lies around the marked values."""
    marked = [point.cost for point in points if point.today or point.recommended]
    highest = max(point.cost for point in points)
    return min(highest, MOST_TIMES_MARKED * max(marked)) if marked and max(marked) > 0 else highest


def _cut(points: tuple[CostPoint, ...]) -> str:
    cut = points and ceiling_of(points) < max(point.cost for point in points)
    return " The dearest ends are not drawn." if cut else ""


def _table(points: tuple[CostPoint, ...], x: Durations) -> DataTable:
    rows = (
        DataRow(
            (
                Cell(milliseconds_text(point.session_timeout_ms), point.session_timeout_ms),
                figure_cell(point.cost),
                Cell(_mark(point)),
            ),
            x.place(point.session_timeout_ms / 1000) * WIDTH,
        )
        for point in points
    )
    return DataTable(("session timeout", "partition-s a month", "mark"), tuple(rows))


def _mark(point: CostPoint) -> str:
    marks = [word for word, marked in (("today", point.today), ("recommended", point.recommended)) if marked]
    return ", ".join(marks) or UNKNOWN
