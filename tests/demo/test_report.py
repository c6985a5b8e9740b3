"""The table's content: `build/demo.json`, and notes that follow from the figures alone."""

from __future__ import annotations

from demo import modes, report
from demo.figures import Figures, Result
from demo.modes import Mode


def row(mode: Mode, *values: float, problem: str = "") -> Result:
    rebalances, idle, gap, duplicates, seconds = values
    return Result(mode, Figures(int(rebalances), idle, gap, int(duplicates), seconds), problem)


SLACKWATER = row(modes.SLACKWATER, 0, 98.0, 4.5, 0, 80.0)


def test_every_mode_has_its_figures_under_its_name() -> None:
    assert report.as_json([SLACKWATER]) == {
        "modes": {
            "slackwater": {
                "rebalances": 0,
                "partition_moves": 0,
                "idle_partition_seconds": 98.0,
                "worst_gap_seconds": 4.5,
                "duplicates": 0,
                "seconds": 80.0,
                "ok": True,
            }
        }
    }


def test_a_mode_that_was_not_played_has_no_figures_and_is_not_ok() -> None:
    told = report.as_json([Result(modes.DEPLOYMENT, None, "It did not start.")])["modes"]["deployment"]
    assert told == {**dict.fromkeys(report.COLUMNS), "ok": False}


def test_each_column_in_which_another_way_is_cheaper_has_one_sentence() -> None:
    notes = report.notes([row(modes.DEPLOYMENT, 11, 29.5, 1.7, 0, 16.0), SLACKWATER])
    assert [note.partition(":")[0] for note in notes] == ["Idle, partition-s", "Worst gap, s", "Duration, s"]
    assert "29.5 against Slackwater's 98" in notes[0]


def test_the_cheapest_other_way_is_named() -> None:
    results = [row(modes.DEPLOYMENT, 9, 50.0, 5, 3, 90.0), row(modes.STATEFUL_SET, 0, 40.0, 5, 0, 95.0), SLACKWATER]
    assert ["the plain StatefulSet" in note for note in report.notes(results)] == [True]


def test_where_nothing_is_cheaper_nothing_is_said() -> None:
    assert report.notes([row(modes.DEPLOYMENT, 11, 99.0, 5.0, 0, 80.0), SLACKWATER]) == []


def test_a_group_without_members_gets_no_praise_for_its_few_rebalances() -> None:
    plain = row(modes.BAD_STATEFUL_SET, 0, 900.0, 60.0, 0, 70.0)
    ours = row(modes.BAD_SLACKWATER, 1, 100.0, 30.0, 0, 40.0)
    assert "no merit" in report.notes([plain, ours])[0]


def test_a_handover_is_told_by_what_it_delivered_twice() -> None:
    (note,) = report.notes([row(modes.WARM, 0, 0.0, 0.3, 168, 55.0)])
    assert "168 records, 0.70 s of each member's traffic" in note
    (note,) = report.notes([row(modes.PREDICTIVE, 0, 12.0, 0.8, 40, 55.0)])
    assert "before the others join, the old ones are let go" in note


def test_an_upgrade_is_told_step_by_step() -> None:
    figures = Figures(1, 60.0, 4.5, 0, 80.0, partition_moves=16, rebalances_by_step=(0, 1))
    java = Result(modes.JAVA_TWO_BOUNCE, figures)
    assert report.as_json([java])["modes"]["java-two-bounce"]["rebalances_by_step"] == (0, 1)
    assert "no rebalances in step 1, 1 rebalance in step 2; 16 of 24 partitions" in report.notes([java])[0]
