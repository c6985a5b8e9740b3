"""`slackwater recommend`: from files of telemetry to recommendations, with neither Spark nor a lake."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from slackwater.api.recommendation import Recommendation, RecommendationStatus
from slackwater.pipeline.errors import SourceUnreadable
from slackwater.pipeline.local.job import Options, Unwritable, run
from tests.pipeline.recommend.months import RESTARTS, WHO, a_month
from tests.pipeline.telling import NOON, at, event

_DAY_S = 86_400.0


def folder_of(path: Path, lines: list[str]) -> Path:
    path.mkdir()
    half = len(lines) // 2
    (path / "a.jsonl").write_text("\n".join(lines[:half]) + "\n")
    with gzip.open(path / "b.jsonl.gz", "wt") as file:
        file.write("\n".join(lines[half:]) + "\n")
    (path / ".open.jsonl").write_text("half a li")
    return path


def saying_nothing(lines: list[str]) -> list[str]:
    free = dict.fromkeys(("recover_within_ms", "needless_rebalances_per_month", "warm_up_ms"))
    told = [json.loads(line) for line in lines]
    bodies = [
        each | {"group_observed": each["group_observed"] | free} if "group_observed" in each else each for each in told
    ]
    return [json.dumps(each) for each in bodies]


def recommended(path: Path, lines: list[str]) -> list[Recommendation]:
    out = path / "out.jsonl"
    run(Options(folder_of(path / "telemetry", lines), out))
    return [Recommendation.model_validate_json(line) for line in out.read_text().splitlines()]


def test_a_folder_of_telemetry_gives_a_line_for_each_group(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    summary, unreadable = run(Options(folder_of(tmp_path / "telemetry", a_month()), out))
    assert (summary.groups, summary.sent_to_file, summary.as_of, unreadable) == (1, 1, NOON, 0)
    (found,) = map(Recommendation.model_validate_json, out.read_text().splitlines())
    assert (found.name, found.restarts, found.as_of) == ("payments", RESTARTS, NOON)
    assert found.status not in (RecommendationStatus.NOT_ENOUGH_DATA, RecommendationStatus.NOT_ENOUGH_TIME)


def test_the_order_of_lines_and_lines_that_come_twice_change_nothing(tmp_path: Path) -> None:
    lines = a_month()
    mixed = random.Random(1).sample([*lines, *lines], 2 * len(lines))
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    assert recommended(tmp_path / "one", lines) == recommended(tmp_path / "two", mixed)


def test_what_is_newer_than_the_moment_asked_for_is_left_out(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "telemetry", a_month())
    whole, _ = run(Options(folder))
    half, _ = run(Options(folder, as_of=NOON - timedelta(days=15)))
    assert whole.as_of == NOON
    assert half.as_of == NOON - timedelta(days=15)


def test_lines_that_cannot_be_read_are_counted_and_stop_nothing(tmp_path: Path) -> None:
    lines = [*a_month(), "{", json.dumps({"schema": 1, "type": "future"})]
    summary, unreadable = run(Options(folder_of(tmp_path / "telemetry", lines)))
    assert (summary.groups, unreadable) == (1, 2)


def test_a_group_that_was_watched_for_less_than_a_week_is_told_what_is_missing(tmp_path: Path) -> None:
    lines = [line for line in a_month() if json.loads(line)["at"] >= at(-6 * _DAY_S)]
    (found,) = recommended(tmp_path, lines)
    assert found.saving_partition_s_per_month is None
    assert found.session_timeout_ms is None


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match="there is no such folder"):
        run(Options(tmp_path / "nowhere"))


def test_a_damaged_file_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(SourceUnreadable, match=r"a\.jsonl\.gz cannot be read"):
        run(Options(tmp_path))


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "telemetry", a_month())
    with pytest.raises(Unwritable, match="choose another --out-file"):
        run(Options(folder, tmp_path / "no" / "such" / "out.jsonl"))
    assert list(tmp_path.glob(".*")) == []


def test_warm_ups_that_were_measured_make_evictions_dear(tmp_path: Path) -> None:
    """Told again and again, each counts once."""
    body = {"warmed_up_s": 120.0}
    warm = [
        event(
            "group_observed", f"w{n}-{again}", -n * 3_600.0 + again, body | {"warmed_up_after": at(-n * 3_700.0)}, **WHO
        )
        for n in range(1, 6)
        for again in range(2)
    ]
    (tmp_path / "cold").mkdir()
    (tmp_path / "warm").mkdir()
    (cold,) = recommended(tmp_path / "cold", saying_nothing(a_month()))
    (hot,) = recommended(tmp_path / "warm", saying_nothing([*a_month(), *warm]))
    assert cold.session_timeout_ms is not None
    assert hot.session_timeout_ms is not None
    assert hot.session_timeout_ms.upper > 2 * cold.session_timeout_ms.upper


def test_neither_spark_nor_arrow_nor_java_is_imported() -> None:
    script = (
        "import sys, slackwater.pipeline.local.job; "
        "print(*({'pyspark', 'pyarrow', 'pandas', 'py4j'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
