"""Part of an object that is seldom read, kept as text: as Python has it, it takes four times as much."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from slackwater.api.compact import compact


class Packed(Mapping[str, Any]):  # noqa: PLW1641 - as every mapping it has no hash
    """Equal to what it was made of, and read again each time that somebody asks."""

    __slots__ = ("_text",)

    def __init__(self, value: Mapping[str, Any]) -> None:
        """Raises TypeError and ValueError for what is no JSON."""
        self._text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    @property
    def weight(self) -> int:
        """Bytes that it takes, as text."""
        return sys.getsizeof(self._text)

    def unpacked(self) -> dict[str, Any]:
        """A new one each time, the caller's own."""
        found: dict[str, Any] = json.loads(self._text)
        return found

    def __getitem__(self, key: str) -> Any:
        return self.unpacked()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.unpacked())

    def __len__(self) -> int:
        return len(self.unpacked())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Packed) and self._text == other._text:
            return True
        return isinstance(other, Mapping) and self.unpacked() == dict(other)


def pods_packed(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """A ConsumerGroup's spec, or a StatefulSet's, in which the pods of its template are packed."""
    template = spec.get("template")
    pods = template.get("spec") if isinstance(template, Mapping) else None
    if not isinstance(template, Mapping) or not isinstance(pods, dict):
        return spec
    return {**spec, "template": {**template, "spec": Packed(pods)}}


def pods_unpacked(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same as it was."""
    template = spec.get("template")
    pods = template.get("spec") if isinstance(template, Mapping) else None
    if not isinstance(template, Mapping) or not isinstance(pods, Packed):
        return spec
    return {**spec, "template": {**template, "spec": compact(pods.unpacked())}}
