"""What a place for events has to offer, and what it may say when it cannot take them.

SlackwaterError
└── SinkUnavailable     not now: what was not taken is tried again
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from slackwater.api.errors import SlackwaterError


class Line(NamedTuple):
    """One event, as it is written."""

    key: str
    """Of the record in Kafka."""
    text: bytes
    """JSON without a line break."""


class SinkUnavailable(SlackwaterError):
    """The sink did not take all of a batch."""

    def __init__(self, message: str, left: Sequence[Line]) -> None:
        self.left = tuple(left)
        """What it did not take, or did not say that it took."""
        super().__init__(message)


class Sink(Protocol):
    async def write(self, lines: Sequence[Line]) -> int:
        """Take them all, in order; returns how many of them can never be written there and are lost.

        Raises SinkUnavailable.
        """
        ...

    async def close(self) -> None:
        """After the last write. Never raises."""
        ...
