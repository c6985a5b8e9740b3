"""`slackwater --help`: what people look for stands together, and no line ends in dots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import typer
from typer.core import TyperGroup

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "See": ("status", "list", "why", "members", "lag", "history"),
    "Before you apply": ("plan", "diff", "doctor", "reason"),
    "Control a rollout": ("pause", "resume", "promote", "abort", "undo", "retry", "restart", "force", "approve"),
    "Many groups": ("fleet", "campaign"),
    "Take over what runs": ("import", "adopt", "release"),
    "Learn from telemetry": ("recommend", "report", "pipeline"),
    "Else": ("run", "observe", "version", "completion"),
}
"""Title → commands, in the order in which they stand."""
ALIASES: Final[Mapping[str, str]] = {"explain": "why", "get": "list"}
"""What people who know kubectl, or an older Slackwater, type as well → the command."""


class Whole(TyperGroup):
    """Each command's first sentence, whole: click's own would cut it at the terminal's edge."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        self._section(formatter, "Commands", self.list_commands(ctx))

    def _section(self, formatter: Any, title: str, names: Iterable[str]) -> None:
        widest = max(map(len, self.commands))
        found = [(name, self.commands[name]) for name in names if name in self.commands]
        with formatter.section(title):
            formatter.write_dl([(name.ljust(widest), first_sentence(each.help or "")) for name, each in found])


class Grouped(Whole):
    """A command without a place would not be shown: a test holds the table to all that there are."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if _is_half_typed(ctx, args) else anywhere(args))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, ALIASES.get(cmd_name, cmd_name))

    def list_commands(self, ctx: Any) -> list[str]:
        there = super().list_commands(ctx)
        return sorted(there, key=lambda name: _ORDER.get(name, len(_ORDER)))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, names in GROUPS.items():
            self._section(formatter, title, names)


def _is_half_typed(ctx: Any, args: Sequence[str]) -> bool:
    """A shell asks how the line goes on whose last option has no value yet."""
    return bool(ctx.resilient_parsing and args and _ANYWHERE.get(args[-1]))


def anywhere(args: Sequence[str]) -> list[str]:
    """What kubectl takes anywhere on the line goes before the command. BadParameter where its value is missing."""
    first: list[str] = []
    rest: list[str] = []
    left = iter(args)
    for each in left:
        if each == "--":
            rest += [each, *left]
        elif each in _ANYWHERE:
            values = list(islice(left, _ANYWHERE[each]))
            if len(values) < _ANYWHERE[each]:
                raise typer.BadParameter(f"{each} needs a value: write it after it")
            first += [each, *values]
        else:
            (first if each.partition("=")[0] in _ANYWHERE else rest).append(each)
    return first + rest


def first_sentence(text: str) -> str:
    """Of a help's first paragraph, without its end."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return _END.split(paragraph, 1)[0].rstrip(".")


_ANYWHERE: Final[Mapping[str, int]] = {"--kubeconfig": 1, "--debug": 0, "--ask-kafka": 0}
"""Option → how many words it takes."""
_END: Final = re.compile(r"(?<=[\w`)])\. (?=[A-Z`])")
_ORDER: Final = {name: number for number, name in enumerate(name for names in GROUPS.values() for name in names)}
