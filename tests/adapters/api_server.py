"""Answers of an API server as `kubernetes.aio` hands them over, without one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from types import SimpleNamespace
from typing import Any, Final

PART: Final = 64 * 1024


class Body:
    """Comes in parts. `taken` bytes of it were taken off the wire."""

    def __init__(self, text: bytes, before_each: Callable[[], Awaitable[object]] | None = None) -> None:
        self.text, self.taken, self.closed = text, 0, False
        self._before_each = before_each

    async def iter_any(self) -> AsyncIterator[bytes]:
        for at in range(0, len(self.text), PART):
            if self._before_each is not None:
                await self._before_each()
            part = self.text[at : at + PART]
            self.taken += len(part)
            yield part

    def close(self) -> None:
        self.closed = True


def answered(body: Body | bytes | Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Any:
    """`body`: as it comes, as text, or as an object."""
    if not isinstance(body, Body):
        body = Body(body if isinstance(body, bytes) else json.dumps(body).encode())
    response = SimpleNamespace(content=body, close=body.close)
    return SimpleNamespace(status=status, headers=headers or {}, response=response)


class Server:
    """Answers each request as it is told to. `asked`: the URLs."""

    def __init__(self, answers: Callable[[str], Any]) -> None:
        self.configuration = SimpleNamespace(host="https://api")
        self.asked: list[str] = []
        self._answers = answers

    async def update_params_for_auth(self, *_: Any) -> None: ...

    async def call_api(self, _: str, url: str, *__: Any, _request_timeout: float) -> Any:
        self.asked.append(url)
        return self._answers(url)
