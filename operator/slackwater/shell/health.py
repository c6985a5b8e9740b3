"""/healthz, /readyz and /metrics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from slackwater.adapters.aside import aside
from slackwater.shell.metrics import Metrics

MOST_READERS: Final = 4
"""Of metrics at once: two servers, one more while they are replaced, and somebody who looks. Each holds what it reads,
three kilobytes of each group, until it has read it."""
READ_WITHIN_S: Final = 30.0
"""Three times as long as Prometheus waits: whoever reads nothing keeps nobody else from it."""

_PART: Final = 65_536
_CLOSED_WITHIN_S: Final = 1.0
"""For answers that are on their way when the process ends."""


@asynccontextmanager
async def served(
    port: int,
    metrics: Metrics,
    problem: Callable[[], str],
    not_ready: Callable[[], str],
    admit: Callable[[str], Awaitable[HTTPStatus]] | None = None,
) -> AsyncIterator[None]:
    """Answer while the block runs. `problem` and `not_ready` say what is wrong; empty when nothing is. `admit`: who may
    read the metrics, by the header `Authorization`; None: whoever gets here."""

    async def is_well(_: web.Request) -> web.Response:
        return _answer(problem())

    async def is_ready(_: web.Request) -> web.Response:
        return _answer(problem() or not_ready())

    app = web.Application()
    app.add_routes(
        [web.get("/healthz", is_well), web.get("/readyz", is_ready), web.get("/metrics", _shows(metrics, admit))],
    )
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_CLOSED_WITHIN_S)
    await runner.setup()
    try:
        await web.TCPSite(runner, port=port).start()
        yield
    finally:
        await runner.cleanup()


def _shows(
    metrics: Metrics, admit: Callable[[str], Awaitable[HTTPStatus]] | None
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    one_at_a_time, readers = asyncio.Lock(), asyncio.Semaphore(MOST_READERS)

    async def show(request: web.Request) -> web.StreamResponse:
        status = HTTPStatus.OK if admit is None else await admit(request.headers.get("Authorization", ""))
        if status is not HTTPStatus.OK:
            asks = {"WWW-Authenticate": "Bearer"} if status is HTTPStatus.UNAUTHORIZED else {}
            return web.Response(text=status.phrase, status=status, headers=asks)
        if readers.locked():
            return web.Response(text=f"{MOST_READERS} others read metrics now: try again", status=503)
        async with readers:
            async with one_at_a_time:
                metrics.take_stock()
                text = await aside(metrics.text, "metrics")
            return await _sent(request, text)

    return show


async def _sent(request: web.Request, text: bytes) -> web.StreamResponse:
    """All of it, but for what a socket holds; or the connection has ended. In parts, as a socket's buffer is a copy."""
    answer = web.StreamResponse(headers={"Content-Type": CONTENT_TYPE_LATEST, "Content-Length": str(len(text))})
    try:
        async with asyncio.timeout(READ_WITHIN_S):
            await answer.prepare(request)
            for at in range(0, len(text) if request.method == "GET" else 0, _PART):
                await answer.write(text[at : at + _PART])
            await answer.write_eof()
    except (TimeoutError, ConnectionError):
        if request.transport is not None:
            request.transport.abort()
    return answer


def _answer(problem: str) -> web.Response:
    return web.Response(text=problem or "ok", status=503 if problem else 200)
