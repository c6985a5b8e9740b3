"""Reads values in Kafka's own encoding, one field after the other."""

from __future__ import annotations

import struct


class Cursor:
    """A place in a record's value. Every method raises struct.error or IndexError beyond its end.

    Since KIP-482 there are two encodings of whatever has a length: `compact` ones have it in as few bytes as it takes,
    and one higher than it is.
    """

    def __init__(self, data: bytes, *, compact: bool = False) -> None:
        self._data = data
        self._at = 0
        self.compact = compact

    def int16(self) -> int:
        return self._number(">h", 2)

    def int32(self) -> int:
        return self._number(">i", 4)

    def int64(self) -> int:
        return self._number(">q", 8)

    def string(self) -> str | None:
        """None where the field is null."""
        length = self._varint() - 1 if self.compact else self.int16()
        return None if length < 0 else self.skip(length).decode()

    def blob(self) -> bytes:
        return self.skip(max(self.count(), 0))

    def count(self) -> int:
        """How many elements an array has; -1 where it is null."""
        return self._varint() - 1 if self.compact else self.int32()

    def int32s(self) -> list[int]:
        return [self.int32() for _ in range(self.count())]

    def skip(self, length: int) -> bytes:
        """Go on by so many bytes, which are the result."""
        taken = self._data[self._at : self._at + length]
        if len(taken) < length:
            raise struct.error(f"{length} bytes are announced, and {len(taken)} are there")
        self._at += length
        return taken

    def tags(self) -> None:
        """Go beyond the tagged fields that end a structure in the compact encoding; the other one has none."""
        for _ in range(self._varint() if self.compact else 0):
            self._varint()
            self.skip(self._varint())

    def _number(self, form: str, size: int) -> int:
        (value,) = struct.unpack_from(form, self._data, self._at)
        self._at += size
        return int(value)

    def _varint(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
