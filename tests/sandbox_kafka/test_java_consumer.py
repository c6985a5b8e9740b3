"""What Kafka's Java consumer prints becomes deliveries, readiness and an exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.workload.consumer import EXIT_FATAL, EXIT_REFUSED
from sandbox.workload.java_consumer import Batch, batches, parse_event

ROOT = Path(__file__).resolve().parents[2]
CONSUMED = (
    '{"timestamp":1795301202295,"name":"records_consumed","count":3,"partitions":['
    '{"topic":"orders","partition":4,"count":2,"minOffset":7,"maxOffset":8},'
    '{"topic":"orders","partition":5,"count":1,"minOffset":3,"maxOffset":3}]}'
)
ASSIGNED = '{"timestamp":1795301203055,"name":"partitions_assigned","partitions":[]}'


def test_an_event_of_records_tells_the_offsets_of_each_partition() -> None:
    event = parse_event(CONSUMED)
    assert event is not None
    assert batches(event) == [Batch(4, 7, 8, 1795301202295), Batch(5, 3, 3, 1795301202295)]


def test_other_events_tell_of_no_deliveries() -> None:
    event = parse_event(ASSIGNED)
    assert event is not None
    assert batches(event) == []


def test_lines_of_the_clients_log_are_no_events() -> None:
    assert parse_event("22:53:28 WARN something {} (Consumer)") is None
    assert parse_event("{broken") is None
    assert parse_event(json.dumps({"no": "name"})) is None


def test_it_is_ready_when_the_client_has_joined_and_ends_when_told_to() -> None:
    joins = f"import time; time.sleep(0.3); print('{ASSIGNED}', flush=True); time.sleep(60)"
    with _started(joins, READY_PORT="18765") as process:
        deadline = time.monotonic() + 20
        while not _is_ready(18765):
            assert time.monotonic() < deadline
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_a_client_that_ends_by_itself_is_an_error() -> None:
    with _started("pass", READY_PORT="0") as process:
        assert process.wait(20) == EXIT_FATAL


def test_settings_that_cannot_be_used_are_refused() -> None:
    with _started("pass", READY_PORT="0", TOPICS="") as process:
        assert process.wait(20) == EXIT_REFUSED


@contextmanager
def _started(client: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """The module with a Python script in the client's place."""
    code = "import sys; from sandbox.workload.java_consumer import main; "
    code += f"sys.exit(main([sys.executable, '-c', {client!r}]))"
    settings = os.environ | {"TOPICS": "orders"} | environment
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=settings)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=1) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
