"""The survival curve: how many of the restarts are still silent after a time, with its interval. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from slackwater.api.recommendation import SurvivalPoint
from slackwater.pipeline.report.charts.session import flags, legend, shared_axis
from slackwater.pipeline.report.markup import Markup
from slackwater.pipeline.report.model import Detail
from slackwater.pipeline.report.paths import band_path, step_path, steps
from slackwater.pipeline.report.plot import WIDTH, Figure, curve, placing, plot
from slackwater.pipeline.report.quantities import counted, duration_text, number_text, share_text
from slackwater.pipeline.report.scales import Durations, Share
from slackwater.pipeline.report.table import Cell, DataRow, DataTable


def survival_chart(detail: Detail) -> Figure:
    x = shared_axis(detail)
    return Figure(
        name="survival",
        title="How long restarts take",
        hint=f"Share of members still silent after so long; {_sample(detail)}. What is left at the session timeout is"
        " evicted.",
        drawing=_drawing(detail, x) if detail.survival else None,
        legend=legend(("line", "still silent"), ("area", "95\N{NARROW NO-BREAK SPACE}% interval")),
        table=_table(detail.survival, x),
        absent="No curve: too few restarts were recorded.",
    )


def _sample(detail: Detail) -> str:
    """From how many restarts the curve is; where a group has few, similar ones lend it theirs, at a lower weight."""
    recommendation = detail.group.recommendation
    if recommendation is None:
        return "no recommendation was made yet"
    own = f"from {counted(recommendation.restarts, 'restart')}"
    lent = recommendation.pooled_restarts
    return f"{own} and the weight of {number_text(lent)} of similar groups" if lent else own


def _drawing(detail: Detail, x: Durations) -> Markup:
    at = placing(x, Share())
    points = detail.survival
    start = at(x.low_s, 1.0)
    silent = [start, *(at(point.silence_s, point.survival) for point in points)]
    lower = [at(point.silence_s, point.lower) for point in points]
    upper = [at(point.silence_s, point.upper) for point in points]
    area = band_path(steps([start, *lower]), steps([start, *upper]))
    drawn = (curve(area, "area"), curve(step_path(silent), "line"))
    label = f"Survival curve of {detail.group.key.title} over {counted(len(points), 'point')}"
    return plot(x, Share(), drawn, flags(detail, x), label)


def _table(points: Sequence[SurvivalPoint], x: Durations) -> DataTable:
    rows = (
        DataRow(
            (
                Cell(duration_text(point.silence_s), point.silence_s),
                Cell(share_text(point.survival), point.survival),
                Cell(share_text(point.lower), point.lower),
                Cell(share_text(point.upper), point.upper),
            ),
            x.place(point.silence_s) * WIDTH,
        )
        for point in points
    )
    return DataTable(("silent for", "still away", "lower", "upper"), tuple(rows))
