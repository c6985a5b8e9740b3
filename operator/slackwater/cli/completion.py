"""Completion of the command line, as `slackwater` in bash, zsh and fish, and as `kubectl slackwater`."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import Final

import typer
from typer.completion import (  # type: ignore[attr-defined]  # it does not say that it exports them
    completion_init,
    get_completion_script,
)

_VARIABLE: Final = "_SLACKWATER_COMPLETE"
_NO_FILES: Final = ":4"
"""What kubectl understands: these and no names of files."""


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def script(shell: Shell) -> str:
    """What the shell has to read."""
    return str(get_completion_script(prog_name="slackwater", complete_var=_VARIABLE, shell=shell.value))


def answer_shells() -> None:
    """Have the command line answer those who ask it through that script."""
    completion_init()


def answer_kubectl(app: typer.Typer) -> None:
    """Print what can follow the words after `slackwater`, the last of them partial, as kubectl wants to have it."""
    words = ["slackwater", *sys.argv[1:]]
    os.environ |= {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1), _VARIABLE: "complete_bash"}
    answer_shells()
    try:
        app(prog_name="slackwater")
    finally:
        sys.stdout.write(f"{_NO_FILES}\n")
