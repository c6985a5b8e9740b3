"""Table, file and page have the same figures, and say of each what it is of the runs."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO

from rich.console import Console

from demo.cascade import page, report
from demo.cascade.figures import OF_RUNS, Run
from demo.cascade.modes import MODES
from demo.cascade.report import COLUMNS, Played
from tests.demo.cascade.samples import BY_NAME

RUN = Run(0, 6, 20.04, 0, 0, 3, 240.0, 1, 0, 0, 0.4, 0.3, 0)
OTHER = replace(RUN, seconds=260.0, bystander_rebalances=2, problem="2 rebalances were a bystander's; 0 may be.")
GOOD = Played(BY_NAME["coordinators-1"], 1, (RUN,))
FIGURES = {
    "groups_with_bad_pods",
    "peak_idle_partitions",
    "idle_partition_seconds",
    "bystander_rebalances",
    "bystander_expiries",
    "peak_groups_in_motion",
    "seconds",
}


def test_the_file_has_every_figure_of_every_mode_and_its_single_runs() -> None:
    played = Played(BY_NAME["quarter"], 2, (RUN, OTHER))
    found = json.loads(json.dumps(report.as_json([played])))
    mode = found["modes"]["quarter"]
    assert FIGURES | {"ok", "wanted", "runs", "problems"} == mode.keys()
    assert (mode["seconds"], mode["bystander_rebalances"], mode["ok"]) == (250.0, 2, False)
    assert [(run["seconds"], run["ok"]) for run in mode["runs"]] == [(240.0, True), (260.0, False)]
    assert found["of_runs"].keys() == FIGURES == COLUMNS.keys() == OF_RUNS.keys()


def test_a_mode_with_fewer_runs_than_asked_for_is_not_ok() -> None:
    assert GOOD.ok
    assert not replace(GOOD, wanted=2).ok
    assert not replace(GOOD, failed=("Run 2 has no figures: it did not start",)).ok


def test_a_mode_without_any_run_has_no_figures_and_is_not_ok() -> None:
    played = Played(BY_NAME["deployments"], 1, failed=("Run 1 has no figures: it did not start",))
    mode = report.as_json([played])["modes"]["deployments"]
    assert {name: mode[name] for name in FIGURES} == dict.fromkeys(FIGURES)
    assert (mode["ok"], mode["problems"]) == (False, list(played.failed))


def test_modes_that_are_not_played_keep_what_they_have() -> None:
    before = report.as_json([Played(BY_NAME["quarter"], 1, (RUN,)), replace(GOOD, runs=(OTHER,))])
    after = report.as_json([GOOD], before)
    assert list(after["modes"]) == ["coordinators-1", "quarter"]
    assert after["modes"]["quarter"] == before["modes"]["quarter"]
    assert after["modes"]["coordinators-1"]["ok"]


def test_the_table_has_a_row_a_mode_in_a_terminal_of_120() -> None:
    out = Console(file=StringIO(), width=120)
    out.print(report.table([GOOD, Played(BY_NAME["deployments"], 5, failed=("it did not start",))]))
    assert isinstance(out.file, StringIO)
    lines = [line.split() for line in out.file.getvalue().splitlines()]
    assert ["Slackwater,", "1", "a", "coordinator", "0", "3", "6", "20", "0", "0", "240", "1/1", "yes"] in lines
    assert ["Deployments", *["-"] * 7, "0/5", "no"] in lines


def test_the_page_is_made_of_the_file_and_nothing_else() -> None:
    text = f"before\n\n{page.MARK}{page.NOT_YET}\n\nafter\n"
    found = report.as_json([GOOD, Played(BY_NAME["quarter"], 2, (RUN, OTHER))])
    written = page.made(text, found)
    assert "| `coordinators-1` | 0 | 3 | 6 | 20 | 0 | 0 | 240 | 1 of 1 | yes |" in written
    assert "| 2 (0 to 2) | 0 | 250 (240 to 260) | 2 of 2 | **no** |" in written
    assert written.startswith("before\n\n")
    assert written.endswith("\n\nafter\n")
    assert page.made(written, found) == written
    assert page.made(written, None) == text


def test_the_page_in_the_docs_has_its_mark_and_names_every_mode() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert text.count(page.MARK) == 1
    assert [mode.name for mode in MODES if f"`{mode.name}`" not in text] == []
