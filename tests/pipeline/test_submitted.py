"""Each job as `spark-submit` runs it, where users have a cluster: master and settings are Spark's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from slackwater.api.recommendation import Recommendation
from tests.e2e.stage.waiting import BUSY
from tests.pipeline.audit.recording import recorded_topic
from tests.pipeline.audit.test_job import write_dump
from tests.pipeline.conftest import QUICK_JAVA
from tests.pipeline.recommend.months import RESTARTS, a_month

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
JOBS = ROOT / "operator" / "slackwater" / "pipeline"
SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
SETTINGS = ("spark.sql.shuffle.partitions=2", "spark.ui.enabled=false", f"spark.driver.extraJavaOptions={QUICK_JAVA}")


def submitted(job: str, *arguments: str, ends_with: int = 0) -> str:
    """What the job printed: spark-submit brings both of its streams together."""
    spark = ["--master=local[2]", *(f"--conf={setting}" for setting in SETTINGS)]
    command = [str(SUBMIT), *spark, str(JOBS / job / "__main__.py"), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "operator"), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300 * BUSY, check=False
    )
    assert done.returncode == ends_with, done.stdout + done.stderr[-4000:]
    return done.stdout


@pytest.mark.long
def test_the_whole_chain(tmp_path: Path) -> None:
    lake, out, page = tmp_path / "lake", tmp_path / "recommendations.jsonl", tmp_path / "report.html"
    files = tmp_path / "events"
    files.mkdir()
    events = a_month()
    (files / "a.jsonl").write_text("".join(f"{event}\n" for event in events))
    dump = write_dump(tmp_path / "topic.parquet", recorded_topic())

    told = submitted("ingest", f"--lake={lake}", f"--files={files}", "--once")
    assert told.endswith(f"{len(events):,} events, 0 in quarantine\n")
    assert "rebalances; 0 records in quarantine." in submitted("audit", f"--lake={lake}", f"--dump={dump}")
    submitted("recommend", f"--lake={lake}", f"--out-file={out}")
    found = Recommendation.model_validate_json(out.read_text())
    assert (found.name, found.restarts) == ("payments", RESTARTS)
    written = submitted("report", f"--lake={lake}", f"--out={page}")
    assert "5 groups, 5 with charts" in written, "four of the audited topic, and the one that was recommended for"
    assert "shop/payments" in page.read_text()


def test_a_job_that_fails_says_why_and_ends_with_1(tmp_path: Path) -> None:
    said = submitted("recommend", f"--lake={tmp_path / 'nowhere'}", ends_with=1)
    assert said.splitlines()[-1].startswith("Error: ")
    assert "nowhere" in said.splitlines()[-1]
