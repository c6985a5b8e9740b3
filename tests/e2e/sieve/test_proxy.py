"""The proxy itself, between the operator's own client and an API server that is made up."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from aiohttp import web

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterUnreachable, Conflict
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, POD, SERVICE
from tests.e2e.sieve.faults import Fault, Strikes
from tests.e2e.sieve.proxy import Proxy, Upstream, kubeconfig_by
from tests.e2e.sieve.watches import WatchFault
from tests.e2e.sieve.writes import recognised
from tests.e2e.stage.waiting import wait_for

GROUP: Final = "orders"
SERVICE_BODY: Final = {"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "here", "name": GROUP}}
WATCH: Final = "/api/v1/namespaces/here/pods?watch=true"
EVENTS: Final = [b'{"n": 1}\n', b'{"n": 2}\n', b'{"n": 3}\n']


class MadeUp:
    """Keeps what it was asked to write, in its order, and answers each with its number; a watch brings three events."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("watch"):
            return web.Response(body=b"".join(EVENTS))
        if request.method == "GET":
            answer = web.json_response({"written": len(self.written)})
            answer.enable_compression()  # where it is accepted, as the API server does with long lists
            return answer
        self.written.append(f"{request.method} {request.path} {request.headers['Authorization']}")
        return web.json_response({"written": len(self.written)})


@pytest.fixture
async def made_up() -> AsyncIterator[MadeUp]:
    served = MadeUp()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", served.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    served.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield served
    await runner.cleanup()


@pytest.fixture
def kills() -> list[int]:
    return []


@pytest.fixture
def proxy(made_up: MadeUp, kills: list[int]) -> Iterator[Proxy]:
    with Proxy(Upstream(made_up.url), kill=lambda: kills.append(len(made_up.written))).serving() as served:
        yield served


@pytest.fixture
async def api(proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[KubernetesApi]:
    theirs = tmp_path / "theirs"
    context = {"name": "it", "context": {"cluster": "it", "user": "it"}}
    content: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", "current-context": "it", "contexts": [context]}
    content["clusters"] = [{"name": "it", "cluster": {"server": "https://nowhere.example"}}]
    content["users"] = [{"name": "it", "user": {"token": "secret"}}]
    theirs.write_text(yaml.safe_dump(content))
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig_by(proxy, theirs, tmp_path / "by-the-proxy")))
    connected = await KubernetesApi.connect()
    yield connected
    await connected.close()


async def apply(api: KubernetesApi) -> None:
    await api.apply(SERVICE_BODY)


DONE: Final = "PATCH /api/v1/namespaces/here/services/orders Bearer secret"


async def test_a_write_is_passed_on_with_the_token_of_who_asks(api: KubernetesApi, made_up: MadeUp) -> None:
    assert await api.apply(SERVICE_BODY) == {"written": 1}
    assert made_up.written == [DONE]


@pytest.mark.parametrize(
    ("fault", "error", "done"),
    [
        (Fault.LOST, ClusterUnreachable, True),
        (Fault.CONFLICT, Conflict, False),
        (Fault.FAILING, ClusterUnreachable, False),
        (Fault.KILLED_BEFORE, ClusterUnreachable, False),
        (Fault.KILLED_AFTER, ClusterUnreachable, True),
    ],
)
async def test_each_write_meets_the_fault_once(
    api: KubernetesApi,
    proxy: Proxy,
    made_up: MadeUp,
    kills: list[int],
    fault: Fault,
    error: type[Exception],
    done: bool,
) -> None:
    proxy.strikes.arm(GROUP, fault)
    with pytest.raises(error):
        await apply(api)
    assert made_up.written == [DONE] * done
    await apply(api)
    assert made_up.written == [DONE] * (1 + done)
    assert kills == ([int(done)] if fault.kills else [])
    assert proxy.strikes.counts(GROUP) == {"apply services": 1}


async def test_who_is_asked_to_wait_comes_back_and_it_is_noted_when(
    api: KubernetesApi, proxy: Proxy, made_up: MadeUp
) -> None:
    proxy.strikes.arm(GROUP, Fault.THROTTLED)
    await apply(api)
    assert len(proxy.retried_after_s) == 1
    assert made_up.written == [DONE]
    assert proxy.strikes.counts(GROUP) == {"apply services": 1}


async def test_what_others_write_and_what_is_read_meets_nothing(api: KubernetesApi, proxy: Proxy) -> None:
    proxy.strikes.arm("order", Fault.CONFLICT)
    await apply(api)
    proxy.strikes.arm(GROUP, Fault.CONFLICT)
    assert await api.read(SERVICE, "here", GROUP) == {"written": 1}
    await api.delete(POD, "here", "another-0", "uid")
    with pytest.raises(Conflict):
        await api.delete(POD, "here", f"{GROUP}-0", "uid")


