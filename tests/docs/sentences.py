"""How long the sentences are that people read first, and which are in the passive: `python -m tests.docs.sentences`.

It reads README.md, the command's help and the CRDs' descriptions: part of `make docs`. A sentence has 35 words at the
most. A passive is a form of "to be" before a participle; where it says what the active could not, PASSIVES holds it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any, Final

import typer
import yaml

from slackwater.cli.main import app
from tests.docs.commands import commands
from tests.test_layout import ROOT

MOST_WORDS: Final = 35
PASSIVES: Final = ROOT / "tests" / "docs" / "passives.txt"
_IRREGULAR: Final = (
    "begun|bound|broken|brought|built|chosen|cut|drawn|found|given|held|hurt|kept|known|lost|made|meant|met|put|"
    "read|run|seen|sent|set|shown|shut|spent|stood|taken|thought|told|understood|written"
)
_STATES: Final = frozenset(("outdated", "allowed", "limited", "needed", "related", "supported", "tired"))
"""A pod that is outdated has had nothing done to it. For the same reason `done` and `gone` are no participles here."""
_PASSIVE: Final = re.compile(
    rf"\b(?:is|are|was|were|be|been|being)\s+(?:(?:not|never|only|also|still|then|all|\w+ly)\s+)*"
    rf"(?P<participle>\w+ed|{_IRREGULAR})\b",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_END: Final = re.compile(r"(?<=[.!?:;])\s+(?=[\"'(*`A-Z0-9\[])|(?<=[.!?])[\")*]+\s+")
_NO_END: Final = re.compile(r"\b(?:e\.g|i\.e|etc|vs|No)\.$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, and where it stands."""

    place: str
    text: str

    @property
    def words(self) -> int:
        return len(re.findall(r"[\w'/.@-]*\w[\w'/.@-]*", re.sub(r"`[^`]*`", "x", self.text)))

    @property
    def passives(self) -> tuple[str, ...]:
        plain = re.sub(r"`[^`]*`", "x", self.text)
        return tuple(found.group() for found in _PASSIVE.finditer(plain) if found["participle"].lower() not in _STATES)


def everything() -> Iterator[Sentence]:
    """All sentences of README, help and CRDs."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for text in of_markdown(readme):
        yield Sentence("README.md", text)
    yield from _helps()
    for path in sorted((ROOT / "crds").glob("*.yaml")):
        yield from _descriptions(yaml.safe_load(path.read_text(encoding="utf-8")), path.name, ())


def of_markdown(text: str) -> Iterator[str]:
    """Sentences of paragraphs, list items, headings and cells; code is none."""
    prose = _FENCE.sub("", text)
    prose = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", prose)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.)\s?)", prose):
        for cell in block.split("|") if block.lstrip().startswith("|") else [block]:
            line = " ".join(re.sub(r"^\s*(?:[-*#>]+|\d+\.)\s+", "", cell).split())
            if re.search(r"\w", line):
                yield from of_prose(line)


def of_prose(text: str) -> Iterator[str]:
    """Sentences of one paragraph: they end with a mark, and with a colon or semicolon before a capital."""
    begun = ""
    for part in _END.split(" ".join(text.split())):
        begun = f"{begun} {part}".strip()
        if not _NO_END.search(begun):
            yield begun
            begun = ""
    if begun:
        yield begun


def _helps() -> Iterator[Sentence]:
    root = typer.main.get_command(app)
    for words, command in [("slackwater", root), *commands(root)]:
        texts = [*cleandoc(command.help or "").split("\n\n")]
        texts += [parameter.help or "" for parameter in command.params if not getattr(parameter, "hidden", False)]
        for text in texts:
            for sentence in of_prose(text):
                yield Sentence(f"{words} --help", sentence)


def _descriptions(part: Any, file: str, path: tuple[str, ...]) -> Iterator[Sentence]:
    """Of every property, and the messages by which a rule refuses a value."""
    if isinstance(part, list):
        for each in part:
            yield from _descriptions(each, file, path)
    elif isinstance(part, dict):
        for name, below in part.items():
            if name in ("description", "message") and isinstance(below, str):
                for text in of_prose(below):
                    yield Sentence(f"{file} {'.'.join(each for each in path if each not in _SCHEMA)}", text)
            else:
                yield from _descriptions(below, file, (*path, name))


_SCHEMA: Final = ("spec", "versions", "schema", "openAPIV3Schema", "properties", "items", "x-kubernetes-validations")


def kept() -> frozenset[str]:
    """Sentences whose passive is needed: nobody in particular does it, or it is what the sentence is about."""
    lines = PASSIVES.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def complaints() -> list[str]:
    """What is too long, what is passive, and what stands in passives.txt without need."""
    found = list(dict.fromkeys(everything()))
    passives = {each.text for each in found if each.passives}
    said = [f"{each.place}: {each.words} words: {each.text}" for each in found if each.words > MOST_WORDS]
    said += [
        f"{each.place}: passive ({', '.join(each.passives)}): {each.text}"
        for each in found
        if each.passives and each.text not in kept()
    ]
    return said + [f"passives.txt: no such sentence any more: {text}" for text in sorted(kept() - passives)]


if __name__ == "__main__":
    if found := complaints():
        sys.exit("\n".join(found))
    sys.stdout.write(f"sentences: {len(set(everything()))}, none over {MOST_WORDS} words\n")
