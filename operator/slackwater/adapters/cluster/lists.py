"""Lists of the Kubernetes API, read item by item: of one that is cut to size the rest is gone before the next is read.

As Python has it an object may be twenty times as large as on the wire, and a list has those of all namespaces.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from slackwater.adapters.aside import aside

LISTED_AT_ONCE: Final = 50
"""Objects. Of a megabyte and a half each, as etcd has them at most, they are 75 MB, and twice that for a moment."""
LONG: Final = 256 * 1024
"""Bytes, that take some milliseconds."""
_DECODER: Final = json.JSONDecoder()
_SPACE: Final = " \t\n\r"


def read_list(text: bytes | bytearray, kept: Callable[[dict[str, Any]], Any]) -> Any:
    """As `json.loads`, and of each of the `items` what `kept` makes of it. Raises ValueError, and RecursionError."""
    reader = _Reader(text)
    if not reader.takes("{"):
        return json.loads(text.decode())
    found: dict[str, Any] = {}
    while not reader.takes("}"):
        if found:
            reader.expects(",")
        name = reader.value()
        reader.expects(":")
        found[name] = reader.items(kept) if name == "items" and reader.takes("[") else reader.value()
    reader.ends()
    return found


async def read_aside(
    text: bytes | bytearray,
    kept: Callable[[dict[str, Any]], Any],
    cut: Callable[[Any], Any] = lambda found: found,
) -> Any:
    """A long one in a thread, which others wait for one item at a time. The stack of a thread is 2 MiB at least, of
    which the deepest object that an API server takes needs three quarters. `cut`: what is kept of the whole answer."""

    def reading() -> Any:
        return cut(read_list(text, kept))

    return await aside(reading, "json") if len(text) > LONG else reading()


class _Reader:
    """Where one is in a text, which has one character for each byte.

    Python keeps every character of a text in four bytes where one of them is beyond the basic plane. So each value that
    is not ASCII is read for itself; no byte of UTF-8's longer characters means anything to JSON.
    """

    def __init__(self, text: bytes | bytearray) -> None:
        self._text = text.decode("latin-1")
        self._is_ascii = self._text.isascii()
        self._at = 0

    def takes(self, mark: str) -> bool:
        """Whether it comes next; then one is behind it."""
        while self._text[self._at : self._at + 1] in _SPACE and self._at < len(self._text):
            self._at += 1
        there = self._text.startswith(mark, self._at)
        self._at += len(mark) if there else 0
        return there

    def expects(self, mark: str) -> None:
        if not self.takes(mark):
            raise json.JSONDecodeError(f"Expecting {mark!r}", self._text, self._at)

    def value(self) -> Any:
        self.takes("")
        begun = self._at
        value, self._at = _DECODER.raw_decode(self._text, begun)
        if self._is_ascii or (own := self._text[begun : self._at]).isascii():
            return value
        del value
        return _DECODER.decode(own.encode("latin-1").decode())

    def items(self, kept: Callable[[dict[str, Any]], Any]) -> list[Any]:
        found: list[Any] = []
        while not self.takes("]"):
            if found:
                self.expects(",")
            found.append(kept(self.value()))
        return found

    def ends(self) -> None:
        self.takes("")
        if self._at != len(self._text):
            raise json.JSONDecodeError("Extra data", self._text, self._at)
