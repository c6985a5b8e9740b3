"""Two jobs that start at the same time do not fill one cache of packages together."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from slackwater.pipeline.packages import KAFKA_CONNECTOR, fetching_alone
from tests.pipeline.jars import listed_jars

PACKAGES = {"spark.jars.packages": "org.example:connector:1"}


def is_held(folder: Path) -> bool:
    with (folder / "slackwater.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_the_cache_is_held_while_spark_starts_and_then_let_go(tmp_path: Path) -> None:
    with fetching_alone({**PACKAGES, "spark.jars.ivy": str(tmp_path / "ivy")}):
        assert is_held(tmp_path / "ivy")
    assert not is_held(tmp_path / "ivy")


def test_it_is_let_go_when_spark_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), fetching_alone({**PACKAGES, "spark.jars.ivy": str(tmp_path)}):
        _ = 1 // 0
    assert not is_held(tmp_path)


def test_without_packages_nothing_is_written(tmp_path: Path) -> None:
    with fetching_alone({"spark.jars.ivy": str(tmp_path / "ivy")}):
        assert list(tmp_path.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_sparks_to_tell_of(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with fetching_alone({**PACKAGES, "spark.jars.ivy": str(tmp_path / "file" / "ivy")}):
        assert (tmp_path / "file").read_text() == ""


def test_the_connector_that_is_asked_for_is_one_whose_hash_is_known() -> None:
    group, artifact, version = KAFKA_CONNECTOR.split(":")
    assert f"{group}_{artifact}-{version}.jar" in listed_jars()
