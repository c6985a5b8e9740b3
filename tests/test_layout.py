"""Promises about the shape of the repository."""

from __future__ import annotations

import ast
import operator
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGEST_MODULE: Final = 300
MEDIAN_IN_CORE: Final = 110
LONGEST_FUNCTION: Final = 40
OPTIONS: Final = ("operator/slackwater/cli/commands/", "operator/slackwater/cli/main.py", "/command.py")
"""Where functions are command lines: each option takes lines there, and makes nothing harder to read."""
SOURCES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "operator" / "slackwater").rglob("*.py"))
}


def test_source_root_called_operator_is_no_package() -> None:
    """A package of that name would shadow the standard library's module in every program that has us on its path."""
    assert not (ROOT / "operator" / "__init__.py").exists()
    assert Path(operator.__file__ or "").is_relative_to(sysconfig.get_path("stdlib"))


def test_standard_library_wins_even_from_the_repository_root() -> None:
    program = "import operator; print(operator.itemgetter(0)('a'))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "a\n"


def test_locks_carry_hashes_and_no_addresses() -> None:
    for lock in [*(ROOT / "requirements").glob("*.txt"), ROOT / "sandbox" / "images" / "consumer" / "requirements.txt"]:
        text = lock.read_text()
        assert "--hash=sha256:" in text, lock
        assert "://" not in text, lock
        assert "index-url" not in text, lock


def test_no_two_errors_share_a_name() -> None:
    """What is caught by its name has to be one thing."""
    classes = [node for tree in SOURCES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    errors = {"Exception"}
    while new := {each.name for each in classes if errors & set(map(ast.unparse, each.bases))} - errors:
        errors |= new
    times = Counter(each.name for each in classes if each.name in errors)
    assert "InvalidSpec" in times
    assert [name for name, count in times.items() if count > 1] == []


@pytest.mark.parametrize("path", SOURCES)
def test_no_module_is_longer_than_one_can_hold(path: str) -> None:
    assert lines_of(path) <= LONGEST_MODULE


def test_modules_of_core_are_short() -> None:
    """Those with decisions in them: the rooms' maps are shorter still."""
    lengths = [lines_of(path) for path in SOURCES if "/core/" in path and not path.endswith("__init__.py")]
    assert median(lengths) <= MEDIAN_IN_CORE


def test_no_function_is_longer_than_one_can_see() -> None:
    assert list(long_functions()) == []


def test_a_long_function_is_found() -> None:
    assert "operator/slackwater/pipeline/ingest/command.py:command" in long_functions(but_for=())


def lines_of(path: str) -> int:
    return len((ROOT / path).read_text(encoding="utf-8").splitlines())


def long_functions(but_for: tuple[str, ...] = OPTIONS) -> Iterator[str]:
    for path, tree in SOURCES.items():
        if any(part in path for part in but_for):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                if node.end_lineno - node.lineno >= LONGEST_FUNCTION:
                    yield f"{path}:{node.name}"
