"""/healthz, /readyz and /metrics."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from http import HTTPStatus
from threading import Event, get_ident
from typing import Self

import aiohttp
import pytest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from slackwater.shell import health
from slackwater.shell.health import MOST_READERS, served
from slackwater.shell.metrics import Metrics


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


async def get(port: int, path: str, **headers: str) -> tuple[int, str]:
    address = f"http://127.0.0.1:{port}/{path}"
    async with aiohttp.ClientSession() as session, session.get(address, headers=headers) as answer:
        return answer.status, await answer.text()


async def test_a_process_that_works_is_well_before_it_is_ready(port: int) -> None:
    not_ready = "the cluster's objects have not been read yet"
    async with served(port, Metrics(), lambda: "", lambda: not_ready):
        assert await get(port, "healthz") == (200, "ok")
        assert await get(port, "readyz") == (503, not_ready)


async def test_a_broken_process_is_neither_well_nor_ready(port: int) -> None:
    async with served(port, Metrics(), lambda: "a part has ended", lambda: ""):
        assert await get(port, "healthz") == (503, "a part has ended")
        assert await get(port, "readyz") == (503, "a part has ended")


async def test_whoever_is_not_admitted_reads_no_metrics_and_probes_go_on(port: int) -> None:
    seen: list[str] = []

    async def admit(header: str) -> HTTPStatus:
        seen.append(header)
        return HTTPStatus.OK if header == "Bearer good" else HTTPStatus.UNAUTHORIZED

    async with served(port, Metrics(), lambda: "", lambda: "", admit):
        assert await get(port, "metrics") == (401, "Unauthorized")
        assert (await get(port, "metrics", Authorization="Bearer good"))[0] == 200
        assert await get(port, "healthz") == await get(port, "readyz") == (200, "ok")
    assert seen == ["", "Bearer good"]


async def test_a_process_of_many_groups_is_well_while_its_metrics_are_read(port: int) -> None:
    """Those of four thousand groups take a second, and whoever reads them again and again leaves no time for others."""
    metrics, asked, may_go_on, readers = Metrics(), Event(), Event(), list[int]()
    may_go_on.set()

    def slow() -> list[tuple[tuple[str, ...], int]]:
        readers.append(1)
        asked.set()
        assert may_go_on.wait(10.0), "nobody else had a turn"
        readers.pop()
        return [(("x",), len(readers))]

    metrics.count_requests("slow", "Takes long.", ("a",), slow)  # to register it is to read it once
    async with served(port, metrics, lambda: "", lambda: ""):
        may_go_on.clear()
        asked.clear()
        reading = [asyncio.ensure_future(get(port, "metrics")) for _ in range(3)]
        await asyncio.to_thread(asked.wait, 10.0)
        assert await get(port, "healthz") == (200, "ok")
        assert len(readers) == 1, "and they wait for one another"
        may_go_on.set()
        for status, text in await asyncio.gather(*reading):
            assert status == 200
            assert 'slow_total{a="x"} 0.0' in text


SIZE = 12_000_000


class Readers:
    """Of metrics that fill what sockets hold: they ask, and read nothing."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.writers: list[asyncio.StreamWriter] = []

    async def add(self) -> asyncio.StreamReader:
        """One more; returns as soon as the beginning of the answer is there."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1_024)
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        self.writers.append(writer)
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        return reader

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for writer in self.writers:
            writer.transport.abort()
        await asyncio.sleep(0)


def large() -> Metrics:
    metrics = Metrics()
    metrics.text = lambda: b"x" * SIZE  # type: ignore[method-assign]
    return metrics


async def test_so_many_read_metrics_at_once_and_no_more(port: int) -> None:
    """Each holds a body of its own until it has read it: 30 MB of ten thousand groups."""
    async with served(port, large(), lambda: "", lambda: ""), Readers(port) as slow:
        for _ in range(MOST_READERS):
            await slow.add()
        status, text = await get(port, "metrics")
        assert (status, text) == (503, f"{MOST_READERS} others read metrics now: try again")
        assert await get(port, "healthz") == await get(port, "readyz") == (200, "ok")
        slow.writers[0].transport.abort()
        async with asyncio.timeout(30):
            while (await get(port, "metrics"))[0] != 200:
                pass


async def test_whoever_does_not_read_in_time_is_hung_up_on(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few who ask and read nothing would keep the metrics from all others."""
    monkeypatch.setattr(health, "READ_WITHIN_S", 0.0)
    async with served(port, large(), lambda: "", lambda: ""), Readers(port) as slow:
        for _ in range(MOST_READERS + 1):
            reader, size = await slow.add(), 0
            with suppress(ConnectionResetError):
                while part := await reader.read(65_536):
                    size += len(part)
            assert size < SIZE


async def test_whoever_reads_nothing_keeps_the_process_from_no_end(port: int) -> None:
    async with Readers(port) as slow, asyncio.timeout(20), served(port, large(), lambda: "", lambda: ""):
        await slow.add()


async def test_of_metrics_there_is_a_head(port: int) -> None:
    async with (
        served(port, large(), lambda: "", lambda: ""),
        aiohttp.ClientSession() as session,
        session.head(f"http://127.0.0.1:{port}/metrics") as answer,
    ):
        assert (answer.status, answer.headers["Content-Length"]) == (200, str(SIZE))


class Changing(Collector):
    """Of a state that nobody but the event loop may read."""

    def __init__(self) -> None:
        self.read_by: list[int] = []

    def collect(self) -> list[GaugeMetricFamily]:
        self.read_by.append(get_ident())
        return [GaugeMetricFamily("fleets", "How many there are.", value=len(self.read_by))]


async def test_what_changes_as_a_whole_is_read_in_the_event_loop_for_each_reader(port: int) -> None:
    metrics, changing = Metrics(), Changing()
    metrics.count_at_once(changing)
    async with served(port, metrics, lambda: "", lambda: ""):
        for number in (2, 3):
            assert f"fleets {number}.0" in (await get(port, "metrics"))[1]
    assert set(changing.read_by) == {get_ident()}


async def test_metrics_are_served(port: int) -> None:
    metrics = Metrics()
    metrics.passed("ok", 0.1)
    async with served(port, metrics, lambda: "", lambda: ""):
        status, text = await get(port, "metrics")
    assert status == 200
    assert 'slackwater_reconciles_total{result="ok"} 1.0' in text
