"""The command line completes itself, in shells and behind kubectl."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pkgutil import resolve_name

import pytest

from tests.test_layout import ROOT

COMPLETING = """
import sys
from slackwater.cli.main import complete
for sys.argv[1:] in (["wh"], ["reason", "GroupStab"], ["status", "--ti"]):
    try:
        complete()
    except SystemExit as end:
        assert not end.code
"""


def test_kubectl_is_offered_what_fits_and_no_files() -> None:
    done = subprocess.run([sys.executable, "-c", COMPLETING], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["why", ":4", "GroupStabilizing", ":4", "--timeout", ":4"], done.stderr


@pytest.mark.parametrize("words", [["list", "--kubeconfig", ""], ["--kubeconfig", ""], ["list", "--kubeconfig=", ""]])
def test_who_asks_for_a_kubeconfig_gets_no_traceback(words: list[str]) -> None:
    asking = f"import sys; from slackwater.cli.main import complete; sys.argv[1:] = {words!r}; complete()"
    done = subprocess.run([sys.executable, "-c", asking], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(":4\n")


def test_every_script_of_the_package_is_there() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert set(scripts) == {"slackwater", "kubectl-slackwater", "kubectl_complete-slackwater"}
    assert all(callable(resolve_name(entrance)) for entrance in scripts.values())
