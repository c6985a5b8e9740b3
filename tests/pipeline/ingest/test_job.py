"""The ingest job over files: as a table and as a stream, in any order, killed and started again: the same tables."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from slackwater.pipeline.errors import LakeUnusable, SourceUnreadable
from slackwater.pipeline.ingest.bronze import accepted, judge, refused
from slackwater.pipeline.ingest.job import Options, run
from slackwater.pipeline.ingest.rules import Reason
from slackwater.pipeline.ingest.source import Files, as_table
from slackwater.pipeline.schemas import EVENTS, QUARANTINE
from slackwater.pipeline.silver.job import silver_of, write_silver
from slackwater.pipeline.tables import Table, read
from tests.e2e.stage.waiting import wait_for
from tests.pipeline.telling import a_day

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).parents[3]
BROKEN = ["no event", '{"schema": 9, "type": "weather"}']


def write(folder: Path, lines: Sequence[str], files: int) -> Files:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        (folder / f"events-{number}.jsonl").write_text("\n".join(lines[number::files]) + "\n")
    return Files(str(folder), files_a_batch=1)


def rows_of(table: DataFrame, *without: str) -> list[str]:
    return sorted(
        row[0] for row in table.select(F.to_json(F.struct(*[c for c in table.columns if c not in without]))).collect()
    )


def bronze(spark: SparkSession, lake: str) -> tuple[list[str], list[str]]:
    events = rows_of(read(spark, lake, Table.EVENTS, EVENTS))
    return events, rows_of(read(spark, lake, Table.QUARANTINE, QUARANTINE), "seen_at")


def silver(events: DataFrame) -> dict[Table, list[str]]:
    return {table: rows_of(rows) for table, rows in silver_of(events, None).items()}


def test_a_stream_gives_the_tables_of_a_batch_and_a_second_run_adds_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    lines = [*a_day(1), *BROKEN]
    source = write(tmp_path / "events", lines, files=3)
    lake = str(tmp_path / "lake")
    summary = run(spark, Options(source, lake))
    assert (summary.accepted, summary.refused) == (len(lines) - 2, {Reason.NOT_JSON: 1, Reason.FUTURE_SCHEMA: 1})
    judged = judge(as_table(spark, source))
    as_batch = rows_of(accepted(judged)), rows_of(refused(judged), "seen_at")
    assert bronze(spark, lake) == as_batch
    again = run(spark, Options(source, lake))
    assert (again.accepted, again.refused) == (0, {})
    assert bronze(spark, lake) == as_batch


def test_late_doubled_and_disordered_events_give_the_same_silver(spark: SparkSession, tmp_path: Path) -> None:
    lines = a_day(2)
    disordered = [*lines, *lines[::3]]
    random.Random(3).shuffle(disordered)
    in_order = accepted(judge(as_table(spark, write(tmp_path / "in-order", lines, files=1))))
    lake = str(tmp_path / "lake")
    run(spark, Options(write(tmp_path / "disordered", disordered, files=2), lake))
    written = write_silver(spark, lake)
    assert written is not None
    expected = silver(in_order)
    assert {table: rows_of(read(spark, lake, table)) for table in expected if expected[table]} == {
        table: rows for table, rows in expected.items() if rows
    }


def test_a_job_that_was_killed_loses_and_doubles_nothing(spark: SparkSession, tmp_path: Path) -> None:
    lines = [*a_day(1), *BROKEN]
    source = write(tmp_path / "events", lines, files=8)
    lake = tmp_path / "lake"
    job = ["-m", "slackwater.pipeline.ingest", f"--lake={lake}", f"--files={source.path}", "--master=local[1]"]
    log = tmp_path / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, *job, "--batch=1", "--conf", "spark.driver.memory=512m"],
            cwd=ROOT, stdout=output, stderr=output, start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "operator")},
        )  # fmt: skip
    commits = lake / "checkpoints" / "ingest-bronze-events" / "commits"

    def is_in_the_middle() -> bool:
        assert process.poll() is None, log.read_text()[-4000:]
        return (commits / "1").exists()

    try:
        wait_for("the second batch", is_in_the_middle, 300)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
    assert not (commits / "7").exists(), "it was done before it was killed"
    run(spark, Options(source, str(lake)))
    judged = judge(as_table(spark, source))
    assert bronze(spark, str(lake)) == (rows_of(accepted(judged)), rows_of(refused(judged), "seen_at"))


def test_a_folder_that_is_not_there(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match="nowhere cannot be read: there is no such path"):
        run(spark, Options(Files(str(tmp_path / "nowhere")), str(tmp_path / "lake")))


def test_a_lake_that_is_a_file(spark: SparkSession, tmp_path: Path) -> None:
    source = write(tmp_path / "events", a_day(1), files=1)
    (tmp_path / "lake").write_text("")
    with pytest.raises(LakeUnusable, match="cannot be written: a part of its path is a file"):
        run(spark, Options(source, str(tmp_path / "lake")))


def test_an_empty_folder_is_an_empty_history(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    lake = str(tmp_path / "lake")
    assert str(run(spark, Options(Files(str(tmp_path / "events")), lake))) == "0 events, 0 in quarantine"
    assert write_silver(spark, lake) is None
    assert read(spark, lake, Table.GROUPS).count() == 0


def test_files_that_are_older_than_all_others_are_read_as_well(spark: SparkSession, tmp_path: Path) -> None:
    """Copies that kept their times, or a backup: Spark passes over files seven days older than the newest it saw."""
    lines = a_day(1)
    source = write(tmp_path / "events", lines, files=2)
    sixty_days_ago = (tmp_path / "events" / "events-0.jsonl").stat().st_mtime - 60 * 86_400
    os.utime(tmp_path / "events" / "events-1.jsonl", (sixty_days_ago, sixty_days_ago))
    assert run(spark, Options(source, str(tmp_path / "lake"))).accepted == len(lines)


@pytest.mark.parametrize("job", ["recommend", "report"])
def test_a_lake_of_which_somebody_deleted_a_day_is_a_sentence(spark: SparkSession, tmp_path: Path, job: str) -> None:
    from slackwater.pipeline.recommend.job import Options as Recommend  # noqa: PLC0415 - this test alone needs them
    from slackwater.pipeline.recommend.job import run as recommend  # noqa: PLC0415
    from slackwater.pipeline.report.job import Options as Report  # noqa: PLC0415
    from slackwater.pipeline.report.job import run as report  # noqa: PLC0415

    lake = str(tmp_path / "lake")
    run(spark, Options(write(tmp_path / "events", a_day(1), files=1), lake))
    day = next(Path(lake, Table.EVENTS).glob("day=*"))
    shutil.rmtree(day)
    with pytest.raises(LakeUnusable, match="lacks files that its own list names"):
        if job == "recommend":
            recommend(spark, Recommend(lake))
        else:
            report(spark, Report(lake, str(tmp_path / "page.html")))
