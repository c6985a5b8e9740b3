"""Of which groups there are series of their own: each has some fifty, three kilobytes of text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

ALL: Final = "All"
SUMMARY: Final = "Summary"
_TERM: Final = re.compile(r"[A-Za-z0-9]([-./_A-Za-z0-9]{0,315})?(=[-._A-Za-z0-9]{0,63})?")


def read_shown(value: str) -> str:
    """The same, if it says whose series there are. Raises ValueError."""
    if value in (ALL, SUMMARY) or all(map(_TERM.fullmatch, value.split(","))):
        return value
    raise ValueError(f"write {ALL}, {SUMMARY}, or labels: <label>=<value> or <label>, with commas between them")


def has_series(shown: str, labels: Mapping[str, str]) -> bool:
    """Whether a group with these labels has series of its own. `shown`: as `read_shown` takes it."""
    if shown in (ALL, SUMMARY):
        return shown == ALL
    terms = (term.partition("=") for term in shown.split(","))
    return all(name in labels and (not equals or labels[name] == value) for name, equals, value in terms)
