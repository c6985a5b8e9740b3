"""Work on many groups, some at a time: whoever shares an event loop lets all else have its turn between two steps."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Final, TypeVar

T = TypeVar("T")

AT_ONCE: Final = 50
"""Groups of a step: some milliseconds."""


def done(steps: Generator[None, None, T]) -> T:
    """All steps, one after the other; returns what comes of them."""
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            found: T = ended.value
            return found


def in_parts(found: Sequence[T], most: int = AT_ONCE) -> Iterator[Sequence[T]]:
    return (found[first : first + most] for first in range(0, len(found), most))
