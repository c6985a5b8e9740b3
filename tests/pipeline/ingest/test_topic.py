"""The ingest job over a real topic, as a program of its own: `spark-submit` and the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyspark
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from slackwater.pipeline.packages import KAFKA_CONNECTOR
from tests.adapters.kafka.own_broker import own_broker
from tests.pipeline.conftest import QUICK_START
from tests.pipeline.recommend.following import make_topic
from tests.pipeline.telling import event

pytestmark = [pytest.mark.minutes(3), pytest.mark.spark]  # with a broker of its own: it needs no sandbox

ROOT = Path(__file__).parents[3]
JOB = ROOT / "operator" / "slackwater" / "pipeline" / "ingest" / "__main__.py"
WITHIN_S = 3000
"""In the processors' idle class, beside a sandbox that wants all of them, a Spark takes as long as it lasts."""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with own_broker(tmp_path_factory.mktemp("broker"), {"auto.create.topics.enable": "false"}) as servers:
        yield servers


def produce(servers: str, topic: str, *records: str | None) -> None:
    producer = Producer({"bootstrap.servers": servers, "allow.auto.create.topics": "true"})
    for record in records:
        producer.produce(topic, value=record, key="shop/payments")
    assert producer.flush(30) == 0


def ran(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "operator"), "PYSPARK_PYTHON": sys.executable} | QUICK_START
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=WITHIN_S, check=False
    )


def ids(lake: Path) -> list[str]:
    found = duckdb.connect().execute(
        "select id from read_parquet(?) order by id", [f"{lake}/bronze/events/*/*.parquet"]
    )
    return [row[0] for row in found.fetchall()]


def test_records_of_a_topic_are_in_the_lake_once_however_often_the_job_runs(broker: str, tmp_path: Path) -> None:
    make_topic(broker, NewTopic("telemetry", 2, 1))
    lake = tmp_path / "lake"
    arguments = [f"--lake={lake}", f"--bootstrap-servers={broker}", "--topic=telemetry", "--once"]
    command = [str(Path(sys.executable).with_name("slackwater")), "pipeline", "ingest", *arguments]
    of_nothing = ran(*command)
    assert of_nothing.returncode == 0, of_nothing.stderr
    assert of_nothing.stdout == "0 events, 0 in quarantine\n"
    produce(broker, "telemetry", event("poll_observed", "a"), "no event", None)
    by_command = ran(*command)
    assert by_command.returncode == 0, by_command.stderr
    assert by_command.stdout == "1 events, 2 in quarantine (2 NotJson)\n"
    produce(broker, "telemetry", event("poll_observed", "b"))
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    by_submit = ran(str(submit), "--master=local[1]", f"--packages={KAFKA_CONNECTOR}", str(JOB), *arguments)
    assert by_submit.returncode == 0, by_submit.stderr
    assert by_submit.stdout.endswith("1 events, 0 in quarantine\n")
    assert ids(lake) == ["a", "b"]


@pytest.mark.parametrize(
    ("servers", "sentence"),
    [
        ("", "the brokers have no such topic, or hide it from this user. Correct the name,"),
        pytest.param("127.0.0.1:9", "the brokers did not answer. See that they run,", marks=pytest.mark.long),
        pytest.param(
            "nowhere.invalid:9092",
            "no address of the brokers has a known name. Correct --bootstrap-servers",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_topic_that_cannot_be_read(servers: str, sentence: str, broker: str, tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("slackwater")), "pipeline", "ingest", f"--lake={tmp_path / 'lake'}"]
    done = ran(*command, f"--bootstrap-servers={servers or broker}", "--topic=weather", "--master=local[1]")
    assert done.returncode == 1
    assert done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert last.startswith("Error: the topic weather of ")
    assert sentence in last
    assert "Traceback" not in done.stderr
