"""The command line as a person uses it: in this process where that shows all, else as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from slackwater.api.depth import allow_deep_objects
from slackwater.cli import edge as failures
from slackwater.cli.main import app

COMMAND = Path(sys.executable).with_name("slackwater")


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one sentence of a failure; an AssertionError where there is anything else."""
        assert self.code in (1, 2), self
        assert self.out == ""
        assert self.err.startswith("Error: ")
        assert self.err.count("\n") == 1, f"more than one line: {self.err}"
        assert "Traceback" not in self.err
        return self.err.removeprefix("Error: ").rstrip("\n")


@cache
def command_line() -> Any:
    """All commands. The app would put them together again for each call, which takes longer than many a test."""
    return typer.main.get_command(app)


def typed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Done:
    allow_deep_objects()  # as `main` does: another test's objects may be as deep as the API server takes
    capsys.readouterr()
    code = failures.run(lambda: command_line()(list(arguments), prog_name="slackwater", standalone_mode=False))
    captured = capsys.readouterr()
    return Done(code, captured.out, captured.err)


def ran(*arguments: str, given: str = "", environment: Mapping[str, str] | None = None, timeout_s: float = 240) -> Done:
    env = {**os.environ, **(environment or {})}
    done = subprocess.run(
        [str(COMMAND), *arguments], input=given, capture_output=True, text=True, env=env, timeout=timeout_s, check=False
    )
    return Done(done.returncode, done.stdout, done.stderr)
