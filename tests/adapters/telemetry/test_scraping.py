"""Consumers' endpoints: what they answer is read, and what they do instead of answering is said."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from slackwater.adapters.telemetry.scraping import LONGEST_ANSWER, Endpoint, ScrapeFailed, Scraper
from tests.adapters.telemetry.test_poll_metrics import JMX

LOOPBACK = "127.0.0.1"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def endpoint(handler: Handler) -> AsyncIterator[Endpoint]:
    app = web.Application()
    app.add_routes([web.get("/metrics", handler)])
    runner = web.AppRunner(app)
    await runner.setup()
    with socket.create_server((LOOPBACK, 0)) as held:
        try:
            await web.SockSite(runner, held).start()
            yield Endpoint(held.getsockname()[1])
        finally:
            await runner.cleanup()


@pytest.fixture
async def scraper() -> AsyncIterator[Scraper]:
    scraper = Scraper(timeout_s=60)
    yield scraper
    await scraper.close()


async def test_an_endpoint_is_read(scraper: Scraper) -> None:
    async def metrics(request: web.Request) -> web.Response:
        assert "text/plain" in request.headers["Accept"]
        return web.Response(text=JMX)

    async with endpoint(metrics) as where:
        reading = await scraper.read(LOOPBACK, where)
    assert reading is not None
    assert reading.time_between_poll_max_ms == 900.0


async def missing(_: web.Request) -> web.Response:
    return web.Response(status=404)


async def elsewhere(_: web.Request) -> web.Response:
    raise web.HTTPFound("http://169.254.169.254/")


async def endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(2 * LONGEST_ANSWER // 65_536):
        await response.write(b"x" * 65_536)
    return response


@pytest.mark.parametrize(
    ("handler", "problem"),
    [(missing, "status 404"), (elsewhere, "status 302"), (endless, f"more than {LONGEST_ANSWER} bytes")],
)
async def test_what_is_no_answer_is_said(scraper: Scraper, handler: Handler, problem: str) -> None:
    async with endpoint(handler) as where:
        with pytest.raises(ScrapeFailed, match=problem):
            await scraper.read(LOOPBACK, where)


async def test_nobody_there_is_said(scraper: Scraper) -> None:
    async with endpoint(missing) as where:
        pass
    with pytest.raises(ScrapeFailed, match=f"http://{LOOPBACK}:{where.port}/metrics cannot be read"):
        await scraper.read(LOOPBACK, where)


async def test_one_that_is_silent_is_not_waited_for() -> None:
    silent = asyncio.Event()

    async def wait(_: web.Request) -> web.Response:
        await silent.wait()
        return web.Response()

    scraper = Scraper(timeout_s=0.05)
    async with endpoint(wait) as where:
        with pytest.raises(ScrapeFailed, match="does not answer"):
            await scraper.read(LOOPBACK, where)
        silent.set()
    await scraper.close()


LARGE = b"# TYPE kafka_consumer_poll gauge\n" + b"x 1\n" * 400_000


async def test_answers_that_drip_keep_no_neighbour_from_being_read() -> None:
    """As large as an answer may be: until it is read, part of it waits in the socket. It has no deadline meanwhile."""
    dripping, order = asyncio.Event(), list[str]()

    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b"#")
        await dripping.wait()
        return response

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=LARGE)

    scraper = Scraper(timeout_s=0.5)

    async def ask(where: Endpoint, namespace: str) -> None:
        try:
            assert await scraper.read(LOOPBACK, where, namespace) is None
            order.append("read")
        except ScrapeFailed:
            order.append(f"{namespace} failed")

    async with endpoint(drip) as bad, endpoint(answer) as good:
        asked = [(bad, "evil")] * 8 + [(good, "good")] * 10
        await asyncio.gather(*(ask(*each) for each in asked))
        dripping.set()
    await scraper.close()
    assert order.count("read") == 10
    assert order[-1] == "evil failed"
