"""What the commands have in common: their arguments and options, and how documents are printed."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import Annotated, Any, Final

import typer
import yaml
from rich.console import RenderableType

from slackwater.api.durations import parse_duration_ms
from slackwater.core.decision.words import harmless
from slackwater.terminal import Terminal, say

_UNBOUNDED: Final = 10_000
"""Characters: more than any line has."""


NAME: Final = r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?"


class Output(StrEnum):
    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


def parse_name(text: str) -> str:
    """Kubernetes' own rule for names; anything else would make another path of the request's."""
    if not re.fullmatch(NAME, text):
        raise typer.BadParameter(f"{text!r} is no name: write lower-case letters, digits and -")
    return text


def parse_context(text: str) -> str:
    """Nothing would choose the current one, as an empty variable of a script."""
    if not text.strip():
        raise typer.BadParameter("an empty context would be the current one: write its name, or leave --context out")
    return text


def parse_selector(text: str) -> str:
    """Labels, which the API server judges; but nothing would choose everything, as an empty variable of a script."""
    if not text.strip():
        raise typer.BadParameter("an empty selector would choose every group: write --all where that is meant")
    return text


def parse_seconds(text: str) -> float:
    try:
        return parse_duration_ms(text) / 1000
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


Name = Annotated[str, typer.Argument(help="The ConsumerGroup's name.", metavar="NAME", parser=parse_name)]
Namespace = Annotated[
    str | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAMESPACE",
        parser=parse_name,
        help="The namespace to look in; the context's when not given.",
    ),
]
Context = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", parser=parse_context, help="A context of the kubeconfig; the current one when not given."
    ),
]
As = Annotated[Output, typer.Option("--output", "-o", help="table for people, json or yaml for programs.")]
For = Annotated[
    float | None,
    typer.Option(
        "--for",
        metavar="DURATION",
        parser=parse_seconds,
        help="How long to watch the group in Kafka, such as 30s; 0s looks once. By default as long as it takes to"
        " tell whether the group is calm: its stableFor and 1s.",
    ),
]
Watch = Annotated[bool, typer.Option("--watch", "-w", help="Go on until somebody deletes the group, or until Ctrl-C.")]


def print_document(document: Any, output: Output) -> None:
    """As JSON or YAML."""
    say(in_yaml(document) if output is Output.YAML else json.dumps(document, indent=2))


def in_yaml(document: Any) -> str:
    """What cannot be seen, and what steers a terminal, comes as YAML's own escapes: it is the same document."""
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    if harmless(text) != text:
        text = yaml.safe_dump(document, sort_keys=False, allow_unicode=False)
    return text.rstrip("\n")


def print_whole(table: RenderableType) -> None:
    """As kubectl does it: a line that is wider than the terminal is not cut."""
    console = Terminal()
    unbounded = console.options.update(max_width=_UNBOUNDED)  # else it measures no more than the terminal has
    console.width = max(console.width, console.measure(table, options=unbounded).maximum)
    console.print(table)
