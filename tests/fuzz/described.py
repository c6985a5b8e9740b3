"""Answers to ConsumerGroupDescribe, by the schema that we gave kafka-python: each is one, or an error, and soon."""

from __future__ import annotations

import struct
from typing import Final

import atheris

with atheris.instrument_imports(include=["kafka.protocol", "slackwater.adapters.kafka.consumer_group_describe"]):
    from slackwater.adapters.kafka.consumer_group_describe import ConsumerGroupDescribeResponse

from tests.fuzz.play import play

REFUSED: Final = (ValueError, IndexError, TypeError, struct.error, OverflowError, KeyError)
"""What kafka-python says of bytes that are none of this message: its connection ends by it, and is made again."""


def target(data: bytes) -> None:
    version, rest = data[:1], data[1:]
    try:
        ConsumerGroupDescribeResponse.decode(rest, version=(version or b"\0")[0] % 2)
    except REFUSED:
        return


def main() -> None:
    empty = ConsumerGroupDescribeResponse(throttle_time_ms=0, groups=[])
    play("described", target, (bytes([version]) + bytes(empty.encode(version=version)) for version in (0, 1)))


if __name__ == "__main__":
    main()
