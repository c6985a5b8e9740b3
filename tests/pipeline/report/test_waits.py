"""What a reader sees of waits for turns: the same figures in words, marks and tables."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from slackwater.api.telemetry.words import HeldBy
from slackwater.pipeline.report.charts.waits import (
    CHARTS,
    LOOKS,
    MOST_BARS,
    WORDS,
    budgets_chart,
    history_chart,
    places_chart,
)
from slackwater.pipeline.report.model import Held, Waits
from slackwater.pipeline.report.page import page
from slackwater.pipeline.report.plot import Figure
from slackwater.pipeline.report.quantities import UNKNOWN
from slackwater.pipeline.report.waits import turns_section
from tests.pipeline.report import samples

NONE = Waits(samples.FIRST_S, samples.NOW_S, 0, 0, 0)


def drawing(of: Figure) -> str:
    assert of.drawing is not None
    return of.drawing.replace("\N{NARROW NO-BREAK SPACE}", " ")


def test_the_longest_wait_has_the_whole_width_and_the_others_their_share() -> None:
    widths = re.findall(r'width="([0-9.]+)%" height="10"', drawing(budgets_chart(samples.waits())))
    assert widths == ["100", "18", "0.12"]


def test_a_bar_says_what_it_is_without_its_colour() -> None:
    drawn = drawing(budgets_chart(samples.waits()))
    assert "coordinators · 13 h 53 min, 40 turns" in drawn
    assert "closed windows · 2 h 30 min, 12 turns" in drawn


def test_places_are_named_and_the_table_has_those_that_are_not_drawn() -> None:
    chart = places_chart(samples.waits())
    assert "coordinators at lkc-7/0 · 2 h 30 min, 9 turns" in drawing(chart)
    assert drawing(chart).count("<rect") == MOST_BARS
    assert len(chart.table.rows) == 14
    assert [row.y is None for row in chart.table.rows].count(True) == 2


def test_cells_hold_the_figures_themselves() -> None:
    (first, *_) = budgets_chart(samples.waits()).table.rows
    assert [cell.figure for cell in first.cells] == [None, None, None, 50_000.0, 40, 9]


def test_a_slot_of_which_no_wait_is_known_is_a_gap() -> None:
    chart = history_chart(samples.waits())
    assert len(chart.table.rows) == 16
    assert chart.table.rows[-1].cells[2].words == UNKNOWN
    lines = re.findall(r'class="line"', drawing(chart))
    assert len(lines) == 1


@pytest.mark.parametrize("chart", CHARTS)
def test_nothing_to_draw_is_said(chart: object) -> None:
    assert callable(chart)
    of = chart(NONE)
    assert (of.drawing, of.table.rows) == (None, ())
    assert of.absent


def test_everything_that_holds_a_group_back_has_a_look_and_words() -> None:
    assert set(LOOKS) == set(HeldBy)
    assert set(WORDS) == set(HeldBy) - {HeldBy.BUDGET, HeldBy.WAVE}


def test_what_a_later_version_calls_otherwise_is_shown_by_its_own_name() -> None:
    later = replace(samples.waits(), by_budget=(Held("a/b", "Moon", "", "", 5.0, 1, 1),))
    assert "moon · 5 s, 1 turn" in drawing(budgets_chart(later))


def test_the_section_has_the_figures_of_all_turns() -> None:
    drawn = str(turns_section(samples.waits()))
    figures = dict(re.findall(r'data-total="(\w+)" data-v="([0-9.]+)"', drawn))
    assert figures == {"given": "52", "median": "61.5", "p90": "540", "waiting": "3"}


def test_without_fleets_the_page_has_no_such_section() -> None:
    assert turns_section(None) is None
    assert 'id="turns"' not in page(replace(samples.fleet(), waits=None))
    assert 'id="turns"' in page(samples.fleet())
