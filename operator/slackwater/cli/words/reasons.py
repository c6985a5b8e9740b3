"""What each condition reason means and what to do about it: `texts/reasons.md`, which is docs/reasons.md as well.

A part of it is a heading of the second level, a reason one of the third with two paragraphs below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

_SECTION: Final = re.compile(
    r"### (?P<name>\w+)\n\*\*What it means\.\*\* (?P<meaning>.+?)\n\n\*\*What to do\.\*\* (?P<advice>.+)", re.DOTALL
)
_LINK: Final = re.compile(r"\[(?P<words>[^]]+)]\((?P<page>[\w-]+\.md)[^)]*\)")


@dataclass(frozen=True, slots=True)
class ReasonText:
    name: str
    part: str
    """Title of the part that it stands in."""
    meaning: str
    advice: str

    @property
    def gist(self) -> str:
        """The first sentence."""
        return self.meaning.partition(". ")[0].rstrip(".")


@cache
def reason_texts() -> dict[str, ReasonText]:
    """By name, in the file's order."""
    return {text.name: text for text in parse(source())}


def source() -> str:
    return files("slackwater").joinpath("texts", "reasons.md").read_text(encoding="utf-8")


def parse(markdown: str) -> Iterator[ReasonText]:
    """Raises ValueError where a section has another shape."""
    for part in re.split(r"^## ", markdown, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        for section in re.split(r"^(?=### )", body, flags=re.MULTILINE)[1:]:
            found = _SECTION.fullmatch(section.strip())
            if found is None:
                raise ValueError(f"this section says not both what it means and what to do: {section!r}")
            yield ReasonText(found["name"], title, _on_one_line(found["meaning"]), _on_one_line(found["advice"]))


def _on_one_line(text: str) -> str:
    """For a terminal: a link is its words and the page."""
    return _LINK.sub(r"\g<words> (docs/\g<page>)", " ".join(text.split()))
