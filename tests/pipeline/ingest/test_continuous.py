"""`slackwater pipeline ingest --every`: a process that goes on until it is killed, and goes on again where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from slackwater.pipeline.tables import Table, path_of
from tests.e2e.stage.waiting import wait_for
from tests.pipeline.conftest import QUICK_JAVA
from tests.pipeline.recommend.following import make_topic, topics_of_ones_own
from tests.pipeline.telling import event

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(2), pytest.mark.spark, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[3]
PARTITIONS = 2
A_BATCH = 5
WITHIN_S = 300.0


@pytest.fixture
def topic(bootstrap_servers: str) -> Iterator[str]:
    with topics_of_ones_own(bootstrap_servers, "telemetry") as (name,):
        make_topic(bootstrap_servers, NewTopic(name, PARTITIONS, 1))
        yield name


@contextmanager
def ingesting(lake: Path, servers: str, topic: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [str(Path(sys.executable).with_name("slackwater")), "pipeline", "ingest", f"--lake={lake}"]
    command += [f"--bootstrap-servers={servers}", f"--topic={topic}", "--every=1s", f"--batch={A_BATCH}"]
    command += [
        "--master=local[2]",
        "--conf=spark.driver.memory=512m",
        f"--conf=spark.driver.extraJavaOptions={QUICK_JAVA}",
    ]
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT / "operator")},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)


def produce(servers: str, topic: str, *records: str) -> None:
    producer = Producer({"bootstrap.servers": servers})
    for number, record in enumerate(records):
        producer.produce(topic, value=record, partition=number % PARTITIONS)
    assert producer.flush(30) == 0


def positions(lake: Path, table: Table) -> list[tuple[int, int]]:
    """Partition and offset of each row that counts: a batch that was cut short leaves files that the log names not."""
    log = Path(path_of(str(lake), table)) / "_spark_metadata"
    batches = [batch for batch in log.glob("[0-9]*") if batch.suffix in ("", ".compact")] if log.is_dir() else []
    entries = [json.loads(line) for batch in batches for line in batch.read_text().splitlines()[1:]]
    files = sorted({entry["path"].removeprefix("file://") for entry in entries})
    if not files:
        return []
    found = duckdb.connect().execute(
        "select source_partition, source_offset from read_parquet(?) order by all", [files]
    )
    return [(partition, offset) for partition, offset in found.fetchall()]


def test_events_arrive_as_they_come_and_a_kill_in_the_middle_loses_and_doubles_nothing(
    bootstrap_servers: str, topic: str, tmp_path: Path
) -> None:
    lake, log = tmp_path / "lake", tmp_path / "log"
    events = [event("poll_observed", f"e{number}") for number in range(64)]

    def arrived(count: int, process: subprocess.Popen[bytes]) -> None:
        def is_there() -> bool:
            assert process.poll() is None, log.read_text()[-4000:]
            return len(positions(lake, Table.EVENTS)) >= count

        wait_for(f"{count} events", is_there, WITHIN_S, lambda: len(positions(lake, Table.EVENTS)))

    with ingesting(lake, bootstrap_servers, topic, log) as process:
        produce(bootstrap_servers, topic, *events[:4])
        arrived(4, process)
        produce(bootstrap_servers, topic, *events[4:60], "no event", '{"schema": 9, "type": "weather"}')
        arrived(4 + 2 * A_BATCH, process)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
    assert len(positions(lake, Table.EVENTS)) < 60, "it was done before it was killed"

    produce(bootstrap_servers, topic, *events[60:])
    with ingesting(lake, bootstrap_servers, topic, log) as process:
        arrived(64, process)
        wait_for("what is no event", lambda: len(positions(lake, Table.QUARANTINE)) >= 2, WITHIN_S)
        process.send_signal(signal.SIGINT)
        code = process.wait(60)
    assert code == 130, log.read_text()[-4000:]
    assert "Traceback" not in log.read_text()
    found = [*positions(lake, Table.EVENTS), *positions(lake, Table.QUARANTINE)]
    assert sorted(found) == [(partition, offset) for partition in range(PARTITIONS) for offset in range(33)]
