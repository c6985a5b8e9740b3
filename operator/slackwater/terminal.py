"""A terminal that shows what others wrote and obeys none of it.

Client ids, topics, images, messages and reasons are other people's texts: no markup, no links, no escape sequences of
theirs, whichever renderable they stand in.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from slackwater.core.decision.words import harmless


class Terminal(Console):
    """As rich's, but square brackets are square brackets."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"markup": False, "emoji": False, **settings})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What rich itself steers the terminal with stands in segments of their own."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(harmless(segment.text), segment.style)


def say(words: str, *, err: bool = False) -> None:
    """Plain lines, on standard output or on standard error. Colours of one's own are for a `Terminal`."""
    print(harmless(words), file=sys.stderr if err else sys.stdout, flush=True)


def one_line(words: str) -> str:
    """For what is one line whatever others wrote into it: a complaint, a comment, an item of a list."""
    return harmless(" ".join(words.split()))
