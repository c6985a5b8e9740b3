"""The same object with each short text once in the process: as JSON is read, every object has names of its own, and
half of what a ConsumerGroup takes is the names of its fields."""

from __future__ import annotations

import sys
from typing import Any, Final

_SHORT: Final = 64
"""Characters: of words, names, times and ids. What is longer is hardly ever said twice."""


def compact(value: Any) -> Any:
    """An equal value. What is deeper than Python goes is left as it is."""
    try:
        return _compact(value)
    except RecursionError:
        return value


def _compact(value: Any) -> Any:
    of = type(value)
    if of is str:
        return sys.intern(value) if len(value) <= _SHORT else value
    if of is dict:
        return {sys.intern(key): _compact(each) for key, each in value.items()}
    if of is list:
        return [_compact(each) for each in value]
    return value
