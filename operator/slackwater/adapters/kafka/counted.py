"""Counts what an answer says that it has, before anything of it is made: an array's number stands before its elements.

kafka-python compiles a decoder for each kind of answer from what its fields emit. It believes each number; reads one
that does not end into an ever larger integer, nine minutes for 4 MB; copies all that follows for each element with
tags, seventeen seconds; and gives None for a null where the protocol has none, which Java's client refuses.
What is emitted for these four is replaced here, for the whole process, by what refuses and by what is linear.

Every row of an answer becomes some five objects that Python's garbage collector looks at again and again, the event
loop standing still meanwhile: a million of them, which fit into 4 MB, cost half a second each time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from kafka.errors import KafkaProtocolError
from kafka.protocol.schemas.fields.array import ArrayField
from kafka.protocol.schemas.fields.codecs.tagged_fields import TaggedFields
from kafka.protocol.schemas.fields.codecs.types import UnsignedVarInt32
from kafka.protocol.schemas.fields.simple import SimpleField
from kafka.protocol.schemas.fields.struct import StructField
from kafka.protocol.schemas.fields.struct_array import StructArrayField

from slackwater.adapters.kafka.sizes import Limits

MOST_TAGS: Final = 64
"""Of one element; Kafka's own have three at most."""
_LOOP: Final = " in range("
_LAST_SHIFT: Final = 28
_NONE_IS_A_VALUE: Final = frozenset({"uuid", "bitfield"})
_now: Final = threading.local()


class TooMuch(KafkaProtocolError):  # type: ignore[misc]
    """An answer says that it has more of something than is looked at; nothing of it is made."""


class _Count:
    """Of one answer."""

    def __init__(self, limits: Limits) -> None:
        self._most = {"brokers": limits.brokers, "members": limits.members, "partitions": limits.partitions}
        self._rows = self._rows_left = limits.rows
        self._values = self._values_left = limits.values

    def take(self, name: str, number: int, is_row: bool) -> None:
        if number > (most := self._most.get(name, number)):
            raise TooMuch(f"{number:,} {name}, and slackwater looks at {most:,} at most")
        if is_row:
            self._rows_left -= number
        else:
            self._values_left -= number
        if self._rows_left < 0:
            raise TooMuch(f"more than {self._rows:,} rows, and slackwater reads no more of one answer")
        if self._values_left < 0:
            raise TooMuch(f"more than {self._values:,} values, and slackwater reads no more of one answer")


@contextmanager
def counted(limits: Limits) -> Iterator[None]:
    """What this thread decodes meanwhile is one answer, and raises TooMuch."""
    _now.count = _Count(limits)
    try:
        yield
    finally:
        _now.count = None


def _elements(name: str, is_row: bool, number: int) -> range:
    if (count := getattr(_now, "count", None)) is not None:
        if number < 0:  # it would be taken off the count
            raise ValueError(f"there are {number} {name}")
        count.take(name, number, is_row)
    return range(number)


def _refuse_null(name: str) -> None:
    if getattr(_now, "count", None) is not None:
        raise ValueError(f"there is no {name}")


def _emits_counted(emit: Callable[..., None], is_row: bool) -> Callable[..., None]:
    def emit_decode_from(field: Any, ctx: Any, *args: Any, **options: Any) -> None:
        before, name = len(ctx.lines), ctx.next_var("elements")
        emit(field, ctx, *args, **options)
        # The array's own loop comes before those of arrays within it.
        at = next(at for at, line in enumerate(ctx.lines) if at >= before and _LOOP in line)
        ctx.lines[at] = ctx.lines[at].replace(_LOOP, f" in {name}(")
        ctx.globs[name] = partial(_elements, field.name, is_row)

    return _emits_no_null(emit_decode_from)


def _emits_no_null(emit: Callable[..., None]) -> Callable[..., None]:
    """But where the schema has one. An identifier of zeros is None, too, and no null."""

    def emit_decode_from(
        field: Any, ctx: Any, name: str, indent: str, version: int | None = None, **options: Any
    ) -> None:
        emit(field, ctx, name, indent, version=version, **options)
        if not field.nullable_for_version_q(version) and field.type_str not in _NONE_IS_A_VALUE:
            refuse = ctx.next_var("refuse")
            ctx.globs[refuse] = partial(_refuse_null, field.name)
            ctx.emit(indent, f"if {name} is None: {refuse}()")

    return emit_decode_from


def varint_at(data: Any, at: int) -> tuple[int, int]:
    """An unsigned number of five bytes at most, and where it ends."""
    value = 0
    for shift in range(0, _LAST_SHIFT + 1, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("a number does not end")


_TEXTS: Final = _emits_no_null(SimpleField.emit_decode_from)
_VALUES: Final = _emits_counted(ArrayField.emit_decode_from, is_row=False)
_ROWS: Final = _emits_counted(StructArrayField.emit_decode_from, is_row=True)


def _emit_varint(_: type, ctx: Any, name: str, indent: str) -> None:
    ctx.globs["_varint_at"] = varint_at
    ctx.emit(indent, f"{name}, pos = _varint_at(data, pos)")


class _Reader:
    """Bytes from somewhere on, none of which are copied before they are read."""

    def __init__(self, data: Any, at: int) -> None:
        self._data = data
        self.at = at

    def read(self, size: int) -> bytes:
        found = bytes(self._data[self.at : self.at + size])
        self.at += len(found)
        return found


def _read_tags(data: Any, at: int, made: Any, fields: TaggedFields, version: int) -> int:
    """Set those that are known on what was made; returns where they end."""
    reader = _Reader(data, at)
    for name, value in fields.decode(reader, version=version).items():
        made.tags = (made.tags or set()) | {name}
        setattr(made, name, value)
    return reader.at


def _emit_tags(field: StructField, ctx: Any, name: str, indent: str, version: int) -> None:
    fields = ctx.next_var("tf")
    ctx.globs |= {fields: field.tagged_fields(version), "_read_tags": _read_tags}
    ctx.emit(indent, f"pos = _read_tags(data, pos, {name}, {fields}, {version})")


def _decode_tags(fields: TaggedFields, data: Any, version: int | None = None) -> dict[str, Any]:
    """Those that are known: the others are passed over."""
    number = UnsignedVarInt32.decode(data)
    if number > MOST_TAGS:
        raise ValueError("there are too many tags")
    found = {}
    for _ in range(number):
        tag, size = UnsignedVarInt32.decode(data), UnsignedVarInt32.decode(data)
        if (field := fields._tags.get(tag)) is not None:  # noqa: SLF001 - kafka-python looks there itself
            found[field.name] = field.decode(data, version=version, compact=True, tagged=None)
        else:
            data.read(size)
    return found


def count_from_now_on() -> None:
    """Before the first answer is decoded: what is compiled stays. A second time changes nothing."""
    ArrayField.emit_decode_from, StructArrayField.emit_decode_from = _VALUES, _ROWS
    SimpleField.emit_decode_from = _TEXTS
    UnsignedVarInt32.emit_decode_from = classmethod(_emit_varint)
    StructField._emit_tagged_decode = _emit_tags  # noqa: SLF001
    TaggedFields.decode = _decode_tags
