"""The command line completes itself, in shells and behind kubectl."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pkgutil import resolve_name

import pytest

from tests.test_layout import ROOT


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("expl",), ["explain"]),
        (("reason", "GroupStab"), ["GroupStabilizing"]),
        (("status", "--ti"), ["--timeout"]),
    ],
)
def test_kubectl_is_offered_what_fits_and_no_files(words: tuple[str, ...], offered: list[str]) -> None:
    program = "from slackwater.cli.main import complete; complete()"
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [*offered, ":4"], done.stderr


def test_every_script_of_the_package_is_there() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert set(scripts) == {"slackwater", "kubectl-slackwater", "kubectl_complete-slackwater"}
    assert all(callable(resolve_name(entrance)) for entrance in scripts.values())