async def test_all_writes_of_the_operator_are_recognised(api: KubernetesApi, proxy: Proxy) -> None:
    proxy.strikes.arm(GROUP, Fault.NONE)
    obj = {"metadata": {"namespace": "here", "name": GROUP, "uid": "1", "resourceVersion": "2"}}
    await apply(api)
    await api.apply_status(CONSUMER_GROUP, "here", GROUP, "1", {"phase": "Ready"})
    await api.set_finalizers(CONSUMER_GROUP, obj, ["one"])
    await api.merge(CONSUMER_GROUP, obj, {"spec": {}})
    await api.delete(POD, "here", f"{GROUP}-0", "uid")
    await api.create(SERVICE, "here", {"metadata": {"name": GROUP}})
    assert list(proxy.strikes.counts(GROUP)) == [
        "apply services",
        "apply consumergroups/status",
        "merge consumergroups",
        "delete pods",
        "create services",
    ]


def test_a_stateful_set_may_come_back_to_what_it_was_and_a_status_may_not() -> None:
    strikes = Strikes()
    strikes.arm(GROUP, Fault.FAILING)
    assert [strikes.judge(a_stateful_set(partition)) for partition in (2, 2, 3, 2)] == [
        Fault.FAILING,
        Fault.NONE,
        Fault.FAILING,
        Fault.FAILING,
    ]
    assert [strikes.judge(a_status(phase)) for phase in ("Progressing", "Complete", "Progressing")] == [
        Fault.FAILING,
        Fault.FAILING,
        Fault.NONE,
    ]


def a_stateful_set(partition: int) -> Any:
    template = {"metadata": {"annotations": {"slackwater.dev/template-hash": "abc"}}}
    update = {"rollingUpdate": {"partition": partition}}
    return written("statefulsets", {"spec": {"replicas": 3, "template": template, "updateStrategy": update}})


def a_status(phase: str) -> Any:
    return written("consumergroups/status", {"status": {"rollout": {"phase": phase}}})


def written(resource: str, body: Any) -> Any:
    plural, _, subresource = resource.partition("/")
    path = f"/apis/any/v1/namespaces/here/{plural}/{GROUP}" + (f"/{subresource}" if subresource else "")
    return recognised("PATCH", path, "application/apply-patch+yaml", json.dumps(body).encode())


@pytest.mark.parametrize(
    ("fault", "brought"),
    [
        (WatchFault.NONE, [1, 2, 3]),
        (WatchFault.END, [1]),
        (WatchFault.REPEAT, [1, 1, 2, 2, 1, 2, 3, 3, 2, 3]),
        (WatchFault.SKIP, [1, 3]),
        (WatchFault.EXPIRE, [1, "ERROR"]),
    ],
)
async def test_a_watch_brings_what_it_should_not(proxy: Proxy, fault: WatchFault, brought: list[Any]) -> None:
    proxy.watching = fault
    lines = (await asyncio.to_thread(get, proxy, WATCH)).splitlines()
    assert [(event := json.loads(line)).get("n", event.get("type")) for line in lines] == brought


async def test_a_watch_is_refused_as_too_old(proxy: Proxy) -> None:
    proxy.watching = WatchFault.GONE
    with pytest.raises(urllib.error.HTTPError, match="410"):
        await asyncio.to_thread(get, proxy, WATCH)


async def test_a_watch_hangs(proxy: Proxy) -> None:
    proxy.watching = WatchFault.HANG
    with pytest.raises(TimeoutError):
        await asyncio.to_thread(get, proxy, WATCH, 0.5)


@pytest.mark.slow
async def test_an_api_server_that_is_behind_shows_what_was(api: KubernetesApi, proxy: Proxy) -> None:
    proxy.watching = WatchFault.BEHIND
    assert await api.read(SERVICE, "here", GROUP) == {"written": 0}
    await apply(api)
    assert await api.read(SERVICE, "here", GROUP) == {"written": 0}
    path = SERVICE.path("here", GROUP)
    await asyncio.to_thread(wait_for, "what was done", lambda: json.loads(get(proxy, path)) == {"written": 1}, 20.0)


def get(proxy: Proxy, path: str, timeout_s: float = 10.0) -> bytes:
    with urllib.request.urlopen(f"{proxy.url}{path}", timeout=timeout_s) as answer:
        return bytes(answer.read())
