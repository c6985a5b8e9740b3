"""A Java application of the sandbox's own is built once for each version of its sources, and never beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sandbox import commands
from sandbox.errors import CommandFailed
from sandbox.images import applications
from sandbox.images.applications import ensure_application
from sandbox.layout import Layout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "streams"
    folder.mkdir()
    (folder / "pom.xml").write_text("<project/>")
    (folder / "Main.java").write_text("class Main {}")
    return folder


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path / "cache", tmp_path / "run")


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that Maven was given."""
    asked: list[Path] = []

    def maven(words: Sequence[object], deadline_s: float) -> None:
        pom = next(each for each in words if isinstance(each, Path))
        asked.append(pom.parent)
        (pom.parent / "target").mkdir()
        for name in ("streams-1.jar", "kafka-streams-4.3.0.jar"):
            (pom.parent / "target" / name).touch()
        (pom.parent / "target" / "maven-status").touch()

    monkeypatch.setattr(commands, "run", maven)
    monkeypatch.setattr(applications, "ensure_packages", lambda _: None)
    return asked


def test_it_is_built_once_and_holds_nothing_but_jars(layout: Layout, project: Path, built: list[Path]) -> None:
    jars = ensure_application(layout, project)
    assert sorted(each.name for each in jars.iterdir()) == ["kafka-streams-4.3.0.jar", "streams-1.jar"]
    assert ensure_application(layout, project) == jars
    assert len(built) == 1
    assert project not in built
    assert list(layout.cache.iterdir()) == [jars]


def test_other_sources_are_built_again(layout: Layout, project: Path, built: list[Path]) -> None:
    first = ensure_application(layout, project)
    (project / "Main.java").write_text("class Main { int x; }")
    assert ensure_application(layout, project) != first
    assert len(built) == 2


def test_what_cannot_be_built_leaves_nothing(
    layout: Layout, project: Path, built: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(words: Sequence[object], deadline_s: float) -> None:
        raise CommandFailed("Maven")

    monkeypatch.setattr(commands, "run", fails)
    with pytest.raises(CommandFailed):
        ensure_application(layout, project)
    assert list(layout.cache.iterdir()) == []
