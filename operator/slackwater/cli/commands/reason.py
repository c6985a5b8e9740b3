"""`slackwater reason`: what a condition's reason means, and what to do about it. Needs no cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from itertools import groupby
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slackwater.api.conditions import ConditionType
from slackwater.cli.options import As, Output, print_document, print_whole
from slackwater.cli.words.reasons import ReasonText, reason_texts
from slackwater.terminal import Terminal


def parse_reason(name: str) -> ReasonText:
    """In any case of letters."""
    by_small_name = {known.lower(): text for known, text in reason_texts().items()}
    if text := by_small_name.get(name.lower()):
        return text
    if kind := next((each for each in ConditionType if each.lower() == name.lower()), None):
        beside = "its reason stands beside it, as in slackwater status NAME, and slackwater reason lists them all"
        raise typer.BadParameter(f"{kind} is the type of a condition, not a reason: {beside}")
    close = [by_small_name[small].name for small in get_close_matches(name.lower(), by_small_name, n=3)]
    guess = f" Did you mean {', '.join(close)}?" if close else ""
    raise typer.BadParameter(f"there is no reason {name!r}, and slackwater reason lists them all.{guess}")


def complete_reason(partial: str) -> list[str]:
    return [name for name in reason_texts() if name.lower().startswith(partial.lower())]


def reason(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="REASON",
            autocompletion=complete_reason,
            help="As conditions and Events have it, such as PodNotReady; lists all when left out.",
        ),
    ] = None,
    output: As = Output.TABLE,
) -> None:
    """Say what the reason of a condition or an Event means, and what to do about it."""
    text = None if name is None else parse_reason(name)
    if text is None:
        texts = list(reason_texts().values())
        if output is Output.TABLE:
            print_whole(reasons_table(texts))
        else:
            print_document([reason_document(each) for each in texts], output)
    elif output is Output.TABLE:
        Terminal(highlight=False).print(reason_picture(text))
    else:
        print_document(reason_document(text), output)


def reason_document(text: ReasonText) -> dict[str, Any]:
    """Fields are added to it, never renamed."""
    return asdict(text)


def reason_picture(text: ReasonText) -> RenderableType:
    def said(label: str, words: str) -> RenderableType:
        return Group(Text(), Text(label, style="dim"), _with_code(words))

    heading = Text.assemble((text.name, "bold"), f"  {text.part}")
    return Group(heading, said("What it means", text.meaning), said("What to do", text.advice))


def reasons_table(texts: Sequence[ReasonText]) -> RenderableType:
    """A line for each, under the titles of their parts."""
    width = max(len(text.name) for text in texts)
    parts = [(part, list(each)) for part, each in groupby(texts, key=lambda text: text.part)]
    return Group(*(_part(title, each, width) for title, each in parts))


def _part(title: str, texts: Iterable[ReasonText], width: int) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, min_width=width)
    table.add_column(no_wrap=True)
    for text in texts:
        table.add_row(text.name, _with_code(text.gist))
    return Group(Text(title, style="bold"), table, Text())


def _with_code(words: str) -> Text:
    """The back-ticks stay: without colour they tell a command from the words around it."""
    text = Text(words)
    text.highlight_regex(r"`[^`]+`", "cyan")
    return text
