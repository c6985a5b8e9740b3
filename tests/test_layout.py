"""Promises about the shape of the repository."""

from __future__ import annotations

import operator
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


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
