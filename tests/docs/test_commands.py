"""The page of all commands says what the command line says."""

from __future__ import annotations

import re
from typing import Any

import pytest
import typer

from slackwater.cli.main import app
from tests.docs import commands

COMMANDS = dict(commands.commands(typer.main.get_command(app)))


def test_the_page_is_the_one_that_the_command_line_gives() -> None:
    assert commands.PAGE.read_text(encoding="utf-8") == commands.made(), "run `make docs-pages`"


@pytest.mark.parametrize("words", COMMANDS)
def test_no_option_is_left_out_and_each_has_a_meaning(words: str) -> None:
    section = commands.made().partition(f"## {words}\n")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(.+)` \| (.*) \|$", section, re.MULTILINE))
    command: Any = COMMANDS[words]
    options = [option for each in command.params for option in each.opts if option.startswith("-")]
    assert [option for option in options if not any(option in re.split(r"[ ,]+", row) for row in rows)] == []
    assert len(rows) == len(command.params)
    assert [row for row, meaning in rows.items() if not meaning] == []
    assert section.count("```text\nslackwater ") == 1


@pytest.mark.parametrize("verb", ["fleet plan", "fleet status", "campaign start", "campaign promote", "why"])
def test_the_verbs_of_fleets_are_among_them(verb: str) -> None:
    assert verb in COMMANDS
