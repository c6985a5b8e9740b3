"""Promises about the shape of the repository."""

from __future__ import annotations

import ast
import operator
import subprocess
import sys
import sysconfig
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
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
