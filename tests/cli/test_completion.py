"""The command line completes itself, in shells and behind kubectl."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pkgutil import resolve_name

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


def test_every_script_of_the_package_is_there() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert set(scripts) == {"slackwater", "kubectl-slackwater", "kubectl_complete-slackwater"}
    assert all(callable(resolve_name(entrance)) for entrance in scripts.values())
