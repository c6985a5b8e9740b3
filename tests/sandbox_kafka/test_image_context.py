"""An image's key changes with what it is built from, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.images.context import Context


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    (folder / "package").mkdir(parents=True)
    (folder / "Dockerfile").write_text("FROM scratch\n")
    (folder / "package" / "code.py").write_text("x = 1\n")
    return folder


def _context(sources: Path) -> Context:
    return Context({"Dockerfile": sources / "Dockerfile", "app": sources / "package"})


def test_a_changed_file_changes_the_key(sources: Path) -> None:
    before = _context(sources).key()
    (sources / "package" / "code.py").write_text("x = 2\n")
    assert _context(sources).key() != before


def test_a_new_file_changes_the_key(sources: Path) -> None:
    before = _context(sources).key()
    (sources / "package" / "more.py").touch()
    assert _context(sources).key() != before


def test_another_base_changes_the_key(sources: Path) -> None:
    assert _context(sources).key("base:1") != _context(sources).key("base:2")


def test_byte_code_is_no_input(sources: Path, tmp_path: Path) -> None:
    before = _context(sources).key()
    (sources / "package" / "__pycache__").mkdir()
    (sources / "package" / "__pycache__" / "code.pyc").touch()
    assert _context(sources).key() == before
    _context(sources).stage(tmp_path / "stage")
    staged = {str(path.relative_to(tmp_path / "stage")) for path in (tmp_path / "stage").rglob("*") if path.is_file()}
    assert staged == {"Dockerfile", "app/code.py"}
