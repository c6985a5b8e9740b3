"""/healthz, /readyz and /metrics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from slackwater.adapters.aside import aside
from slackwater.shell.metrics import Metrics


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

    one_at_a_time = asyncio.Lock()

    async def is_well(_: web.Request) -> web.Response:
        return _answer(problem())

    async def is_ready(_: web.Request) -> web.Response:
        return _answer(problem() or not_ready())

    async def show_metrics(request: web.Request) -> web.Response:
        status = HTTPStatus.OK if admit is None else await admit(request.headers.get("Authorization", ""))
        if status is not HTTPStatus.OK:
            asks = {"WWW-Authenticate": "Bearer"} if status is HTTPStatus.UNAUTHORIZED else {}
            return web.Response(text=status.phrase, status=status, headers=asks)
        async with one_at_a_time:
            metrics.take_stock()
            text = await aside(metrics.text, "metrics")
        return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application()
    app.add_routes(
        [web.get("/healthz", is_well), web.get("/readyz", is_ready), web.get("/metrics", show_metrics)],
    )
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, port=port).start()
        yield
    finally:
        await runner.cleanup()


def _answer(problem: str) -> web.Response:
    return web.Response(text=problem or "ok", status=503 if problem else 200)
