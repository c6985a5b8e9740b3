"""promtool on the alerts: each fires when it should, and does not when it should not (alerts_test.yaml)."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from sandbox.binaries import ensure_promtool
from sandbox.layout import Layout
from tests.rules.files import ALERTS, SCENES

# promtool is built by the sandbox, the first time for minutes.
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

_DEADLINE_S: Final = 600.0
"""The scenes are days, evaluated minute by minute: 40 s of CPU time, and up to four others want that as well."""


@cache
def _program() -> Path:
    """PROMTOOL, the one on the PATH, or the one that the sandbox builds."""
    given = os.environ.get("PROMTOOL") or shutil.which("promtool")
    return Path(given) if given else ensure_promtool(Layout.from_environment())


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([_program(), *arguments], capture_output=True, text=True, timeout=_DEADLINE_S, check=False)


def test_the_rules_are_well_formed() -> None:
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", ALERTS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_alerts_fire_when_they_should_and_only_then() -> None:
    done = promtool("test", "rules", SCENES)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_scene_that_expects_something_else_fails(tmp_path: Path) -> None:
    """A file of scenes that promtool did not read would pass as well."""
    wrong = SCENES.read_text().replace("../../charts", str(ALERTS.parents[2])).replace("group: stuck}", "group: other}")
    scenes = tmp_path / "wrong.yaml"
    scenes.write_text(wrong)
    done = promtool("test", "rules", scenes)
    assert done.returncode == 1
    assert 'group="stuck"' in done.stdout + done.stderr
