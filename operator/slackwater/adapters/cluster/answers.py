"""What is read of the API server's answers: none without a bound, and of those that are long one at a time.

Whoever writes an object chooses its size, and passes of many groups read at the same time. An answer is in memory as it
came and as text, and as Python has them its objects take twenty times as much until they are cut.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from slackwater.adapters.cluster.errors import AnswerTooLarge
from slackwater.adapters.cluster.lists import LONG

LARGEST_OBJECT: Final = 10 * 1024 * 1024
"""Bytes. etcd takes a megabyte and a half, and JSON writes a character of one byte in six at most."""
LONGEST_LIST: Final = 80 * 1024 * 1024
"""Bytes: a page of objects of a megabyte and a half each. What is longer is asked for in smaller pages."""
READ_AT_ONCE: Final = LONG // 4
"""Bytes; twice as much is taken off the wire of an answer that waits for its turn."""


class Reading:
    """Of one answer, until what is kept of it is known."""

    def __init__(self, what: str, turn: asyncio.Lock, longest: int) -> None:
        self._what, self._turn, self._longest, self._has_turn = what, turn, longest, False

    async def text(self, answer: Any) -> bytearray:
        """Waits for others where it is long. Raises AnswerTooLarge."""
        self.end()
        try:
            return await self._whole(answer.response.content)
        except BaseException:
            answer.response.close()  # as aiohttp does it: the rest is not waited for
            raise

    async def _whole(self, content: Any) -> bytearray:
        found = bytearray()
        async for part in content.iter_any():
            found += part
            if len(found) > self._longest:
                raise AnswerTooLarge(
                    f"the Kubernetes API answered {self._what} with more than {self._longest:,} bytes: make what stands"
                    " there smaller"
                )
            if len(found) > LONG and not self._has_turn:
                self._has_turn = await self._turn.acquire()
        return found

    def end(self) -> None:
        """Another one may be read."""
        if self._has_turn:
            self._has_turn = False
            self._turn.release()


class Answers:
    """Of one API server, to whoever asks it."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def reading(self, what: str, longest: int) -> AsyncIterator[Reading]:
        """`what` is asked; `longest`: bytes that the answer may have."""
        reading = Reading(what, self._turn, longest)
        try:
            yield reading
        finally:
            reading.end()
