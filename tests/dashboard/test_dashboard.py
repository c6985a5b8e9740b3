"""The dashboard is what its source says, is made of metrics that there are, and tells people what they look at."""

from __future__ import annotations

import json
import re
from itertools import combinations, product
from typing import Any, Final

import pytest

from dashboard import __main__ as source
from dashboard.grafana import COLUMNS, dashboard
from dashboard.panels import Colour, Kind, Panel, Query, Section, Unit
from slackwater.core.world.memory import RolloutPhase
from tests.rules.files import METRICS

SECTIONS: Final = source.SECTIONS
MADE: Final = json.loads(source.made())
PANELS: Final = {f"{section.title}: {panel.title}": panel for section in SECTIONS for panel in section.panels}
OF_HISTOGRAMS: Final = re.compile(r"_(bucket|sum|count)$")


def written(*panels: Panel) -> list[Any]:
    """As Grafana gets them, without the row above."""
    return list(dashboard((Section("a", panels),))["panels"][1:])


def test_the_chart_has_what_the_source_makes() -> None:
    assert source.FILE.read_text(encoding="utf-8") == source.made(), "run `make dashboard`"


@pytest.mark.parametrize("name", PANELS)
def test_a_panel_says_what_it_shows_in_a_sentence(name: str) -> None:
    panel = PANELS[name]
    assert re.fullmatch(r"[A-Z][^.]+\.", panel.description.replace("docs/reasons.md", "")), panel.description
    assert panel.queries


def test_no_two_panels_are_called_the_same() -> None:
    assert len(PANELS) == sum(len(section.panels) for section in SECTIONS)


@pytest.mark.parametrize("name", PANELS)
def test_a_panel_is_made_of_documented_metrics(name: str) -> None:
    used = {metric for query in PANELS[name].queries for metric in re.findall(r"slackwater_\w+", query.expr)}
    assert used
    assert {OF_HISTOGRAMS.sub("", metric) for metric in used} <= documented()


def test_every_documented_metric_is_on_it() -> None:
    """But for those that only concern who looks for a fault in the operator."""
    used = {OF_HISTOGRAMS.sub("", metric) for metric in re.findall(r"slackwater_\w+", json.dumps(MADE))}
    assert documented() - used == {"slackwater_telemetry_scrapes_total"}


@pytest.mark.parametrize("made", MADE["annotations"]["list"], ids=lambda made: made["name"])
def test_a_deploy_is_marked_by_documented_metrics_of_the_chosen_groups(made: dict[str, Any]) -> None:
    metrics = re.findall(r"(slackwater_\w+){([^}]*)}", made["expr"])
    assert metrics
    assert {name for name, _ in metrics} <= documented()
    for _, selected in metrics:
        assert 'namespace=~"$namespace", group=~"$group", phase=~"' in selected
        assert set(re.findall(r"[\w|]+(?=\"$)", selected)[0].split("|")) <= set(RolloutPhase)
    assert set(re.findall(r"{{(\w+)}}", made["titleFormat"])) == {"namespace", "group", "phase"}


def test_rollouts_and_their_failures_are_marked() -> None:
    marked = {made["name"]: set(re.findall(r"[A-Z]\w+", made["expr"])) for made in MADE["annotations"]["list"]}
    assert marked == {"Rollouts": {"Progressing", "RollingBack"}, "Rollouts that failed": {"Failed", "RolledBack"}}


def documented() -> set[str]:
    return set(re.findall(r"^\| `(\w+)`", METRICS.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("name", PANELS)
def test_lines_of_a_panel_can_be_told_apart(name: str) -> None:
    """A legend names each label that a query leaves."""
    panel = PANELS[name]
    if panel.kind not in (Kind.TIME_SERIES, Kind.STATE_TIMELINE):
        return
    for query in panel.queries:
        outermost = re.search(r"by \(([^)]*)\)", query.expr)
        left = set(re.findall(r"\w+", outermost.group(1))) if outermost else set()
        assert set(re.findall(r"{{(\w+)}}", query.legend)) == left - {"le"}, query


def test_panels_do_not_overlap() -> None:
    places = [panel["gridPos"] for panel in MADE["panels"]]
    cells = [set(product(range(p["x"], p["x"] + p["w"]), range(p["y"], p["y"] + p["h"]))) for p in places]
    assert [pair for pair in combinations(cells, 2) if pair[0] & pair[1]] == []
    assert max(x for each in cells for x, _ in each) < COLUMNS


def test_panels_have_numbers_of_their_own() -> None:
    numbers = [panel["id"] for panel in MADE["panels"]]
    assert len(set(numbers)) == len(numbers)


def test_a_panel_without_room_begins_the_next_line() -> None:
    wide = Panel("a", "", (), width=16, height=3)
    narrow = Panel("b", "", (), width=8, height=5)
    places = [(each["gridPos"]["x"], each["gridPos"]["y"]) for each in written(wide, narrow, wide)]
    assert places == [(0, 1), (16, 1), (0, 6)]


def test_everything_asks_the_chosen_data_source() -> None:
    sources = re.findall(r'"uid": "([^"]+)"', json.dumps(MADE["panels"]))
    assert set(sources) == {"${datasource}"}


def test_every_variable_that_is_used_is_there() -> None:
    names = {variable["name"] for variable in MADE["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(MADE["panels"])))
    assert {name for name in used if not name.startswith("__")} == names


def test_a_table_has_a_column_for_each_query_with_a_name() -> None:
    queries = (Query("a"), Query("b", "Lag", Unit.SECONDS))
    (made,) = written(Panel("a", "", queries, kind=Kind.TABLE, columns={"group": "Group"}))
    assert [(target["format"], target["instant"]) for target in made["targets"]] == [("table", True)] * 2
    organize = made["transformations"][1]["options"]
    assert organize["renameByName"] == {"group": "Group", "Value #B": "Lag"}
    assert organize["indexByName"] == {"group": 0, "Value #B": 1}
    assert set(organize["excludeByName"]) == {"Time", "Value #A"}
    (override,) = made["fieldConfig"]["overrides"]
    assert override == {
        "matcher": {"id": "byName", "options": "Lag"},
        "properties": [{"id": "unit", "value": "s"}],
    }


def test_a_value_may_be_shown_as_a_word() -> None:
    panel = Panel("a", "", (), kind=Kind.STATE_TIMELINE, words={1: ("leads", Colour.GOOD)})
    (made,) = written(panel)
    (mapping,) = made["fieldConfig"]["defaults"]["mappings"]
    assert mapping["options"]["1"] == {"text": "leads", "color": "green", "index": 0}
