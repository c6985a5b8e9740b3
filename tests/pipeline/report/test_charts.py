"""What is drawn is what the table behind it says."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from slackwater.api.recommendation import CostPoint, RecommendationStatus
from slackwater.pipeline.report.charts.cost import MOST_TIMES_MARKED, ceiling_of, cost_chart
from slackwater.pipeline.report.charts.lag import lag_chart
from slackwater.pipeline.report.charts.session import marked_ms, shared_axis
from slackwater.pipeline.report.charts.survival import survival_chart
from slackwater.pipeline.report.charts.timeline import lanes_of, timeline_chart
from slackwater.pipeline.report.model import Detail, Kind, Slot
from slackwater.pipeline.report.plot import WIDTH, Figure, figure
from slackwater.pipeline.report.section import CHARTS
from tests.pipeline.report import samples


def drawing(of: Figure) -> str:
    assert of.drawing is not None
    return of.drawing


def path_of(chart: Figure, look: str) -> str:
    found = re.search(rf'<path d="([^"]*)" class="{look}"', drawing(chart))
    assert found
    return found[1]


def test_a_table_has_a_row_for_every_point() -> None:
    detail = samples.detail()
    assert [len(chart(detail).table.rows) for chart in CHARTS] == [
        len(detail.survival),
        len(detail.cost),
        len(detail.generations) + len(detail.slots),
        len(detail.lag),
    ]


def test_cells_hold_the_figures_themselves() -> None:
    detail = samples.detail()
    first, row = detail.survival[0], survival_chart(detail).table.rows[0]
    assert [cell.figure for cell in row.cells] == [first.silence_s, first.survival, first.lower, first.upper]


def test_rows_know_where_their_marks_are() -> None:
    detail = samples.detail()
    axis = shared_axis(detail)
    chart = cost_chart(detail)
    assert [row.x for row in chart.table.rows] == [
        axis.place(point.session_timeout_ms / 1000) * WIDTH for point in detail.cost
    ]
    drawn = [float(x) for x in re.findall(r"[ML]([\d.]+) ", path_of(chart, "line"))]
    assert drawn == pytest.approx([row.x for row in chart.table.rows][: len(drawn)], abs=0.06)


def test_both_curves_of_the_session_timeout_share_an_axis() -> None:
    detail = samples.detail()
    flag = re.compile(r'<line x1="([\d.]+%)"[^>]*class="flag recommended"')
    assert flag.findall(drawing(survival_chart(detail))) == flag.findall(drawing(cost_chart(detail)))


def test_today_and_the_recommended_timeout_are_marked() -> None:
    drawn = drawing(cost_chart(samples.detail())).replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert ">today 45 s<" in drawn
    assert ">recommended 28 s<" in drawn
    assert drawn.count('class="dot') == 2


@pytest.mark.parametrize("status", [RecommendationStatus.KEEP_TODAY, RecommendationStatus.INFEASIBLE])
def test_nothing_is_recommended_where_nothing_changes(status: RecommendationStatus) -> None:
    assert marked_ms(samples.detail(samples.group(status=status))) == (45_000, None)


def test_nor_where_another_one_would_do_as_well() -> None:
    """A recommendation that keeps today's timeout may still name another target, which is none of the page's marks."""
    keeps = samples.recommendation().model_copy(update={"status": RecommendationStatus.KEEP_TODAY})
    group = replace(samples.group(), recommendation=keeps)
    assert marked_ms(samples.detail(group)) == (45_000, None)
    assert "recommended 28" not in drawing(survival_chart(samples.detail(group)))


def test_the_survival_curve_starts_with_everybody_silent() -> None:
    assert path_of(survival_chart(samples.detail()), "line").startswith("M0 0")


def test_dear_ends_do_not_press_the_curve_flat() -> None:
    cheap = CostPoint(session_timeout_ms=10_000, cost=10.0, today=True)
    dear = CostPoint(session_timeout_ms=1_800_000, cost=9_000.0)
    assert ceiling_of((cheap, dear)) == 10 * MOST_TIMES_MARKED
    assert "not drawn" in cost_chart(Detail(samples.group(), cost=(cheap, dear))).hint
    assert "not drawn" not in cost_chart(Detail(samples.group(), cost=(cheap,))).hint


def test_unknown_lag_is_a_gap() -> None:
    assert path_of(lag_chart(samples.detail()), "line").count("M") == 2


def test_lanes_are_in_order_of_kinds_and_causes() -> None:
    lanes = lanes_of(samples.detail())
    assert [(lane.kind, lane.cause, lane.count, bool(lane.heading)) for lane in lanes] == [
        (Kind.RESTART, "Rollout", 8, True),
        (Kind.RESTART, "Crash", 1, False),
        (Kind.RESTART, "NodeLost", 1, False),
        (Kind.REBALANCE, "Restart", 2, True),
        (Kind.REBALANCE, "Foreign", 1, False),
        (Kind.AUDITED, "StaticReturn", 5, True),
    ]
    assert all(one.bottom < other.top for one, other in pairwise(lanes))


def test_every_lane_is_named_in_words_and_not_by_colour_alone() -> None:
    drawn = drawing(timeline_chart(samples.detail()))
    for words in ("Rollout · 8, 1 evicted", "Node lost · 1", "Member that is not ours · 1"):
        assert f">{words}<" in drawn


def test_a_cause_from_the_future_has_a_lane_of_its_own() -> None:
    slot = Slot(Kind.RESTART, "<Meteor>", samples.NOW_S, samples.NOW_S, 1)
    drawn = drawing(timeline_chart(Detail(samples.group(), slots=(slot,))))
    assert "&lt;meteor&gt;" in drawn
    assert "<meteor>" not in drawn.lower()


def test_marks_and_dots_are_as_many_as_their_slots() -> None:
    detail = samples.detail()
    drawn = drawing(timeline_chart(detail))
    assert drawn.count("<rect ") == len(detail.slots)
    assert drawn.count('class="evicted') == sum(slot.evicted > 0 for slot in detail.slots)


@pytest.mark.parametrize("chart", CHARTS)
def test_nothing_to_draw_is_said(chart: object) -> None:
    assert callable(chart)
    of = chart(Detail(samples.group()))
    drawn = figure(of, "g")
    assert "<svg" not in drawn
    assert of.absent in drawn


@pytest.mark.parametrize("chart", CHARTS)
def test_a_single_point_is_drawn(chart: object) -> None:
    assert callable(chart)
    whole = samples.detail()
    lone = replace(
        whole,
        survival=whole.survival[:1],
        cost=whole.cost[:1],
        slots=whole.slots[:1],
        generations=whole.generations[:1],
        lag=whole.lag[:1],
    )
    drawn = drawing(chart(lone))
    assert "nan" not in drawn
    assert "inf" not in drawn
