"""Files of events: complete when they have their names, and whole whatever becomes of the operator."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from slackwater.adapters.telemetry.files import FileSink
from slackwater.adapters.telemetry.sinks import Line, SinkUnavailable
from slackwater.api.telemetry.events import write_line
from tests.adapters.telemetry.events import event, ids
from tests.e2e.stage.waiting import wait_for

ROOT = Path(__file__).resolve().parents[3]
NOON = 1_769_860_800.0
"""2026-01-31T12:00:00Z."""


class Clock:
    now = NOON

    def __call__(self) -> float:
        return self.now


def line(number: int) -> Line:
    return Line("shop/payments", write_line(event(number)))


def complete(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def being_written(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def written(folder: Path) -> list[str]:
    return ids([text for path in complete(folder) for text in path.read_bytes().splitlines()])


async def test_a_file_has_its_name_when_it_is_complete(tmp_path: Path) -> None:
    folder = tmp_path / "telemetry"
    sink = FileSink(folder, Clock())
    await sink.write([line(0), line(1)])
    assert complete(folder) == []
    await sink.close()
    (path,) = complete(folder)
    assert path.name.startswith("events-2026-01-31T120000-")
    assert path.name.endswith(".jsonl")
    assert written(folder) == ["event-0", "event-1"]


async def test_a_day_a_size_and_an_age_complete_a_file(tmp_path: Path) -> None:
    clock = Clock()
    sink = FileSink(tmp_path, clock, max_bytes=1000)
    await sink.write([line(n) for n in range(10)])
    await sink.write([line(10)])
    assert len(complete(tmp_path)) == 1  # it had grown enough
    clock.now += 13 * 3600
    await sink.write([line(11)])
    assert len(complete(tmp_path)) == 2  # it was of the day before
    sink._start_completing()
    await next(iter(sink._tasks))
    assert sorted(written(tmp_path)) == sorted(f"event-{n}" for n in range(12))
    await sink.close()
    assert len(complete(tmp_path)) == 3


async def test_a_folder_that_cannot_be_written_says_so_and_is_tried_again(tmp_path: Path) -> None:
    folder = tmp_path / "telemetry"
    folder.write_text("a file is in the way")
    sink = FileSink(folder, Clock())
    with pytest.raises(SinkUnavailable, match=f"telemetry cannot be written to {folder}: File exists") as failed:
        await sink.write([line(0)])
    assert failed.value.left == (line(0),)
    folder.unlink()
    await sink.write(failed.value.left)
    await sink.close()
    assert written(folder) == ["event-0"]


async def test_half_a_batch_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full for a moment."""
    sink = FileSink(tmp_path, Clock())
    await sink.write([line(0)])
    real, full = os.write, [False, True]

    def write(descriptor: int, data: bytes) -> int:
        if full and full.pop(0):
            raise OSError(28, "No space left on device")
        return real(descriptor, data[:100])

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(SinkUnavailable, match="No space left on device"):
        await sink.write([line(1), line(2)])
    await sink.close()
    assert written(tmp_path) == ["event-0"]
    await sink.write([line(1), line(2)])
    await sink.close()
    assert sorted(written(tmp_path)) == ["event-0", "event-1", "event-2"]


async def test_what_a_killed_operator_wrote_is_completed_by_the_next_one(tmp_path: Path) -> None:
    said = killed_while_writing(tmp_path)
    (left,) = being_written(tmp_path)
    with left.open("ab") as file:
        file.write(b'{"schema":1,"id":"eve')  # the line that it was in the middle of
    sink = FileSink(tmp_path, Clock())
    await sink.write([line(10_000_000)])
    await sink.close()
    found = written(tmp_path)
    assert set(said) < set(found)
    assert len(found) == len(set(found))
    assert being_written(tmp_path) == []


async def test_a_file_that_another_operator_writes_is_left_alone(tmp_path: Path) -> None:
    one, other = FileSink(tmp_path, Clock()), FileSink(tmp_path, Clock())
    await one.write([line(0)])
    await other.write([line(1)])
    assert complete(tmp_path) == []
    await one.write([line(2)])
    await one.close()
    await other.close()
    assert sorted(written(tmp_path)) == ["event-0", "event-1", "event-2"]


async def test_one_that_another_operator_removed_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was made a moment before, and is empty: as one that a killed operator left."""
    lock = fcntl.flock
    removed: list[Path] = []

    def late(descriptor: int, operation: int) -> None:
        if not removed:
            removed.extend(being_written(tmp_path))
            removed[0].unlink()
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    sink = FileSink(tmp_path, Clock())
    await sink.write([line(0)])
    await sink.close()
    assert removed
    assert written(tmp_path) == ["event-0"]


def killed_while_writing(folder: Path) -> list[str]:
    """The ids that it said it had written."""
    log = folder.parent / "said"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'operator'}:{ROOT}"}
    command = [sys.executable, "-m", "tests.adapters.telemetry.writing_process", str(folder)]
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, cwd=ROOT, env=environment)
    try:
        wait_for("some events", lambda: log.read_text().count("\n") > 100, 60)
    finally:
        process.kill()
        process.wait(10)
    return [said for said in log.read_text().split("\n")[:-1] if said]
