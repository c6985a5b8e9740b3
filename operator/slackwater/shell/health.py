"""/healthz, /readyz and /metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from slackwater.shell.metrics import Metrics


@asynccontextmanager
async def served(
    port: int, metrics: Metrics, problem: Callable[[], str], not_ready: Callable[[], str]
) -> AsyncIterator[None]:
    """Answer while the block runs. `problem` and `not_ready` say what is wrong; empty when nothing is."""
    app = web.Application()
    app.router.add_get("/healthz", lambda _: _answer(problem()))
    app.router.add_get("/readyz", lambda _: _answer(problem() or not_ready()))
    app.router.add_get("/metrics", lambda _: _metrics(metrics))
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, port=port).start()
        yield
    finally:
        await runner.cleanup()


async def _answer(problem: str) -> web.Response:
    return web.Response(text=problem or "ok", status=503 if problem else 200)


async def _metrics(metrics: Metrics) -> web.Response:
    return web.Response(body=metrics.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})
