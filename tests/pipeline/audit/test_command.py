"""The command line: what it takes, what it refuses, what it prints."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from io import StringIO

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from slackwater.pipeline.audit.command import command
from slackwater.pipeline.audit.printing import print_summary
from slackwater.pipeline.audit.summary import SHOWN_GROUPS, GroupRow, KeyTypeCount, Summary

AT = datetime(2026, 11, 22, 2, 0, tzinfo=UTC)


def invoked(*arguments: str) -> tuple[int, str]:
    app = typer.Typer(rich_markup_mode=None)
    app.command()(command)
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "300"})
    return result.exit_code, " ".join(result.output.split())


def group(number: int, *, whole: bool = True) -> GroupRow:
    return GroupRow(
        group_id=f"payments-{number}",
        group_type="Classic",
        assignor="range",
        members=3,
        generation=7,
        generations=7,
        rebalances=6,
        oldest=AT,
        whole=whole,
    )


def summary(*shown: GroupRow, groups: int = 1, counts: tuple[KeyTypeCount, ...] = ()) -> Summary:
    return Summary(counts, AT, AT, groups, groups, 7, 6, 2, shown)


def printed(found: Summary, width: int = 120) -> list[str]:
    out = StringIO()
    print_summary(found, "/lake", Console(file=out, width=width))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("arguments", [(), ("--bootstrap-servers", "kafka:9092", "--dump", "/copy")])
def test_it_reads_a_cluster_or_a_copy_and_not_both(arguments: tuple[str, ...]) -> None:
    code, output = invoked("--lake", "/lake", *arguments)
    assert (code, "give either --bootstrap-servers or --dump" in output) == (2, True)


def test_help_needs_no_spark() -> None:
    program = (
        "import sys\n"
        "from slackwater.pipeline.audit import command\n"
        "sys.exit(any(name in sys.modules for name in ('pyspark', 'pyarrow', 'numpy')))\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, cwd="operator").returncode == 0


def test_a_group_has_a_line() -> None:
    lines = printed(summary(group(1)))
    assert lines[0].split() == ["GROUP", "TYPE", "ASSIGNOR", "MEMBERS", "GENERATION", "REBALANCES", "SINCE"]
    assert lines[1].split() == ["payments-1", "Classic", "range", "3", "7", "6", "2026-11-22", "02:00Z"]
    assert "1 groups, 7 generations, 6 rebalances; 2 records in quarantine." in lines


def test_on_a_narrow_terminal_nothing_is_cut_off() -> None:
    lines = printed(summary(group(1, whole=False)), width=80)
    assert not any("…" in line for line in lines)
    assert " ".join(" ".join(lines[1:4]).split()) == "payments-1 Classic range 3 7 6 2026-11-22 02:00Z (in part)"


def test_a_history_that_is_not_whole_says_so() -> None:
    assert printed(summary(group(1, whole=False)))[1].rstrip().endswith("(in part)")


def test_what_is_missing_of_the_histories_is_told_once() -> None:
    assert any("Every group's history goes back to its beginning" in line for line in printed(summary(group(1))))
    in_part = Summary((), AT, AT, 3, 1, 7, 6, 2, (group(1, whole=False),))
    assert any("Of 2 groups only a part of the history is there" in line for line in printed(in_part))


def test_of_many_groups_the_rest_is_counted() -> None:
    shown = [group(number) for number in range(SHOWN_GROUPS)]
    assert "… and 480 groups more, in the tables." in printed(summary(*shown, groups=500))


def test_what_was_passed_over_is_counted_by_its_name() -> None:
    counts = (KeyTypeCount(1, 60, 12), KeyTypeCount(2, 9, 1), KeyTypeCount(11, 4, 0), KeyTypeCount(99, 1, 0))
    expected = "Passed over: 60 offset commits, 4 share group epoch, 1 key type 99, not known here."
    assert expected in printed(summary(group(1), counts=counts))


def test_an_empty_topic_is_told_in_a_line() -> None:
    assert printed(Summary((), None, None, 0, 0, 0, 0, 0, ())) == [
        "The topic holds no records: no group has a history yet."
    ]
