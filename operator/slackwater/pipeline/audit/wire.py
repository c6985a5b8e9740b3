"""Reads Kafka's message format by a table of fields: the table says what is there, this says how it is written.

Both encodings: the first one, and the "flexible" one of KIP-482 (compact lengths, tagged fields). Nothing here knows of
consumer groups. Whatever the bytes are, the only error is Undecodable: a length is believed only as far as there
are bytes, so that damaged input cannot ask for memory either. Imports nothing but the standard library.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from slackwater.pipeline.audit.errors import Reason, Undecodable

Values = Mapping[str, Any]
"""One record's fields by name; each has the type that its table says."""


class Kind(Enum):
    """A primitive type. The value of an integer is its width in bytes."""

    INT8 = 1
    INT16 = 2
    INT32 = 4
    INT64 = 8
    TEXT = "text"
    BYTES = "bytes"
    UUID = "uuid"  # read as Kafka prints it: 22 characters of URL-safe base 64


@dataclass(frozen=True, slots=True)
class Field:
    """One field: `kind` is a primitive or the fields of a struct; `many` makes an array of it.

    `since` and `until`: the versions that have it; in others it reads as None. `tag`: written among the tagged fields,
    where there are any, and None when absent.
    """

    name: str
    kind: Kind | tuple[Field, ...]
    many: bool = False
    nullable: bool = False
    since: int = 0
    until: int | None = None
    tag: int | None = None

    def is_in(self, version: int) -> bool:
        return self.since <= version and (self.until is None or version <= self.until)


@dataclass(frozen=True, slots=True)
class Layout:
    """A versioned message: an int16 of version, then these fields. From `flexible_since` on it is compact and tagged.

    `open_ended`: a later version may be read as the last one known, because it only ever appends (the consumer
    protocol's promise); else it is refused.
    """

    name: str
    fields: tuple[Field, ...]
    last_version: int = 0
    flexible_since: int | None = None
    open_ended: bool = False


_NULL_LENGTH: Final = -1
_UUID_BYTES: Final = 16
_VARINT_BYTES: Final = 5


def read(layout: Layout, data: bytes) -> Values:
    """The values of `data` by its layout. Raises Undecodable."""
    reader = _Reader(data)
    version = reader.integer(2)
    if version < 0:
        raise Undecodable(Reason.MALFORMED, f"{layout.name} has version {version}")
    newest = layout.last_version
    if version > newest and not layout.open_ended:
        detail = f"{layout.name} has version {version}, from a later Kafka; this slackwater knows 0 to {newest}"
        raise Undecodable(Reason.FUTURE_VERSION, detail)
    known = min(version, newest)
    reader.compact = layout.flexible_since is not None and known >= layout.flexible_since
    values = reader.struct(layout.fields, known)
    if not layout.open_ended:
        reader.must_be_at_end(layout.name)
    return values


class _Reader:
    """A place in some bytes, and what can be read from there."""

    def __init__(self, data: bytes, compact: bool = False) -> None:
        self._data = data
        self._at = 0
        self.compact = compact

    def struct(self, fields: tuple[Field, ...], version: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        tagged: dict[int, Field] = {}
        for field in fields:
            values[field.name] = None
            if not field.is_in(version):
                continue
            if field.tag is None:
                values[field.name] = self._field(field, version)
            else:
                tagged[field.tag] = field
        if self.compact:
            self._tagged(tagged, values, version)
        return values

    def _tagged(self, known: Mapping[int, Field], values: dict[str, Any], version: int) -> None:
        for _ in range(self._count(self._varint())):
            tag = self._varint()
            content = self._take(self._varint())
            if (field := known.get(tag)) is None:
                continue  # a field of a later Kafka, written so that older readers pass over it (KIP-482)
            inner = _Reader(content, compact=True)
            values[field.name] = inner.tagged(field, version)
            inner.must_be_at_end(field.name)

    def tagged(self, field: Field, version: int) -> Any:
        """The content of a tagged field. Before a struct that may be null, a number says whether it is there."""
        if isinstance(field.kind, tuple) and field.nullable and not field.many and self._varint() == 0:
            return None
        return self._field(field, version)

    def _field(self, field: Field, version: int) -> Any:
        if not field.many:
            return self._one(field, field.kind, version)
        length = self._length(4)
        if length == _NULL_LENGTH:
            return self._null(field)
        return [self._one(_ELEMENT, field.kind, version) for _ in range(self._count(length))]

    def _one(self, field: Field, kind: Kind | tuple[Field, ...], version: int) -> Any:
        if isinstance(kind, tuple):
            return self.struct(kind, version)
        if kind is Kind.UUID:
            return urlsafe_b64encode(self._take(_UUID_BYTES)).decode().rstrip("=")
        if kind not in (Kind.TEXT, Kind.BYTES):
            return self.integer(kind.value)
        length = self._length(2 if kind is Kind.TEXT else 4)
        if length == _NULL_LENGTH:
            return self._null(field)
        content = self._take(length)
        return self._text(content) if kind is Kind.TEXT else content

    def integer(self, width: int) -> int:
        return int.from_bytes(self._take(width), "big", signed=True)

    def must_be_at_end(self, name: str) -> None:
        if left := len(self._data) - self._at:
            raise Undecodable(Reason.MALFORMED, f"{left} bytes follow the end of {name}")

    def _length(self, width: int) -> int:
        """A length; -1 for null. Compact ones are written plus one."""
        length = self._varint() - 1 if self.compact else self.integer(width)
        if length < _NULL_LENGTH:
            raise Undecodable(Reason.MALFORMED, f"a length of {length}")
        return length

    def _count(self, count: int) -> int:
        """So many elements, each of a byte at least."""
        if count > len(self._data) - self._at:
            raise Undecodable(
                Reason.TRUNCATED, f"{count} elements are announced, {len(self._data) - self._at} bytes left"
            )
        return count

    def _varint(self) -> int:
        value = 0
        for place in range(_VARINT_BYTES):
            byte = self._take(1)[0]
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                return value
        raise Undecodable(Reason.MALFORMED, f"a number of more than {_VARINT_BYTES} bytes")

    def _take(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._data):
            raise Undecodable(Reason.TRUNCATED, f"{count} bytes are announced, {len(self._data) - self._at} left")
        taken = self._data[self._at : end]
        self._at = end
        return taken

    @staticmethod
    def _text(content: bytes) -> str:
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise Undecodable(Reason.MALFORMED, "a text that is not UTF-8") from error

    @staticmethod
    def _null(field: Field) -> None:
        if not field.nullable:
            raise Undecodable(Reason.MALFORMED, f"{field.name} is null")


_ELEMENT: Final = Field("an element", Kind.TEXT)
"""Of an array; none that is read here may be null."""
