"""Small pieces of sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_LINES: Final = re.compile(r"[\t\n\r\v\f\u2028\u2029]+")
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""What steers a terminal, or cannot be seen."""
MOST_IN_A_LIST: Final = 4
LONGEST_NAME: Final = 80
"""Characters of a name that somebody else chose: client ids may have 32,000."""


def shown(text: str, most: int = LONGEST_NAME) -> str:
    """What others have written, for people to read: in one line, so long at most, with nothing that cannot be seen."""
    text = text if len(text) <= most else f"{text[: most - 1]}…"
    return _UNSEEN.sub(_escaped, _LINES.sub(" ", text))


def harmless(text: str) -> str:
    """The same, of whatever length and in its own lines."""
    return _UNSEEN.sub(lambda unseen: "\n" if unseen[0] == "\n" else _escaped(unseen), text)


def _escaped(unseen: re.Match[str]) -> str:
    code = ord(unseen[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def listing(items: Iterable[str], most: int = MOST_IN_A_LIST, of: int | None = None) -> str:
    """`a, b, c, d and 3 more`. `of`: how many there are, where not all of them are at hand."""
    everything = list(items)
    shown = ", ".join(everything[:most])
    rest = (len(everything) if of is None else of) - most
    return f"{shown} and {rest} more" if rest > 0 else shown


def count(number: int, what: str) -> str:
    """`1 pod`, `3 pods`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def by_command(annotation: str, name: str) -> str:
    """How people give a group a command: `slackwater retry payments (annotation slackwater.dev/retry)`."""
    return f"slackwater {annotation.rpartition('/')[2]} {name} (annotation {annotation})"


def seconds(duration_s: float) -> str:
    """`0.4 s`, `12 s`, `3 min`."""
    if duration_s < 10:
        return f"{duration_s:.1f} s".replace(".0 s", " s")
    if duration_s < 120:
        return f"{duration_s:.0f} s"
    return f"{duration_s / 60:.0f} min"


def records(number: int) -> str:
    """`1 record`, `40 records`, as `rounded` has them."""
    return f"{rounded(number)} record" if number == 1 else f"{rounded(number)} records"


def rounded(count: int) -> str:
    """To one digit, so that a figure which moves all the time does not make a new message each time."""
    magnitude = 10 ** (len(str(abs(count))) - 1)
    return str(count // magnitude * magnitude)
