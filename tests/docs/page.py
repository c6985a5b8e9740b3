"""What a page of the documentation has to be run, and what it says that this prints.

A block of shell after `<!-- run -->` is run. A block after `<!-- prints -->` holds lines that the last one prints, in
that order and perhaps with others between them; `…` stands for anything, and how much space there is does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLOCK = re.compile(r"^<!-- (run|prints) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    commands: str
    printed: tuple[str, ...] = ()

    def missing_in(self, output: str) -> str:
        """The first line that the page promises and the output does not have there; empty when it has all."""
        lines = iter(_one_spaced(line) for line in output.splitlines())
        for promised in self.printed:
            pattern = ".*".join(re.escape(_one_spaced(part)) for part in promised.split("…"))
            if not any(re.search(pattern, line) for line in lines):
                return promised
        return ""


def examples(page: str) -> Iterator[Example]:
    """In their order. ValueError where something is printed before anything is run."""
    commands = ""
    printed: tuple[str, ...] = ()
    for kind, text in _BLOCK.findall(page):
        if kind == "run":
            if commands:
                yield Example(commands, printed)
            commands, printed = text, ()
        elif not commands or printed:
            raise ValueError(f"nothing was run that prints this:\n{text}")
        else:
            printed = tuple(line for line in text.splitlines() if line)
    if commands:
        yield Example(commands, printed)


def _one_spaced(text: str) -> str:
    return " ".join(text.split())
