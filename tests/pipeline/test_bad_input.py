"""What nobody wants to be given, by the command line: a sentence or "not enough data", and never a wrong number."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from slackwater.api.recommendation import Recommendation, RecommendationStatus
from tests.pipeline.commands import ran, succeeded
from tests.pipeline.telling import at, event, restart

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY_S: Final = 86_400.0


def of(name: str) -> dict[str, Any]:
    return {"name": name, "group_id": name}


def watched(name: str) -> list[str]:
    """A group that was there for thirty days."""
    return [event("group_observed", f"{name}-{day}", day * DAY_S, **of(name)) for day in (-30, 0)]


def returned(name: str, number: int, away_s: float) -> str:
    """Away for so long: less than no time, where the clock went backwards meanwhile."""
    begin = -3_600.0 * (number + 1)
    seen = {"episode": f"{name}-{number}", "mode": "InPlace", "last_seen_at": at(begin), "stopped_at": at(begin)}
    back = seen | {"outcome": "Returned", "rejoined_at": at(begin + away_s)}
    return restart(f"{name}-r{number}", begin + 60, back, **of(name))


def contradicted(name: str) -> list[str]:
    """Two tellings, each fine alone, that a clock set back in between makes impossible together."""
    seen = {"episode": f"{name}-c", "mode": "InPlace"}
    away = seen | {"outcome": "Away", "last_seen_at": at(-50), "stopped_at": at(-50)}
    back = seen | {"outcome": "Returned", "rejoined_at": at(-53)}
    return [restart(f"{name}-c1", -49, away, **of(name)), restart(f"{name}-c2", -40, back, **of(name))]


def from_the_future(name: str) -> list[str]:
    return [json.dumps(json.loads(text) | {"schema": 2}) for text in watched(name)]


EVENTS: Final = [
    *watched("once"),
    returned("once", 0, 5.0),
    *watched("backwards"),
    *(returned("backwards", number, -3.0) for number in range(12)),
    *contradicted("backwards"),
    *from_the_future("future"),
]


def folder(path: Path, lines: Sequence[str]) -> str:
    path.mkdir()
    if lines:
        (path / "events.jsonl").write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.fixture(scope="module")
def place(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake, recommendations and a report of all that, and what each command printed."""
    place = tmp_path_factory.mktemp("bad")
    lake, out = f"--lake={place / 'lake'}", place / "out.jsonl"
    told = succeeded("pipeline", "ingest", lake, f"--files={folder(place / 'events', EVENTS)}")
    (place / "ingest").write_text(told)
    (place / "recommend").write_text(succeeded("pipeline", "recommend", lake, f"--out-file={out}"))
    succeeded("pipeline", "report", lake, f"--out={place / 'report.html'}")
    return place


@pytest.fixture(scope="module")
def found(place: Path) -> dict[str, Recommendation]:
    lines = (place / "out.jsonl").read_text().splitlines()
    return {each.name: each for each in map(Recommendation.model_validate_json, lines)}


def test_what_cannot_be_used_is_counted_by_its_reason(place: Path) -> None:
    used = len(EVENTS) - 14
    assert (place / "ingest").read_text() == f"{used} events, 14 in quarantine (2 FutureSchema, 12 ImpossibleTimes)\n"


def test_of_one_restart_nothing_is_concluded(found: dict[str, Recommendation]) -> None:
    once = found["once"]
    assert (once.status, once.restarts) == (RecommendationStatus.NOT_ENOUGH_DATA, 1)
    assert "10 are needed, 9 more" in once.why
    assert (once.session_timeout_ms, once.saving_partition_s_per_month, once.curves) == (None, None, None)


def test_clocks_that_go_backwards_make_no_silences(found: dict[str, Recommendation]) -> None:
    backwards = found["backwards"]
    assert (backwards.status, backwards.restarts) == (RecommendationStatus.NOT_ENOUGH_DATA, 0)
    assert backwards.session_timeout_ms is None


def test_of_a_schema_from_the_future_nothing_is_guessed(found: dict[str, Recommendation]) -> None:
    assert sorted(found) == ["backwards", "once"]


def test_the_commands_and_the_report_say_so(place: Path) -> None:
    assert "2 have too little history" in (place / "recommend").read_text()
    page = " ".join((place / "report.html").read_text().split())
    assert "FutureSchema 2, ImpossibleTimes 13" in page.replace("\N{NO-BREAK SPACE}", " ")


def test_an_empty_history_is_told_by_every_job(spark: SparkSession, tmp_path: Path) -> None:
    lake = f"--lake={tmp_path / 'lake'}"
    events, out = folder(tmp_path / "events", []), tmp_path / "report.html"
    assert succeeded("pipeline", "ingest", lake, f"--files={events}") == "0 events, 0 in quarantine\n"
    assert "holds no events yet, so there is nothing to learn from" in succeeded("pipeline", "recommend", lake)
    succeeded("pipeline", "report", lake, f"--out={out}")
    assert "The lake holds no group yet." in out.read_text()


NOWHERE: Final = {
    "ingest": (("--files={nowhere}",), "there is no such path"),
    "audit": (("--dump={nowhere}",), "there is no Parquet at"),
    "recommend": ((), "run `slackwater pipeline ingest` first"),
    "report": (("--out={nowhere}/report.html",), "there is no lake at"),
}


@pytest.mark.parametrize("job", NOWHERE)
def test_what_is_not_there_is_told_in_a_sentence(job: str, spark: SparkSession, tmp_path: Path) -> None:
    options, sentence = NOWHERE[job]
    given = [each.format(nowhere=tmp_path / "nowhere") for each in options]
    assert sentence in ran("pipeline", job, f"--lake={tmp_path / 'lake'}", *given).complaint
