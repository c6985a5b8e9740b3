"""The forms in which a credential could show in a text."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, quote_plus

_CREDENTIALS = frozenset({"password", "clientSecret", "tls.key"})
_LINE_LENGTH = 24
"""Of a key in PEM, shorter lines could be anything."""


def shown(text: str, secrets: Mapping[str, Mapping[str, bytes]]) -> list[str]:
    """Secret and key of each credential that the text gives away, whole, encoded, or a line of it."""
    return sorted({place for place, form in _forms(secrets) if form in text})


def _forms(secrets: Mapping[str, Mapping[str, bytes]]) -> Iterator[tuple[str, str]]:
    for name, data in secrets.items():
        for key in _CREDENTIALS & data.keys():
            for form in _encoded(data, key):
                yield f"{name}/{key}", form


def _encoded(data: Mapping[str, bytes], key: str) -> Iterable[str]:
    value = data[key]
    if key == "tls.key":
        lines = [line for line in value.decode().splitlines() if not line.startswith("-")]
        return [line for line in lines if len(line) >= _LINE_LENGTH]
    text, user = value.decode(), data.get("username", data.get("clientId", b"")).decode()
    raw = (value, f"\0{user}\0{text}".encode(), f"{user}\0{user}\0{text}".encode(), f"{user}:{text}".encode())
    return {text, quote(text), quote_plus(text), value.hex(), *(base64.b64encode(each).decode() for each in raw)}
