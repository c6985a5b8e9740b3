"""Write the page of all commands from the command line itself: `python -m tests.docs.commands`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc
from typing import Any, Final

import typer
from typer.core import TyperArgument, TyperGroup

from slackwater.cli.main import app
from tests.test_layout import ROOT

PAGE: Final = ROOT / "docs" / "commands.md"
_HEAD: Final = """# Commands

Every command of `slackwater`, which is `kubectl slackwater` as well, with all of its arguments and options, generated
from the command line itself. `slackwater COMMAND --help` says the same in a terminal.
"""
_PLUGIN: Final = "slackwater"


def made() -> str:
    root = typer.main.get_command(app)
    return "\n".join([_HEAD, *_paragraphs(root), *_options(root, _PLUGIN), *_sections(root)]).strip() + "\n"


def commands(group: Any, *above: str) -> Iterator[tuple[str, Any]]:
    """All that there are, as one types them, in the order of `--help`."""
    for name, each in group.commands.items():
        if isinstance(each, TyperGroup):
            yield from commands(each, *above, name)
        else:
            yield " ".join((*above, name)), each


def _sections(root: Any) -> Iterator[str]:
    for words, command in commands(root):
        yield f"## {words}\n"
        yield f"```text\n{_usage(command, f'{_PLUGIN} {words}')}\n```\n"
        yield from _paragraphs(command)
        yield from _options(command, f"{_PLUGIN} {words}")


def _usage(command: Any, words: str) -> str:
    usage = command.get_usage(typer.Context(command, info_name=words))
    return re.sub(r"[{}]", "", " ".join(str(usage).removeprefix("Usage: ").split()))


def _paragraphs(command: Any) -> Iterator[str]:
    for paragraph in cleandoc(command.help or "").split("\n\n"):
        yield f"{_escaped(' '.join(paragraph.split()))}\n"


def _options(command: Any, words: str) -> Iterator[str]:
    """A row for each argument and option, but for `--help`."""
    context = typer.Context(command, info_name=words)
    records = [each.get_help_record(context) for each in command.params if not getattr(each, "hidden", False)]
    if not any(records):
        return
    yield "| Argument or option | Meaning |\n|---|---|"
    for parameter, record in zip(command.params, records, strict=True):
        if record is not None:
            typed, meaning = record
            name = parameter.metavar if isinstance(parameter, TyperArgument) and parameter.metavar else typed
            yield f"| `{_cell(name)}` | {_escaped(' '.join(meaning.split()))} |"
    yield ""


def _cell(text: str) -> str:
    """In ticks, where only a bar would end a cell."""
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


def _escaped(text: str) -> str:
    """`<` would begin an element; what stands in ticks stays as it is."""
    parts = text.replace("|", "\\|").split("`")
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(parts))


if __name__ == "__main__":
    PAGE.write_text(made(), encoding="utf-8")
