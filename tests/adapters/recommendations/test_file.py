"""A file of recommendations is read when it changes; a bad line never hides a good one."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from slackwater.adapters.recommendations.file import FileSource
from slackwater.adapters.recommendations.reading import Reader
from slackwater.api.recommendation import RecommendationStatus
from slackwater.core.timeouts.reading import advice_of
from slackwater.core.world.advice import Advice, AdviceStatus, Range, Subject
from tests.adapters.recommendations.messages import recommendation

Known = dict[tuple[str, str], Advice | None]


class Told:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.reader = Reader()
        self.calls: list[tuple[str, str, Advice | None]] = []
        self.source = FileSource(path, lambda *told: self.calls.append(told), self.reader)

    def after(self, *lines: str) -> Known:
        """What is told once the file has these lines."""
        self.calls.clear()
        self.path.with_suffix(".new").write_text("".join(f"{line}\n" for line in lines))
        self.path.with_suffix(".new").replace(self.path)
        asyncio.run(self.source.look())
        return {(namespace, name): advice for namespace, name, advice in self.calls}


def line(name: str, **changes: Any) -> str:
    return recommendation(name, **changes).message()


def test_every_group_in_it_is_told(tmp_path: Path) -> None:
    known = Told(tmp_path / "r").after(line("a"), "", line("b"))
    assert {key: advice is not None for key, advice in known.items()} == {("shop", "a"): True, ("shop", "b"): True}


def test_a_group_that_is_not_in_it_any_more_is_told_as_well(tmp_path: Path) -> None:
    told = Told(tmp_path / "r")
    told.after(line("a"), line("b"))
    assert told.after(line("b"))["shop", "a"] is None


def test_a_bad_line_is_counted_and_hides_no_good_one(tmp_path: Path) -> None:
    told = Told(tmp_path / "r")
    future = line("later").replace('"schema":1', '"schema":2')
    assert set(told.after("{", line("a"), '{"schema": 1}', future)) == {("shop", "a")}
    assert told.reader.unreadable == 3


def test_an_unchanged_file_is_read_once(tmp_path: Path) -> None:
    told = Told(tmp_path / "r")
    told.after(line("a"))
    told.calls.clear()
    asyncio.run(told.source.look())
    assert told.calls == []


def test_a_file_that_vanishes_takes_nothing_back(tmp_path: Path) -> None:
    told = Told(tmp_path / "r")
    told.after(line("a"))
    told.calls.clear()
    told.path.unlink()
    asyncio.run(told.source.look())
    assert told.calls == []


def test_what_the_operator_looks_at_is_what_was_recommended() -> None:
    advice = advice_of(recommendation("a"))
    assert advice.status is AdviceStatus.RECOMMENDED
    assert advice.ranges[Subject.SESSION] == Range(18_000, 20_000, 22_000, "restarts take 12 s")
    assert advice.generation == 3
    assert advice.restarts == 120


def test_poll_settings_stand_where_the_session_is_best_as_it_is() -> None:
    advice = advice_of(recommendation("a", status=RecommendationStatus.KEEP_TODAY))
    assert set(advice.ranges) == {Subject.MAX_POLL_RECORDS}
    assert advice.status is AdviceStatus.RECOMMENDED


def test_without_anything_to_set_the_status_stands() -> None:
    told = recommendation("a", status=RecommendationStatus.NOT_ENOUGH_DATA, max_poll_records=None)
    assert advice_of(told).status is AdviceStatus.NOT_ENOUGH_DATA
    assert advice_of(told).ranges == {}


async def test_a_file_that_hangs_holds_nobody_up(tmp_path: Path) -> None:
    """As one on a volume whose server is away: all groups, the probes and the Lease are of the same event loop."""
    path = tmp_path / "recommendations"
    os.mkfifo(path)  # who opens it to read waits for who writes
    looking = asyncio.create_task(Told(path).source.look())
    for _ in range(100):
        await asyncio.sleep(0)
    assert not looking.done()
    await asyncio.to_thread(lambda: os.close(os.open(path, os.O_WRONLY)))
    async with asyncio.timeout(60):
        await looking
