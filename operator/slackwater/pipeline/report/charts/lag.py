"""Lag over time, on the timeline's axis. Pure."""

from __future__ import annotations

from slackwater.pipeline.report.charts.history import time_axis
from slackwater.pipeline.report.charts.session import legend
from slackwater.pipeline.report.markup import Markup
from slackwater.pipeline.report.model import Detail, LagSlot
from slackwater.pipeline.report.paths import line_path
from slackwater.pipeline.report.plot import WIDTH, Figure, curve, placing, plot
from slackwater.pipeline.report.quantities import moment_text
from slackwater.pipeline.report.scales import Moments, linear_to
from slackwater.pipeline.report.table import Cell, DataRow, DataTable, figure_cell


def lag_chart(detail: Detail) -> Figure:
    x = time_axis(detail)
    known = any(slot.highest is not None for slot in detail.lag)
    return Figure(
        name="lag",
        title="Lag",
        hint="Records behind, over all partitions. Gaps: the lag was not known.",
        drawing=_drawing(detail, x) if known else None,
        legend=legend(("line", "highest in a slot of time"), ("mean", "mean")),
        table=_table(detail.lag, x),
        absent="No lag was recorded.",
    )


def _drawing(detail: Detail, x: Moments) -> Markup:
    y = linear_to(slot.highest for slot in detail.lag if slot.highest is not None)
    at = placing(x, y)
    highest = line_path(at(slot.at_s, slot.highest) if slot.highest is not None else None for slot in detail.lag)
    mean = line_path(at(slot.at_s, slot.mean) if slot.mean is not None else None for slot in detail.lag)
    label = f"Lag of {detail.group.key.title} over time"
    return plot(x, y, (curve(mean, "mean"), curve(highest, "line")), (), label)


def _table(slots: tuple[LagSlot, ...], x: Moments) -> DataTable:
    rows = (
        DataRow(
            (Cell(moment_text(slot.at_s), slot.at_s), figure_cell(slot.highest), figure_cell(slot.mean)),
            x.place(slot.at_s) * WIDTH,
        )
        for slot in slots
    )
    return DataTable(("from", "highest", "mean"), tuple(rows))
