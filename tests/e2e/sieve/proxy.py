"""Stands between an operator and the API server: writes meet faults, and watches bring what they should not.

It runs in a thread of the test's process. The operator speaks to it without TLS, and shows its own token, which is
passed on.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

import aiohttp
import yaml
from aiohttp import web
from yarl import URL

from tests.e2e.sieve.faults import RETRY_AFTER_S, Fault, Strikes, refusal
from tests.e2e.sieve.watches import Past, WatchFault, spoiled
from tests.e2e.sieve.writes import recognised

T = TypeVar("T")

_HOST: Final = "127.0.0.1"
_LARGEST_BODY: Final = 1 << 26
_PASSED_ON: Final = ("Authorization", "Accept", "Content-Type", "User-Agent")
_STARTS_WITHIN_S: Final = 10.0


@dataclass(frozen=True)
class Upstream:
    """The API server of a kubeconfig."""

    url: str
    ssl_context: ssl.SSLContext | None = None
    server_name: str | None = None

    @classmethod
    def of(cls, kubeconfig: Path) -> Upstream:
        """The kubeconfig's first cluster, whose certificates stand in it or beside it."""
        cluster = yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]
        if "certificate-authority-data" in cluster:
            data = base64.b64decode(cluster["certificate-authority-data"]).decode()
            context = ssl.create_default_context(cadata=data)
        else:
            context = ssl.create_default_context(cafile=str(kubeconfig.parent / cluster["certificate-authority"]))
        return cls(cluster["server"], context, cluster.get("tls-server-name"))


@dataclass
class Proxy:
    upstream: Upstream
    strikes: Strikes = field(default_factory=Strikes)
    kill: Callable[[], None] = lambda: None
    """Kills the operator, and returns when another one is on its way."""
    watching: WatchFault = WatchFault.NONE
    port: int = 0
    retried_after_s: list[float] = field(default_factory=list)
    """How long after each 429 the same write came again."""
    _past: Past = field(default_factory=Past)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _session: aiohttp.ClientSession | None = None
    _killed: int = 0
    _born: WeakKeyDictionary[asyncio.BaseTransport, int] = field(default_factory=WeakKeyDictionary)
    """Connection → how many operators had been killed when it came: what a dead one sent is dropped."""
    _throttled_at: dict[tuple[str, str, str], float] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://{_HOST}:{self.port}"

    @contextmanager
    def serving(self) -> Iterator[Proxy]:
        thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        thread.start()
        runner = self._do(self._start())
        try:
            yield self
        finally:
            self._do(self._stop(runner))
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join(_STARTS_WITHIN_S)
            self._loop.close()

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_STARTS_WITHIN_S)

    async def _start(self) -> web.AppRunner:
        # No limit on connections: each watch holds one.
        connector = aiohttp.TCPConnector(limit=0, ssl=self.upstream.ssl_context or True)
        self._session = aiohttp.ClientSession(
            connector=connector, auto_decompress=False, timeout=aiohttp.ClientTimeout(), read_bufsize=1 << 21
        )
        app = web.Application(client_max_size=_LARGEST_BODY)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, _HOST, self.port).start()
        self.port = runner.addresses[0][1]
        return runner

    async def _stop(self, runner: web.AppRunner) -> None:
        await self._past.close()
        await runner.cleanup()
        if self._session is not None:
            await self._session.close()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        transport = request.transport
        if transport is None or self._born.setdefault(transport, self._killed) < self._killed:
            return _hang_up(request)
        body = await request.read()
        write = recognised(request.method, request.path, request.content_type, body)
        if write is None:
            return await self._read(request)
        place = (write.row, write.name, write.says)
        if (since := self._throttled_at.pop(place, None)) is not None:
            self.retried_after_s.append(self._loop.time() - since)
        fault = self.strikes.judge(write)
        if fault is Fault.THROTTLED:
            self._throttled_at[place] = self._loop.time()
        return await asyncio.shield(self._write(request, body, fault))

    async def _write(self, request: web.Request, body: bytes, fault: Fault) -> web.StreamResponse:
        if (code := fault.code) is not None:
            headers = {"Retry-After": str(RETRY_AFTER_S)} if fault is Fault.THROTTLED else {}
            return web.Response(status=code, body=refusal(code), content_type="application/json", headers=headers)
        if fault is Fault.KILLED_BEFORE:
            await self._kill()
            return _hang_up(request)
        answer = await self._forward(request, body)
        if fault is Fault.KILLED_AFTER:
            await self._kill()
            return _hang_up(request)
        return _hang_up(request) if fault is Fault.LOST else answer

    async def _kill(self) -> None:
        self._killed += 1
        await asyncio.to_thread(self.kill)

    async def _read(self, request: web.Request) -> web.StreamResponse:
        fault = self.watching
        if request.query.get("watch") in ("true", "1"):
            return await self._watch(request, fault)
        if fault is WatchFault.BEHIND and request.method == "GET" and "/namespaces/" in request.path:
            return await self._past.answer(request.raw_path, lambda: self._forward(request, b""))
        return await self._forward(request, b"")

    async def _forward(self, request: web.Request, body: bytes) -> web.Response:
        async with self._send(request, body) as answer:
            content = await answer.read()
            kept = {name: answer.headers[name] for name in ("Content-Type", "Retry-After") if name in answer.headers}
            return web.Response(status=answer.status, body=content, headers=kept)

    async def _watch(self, request: web.Request, fault: WatchFault) -> web.StreamResponse:
        if fault is WatchFault.GONE:
            return web.Response(status=410, body=_GONE, content_type="application/json")
        async with self._send(request, b"") as answer:
            stream = web.StreamResponse(status=answer.status, headers={"Content-Type": "application/json"})
            await stream.prepare(request)
            with suppress(ConnectionResetError):  # who watched is gone
                async for line in spoiled(fault, answer.content):
                    await stream.write(line)
            return stream

    def _send(self, request: web.Request, body: bytes) -> Any:
        assert self._session is not None
        url = URL(f"{self.upstream.url}{request.raw_path}", encoded=True)
        headers = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
        headers["Accept-Encoding"] = "identity"  # long lists come compressed otherwise
        return self._session.request(
            request.method, url, data=body or None, headers=headers, server_hostname=self.upstream.server_name
        )


_GONE: Final = json.dumps(
    {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410, "message": "too old"}
).encode()


def _hang_up(request: web.Request) -> web.Response:
    """End the connection without an answer."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def kubeconfig_by(proxy: Proxy, kubeconfig: Path, path: Path) -> Path:
    """The same user, by way of the proxy."""
    content: dict[str, Any] = yaml.safe_load(kubeconfig.read_text())
    clusters: list[Mapping[str, Any]] = content["clusters"]
    content["clusters"] = [{"name": each["name"], "cluster": {"server": proxy.url}} for each in clusters]
    path.touch(mode=0o600)
    path.write_text(json.dumps(content))
    return path
