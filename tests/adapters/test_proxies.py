"""How the API server is reached: by a proxy where the environment names one, and with no password of the user's."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.adapters.cluster.proxies import proxy_for

API = "http://api.example.com:6443"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"http_proxy": "http://proxy:3128"}, "http://proxy:3128"),
        ({"HTTP_PROXY": "http://proxy:3128"}, "http://proxy:3128"),
        ({"https_proxy": "http://proxy:3128"}, None),
        ({"http_proxy": "http://proxy:3128", "no_proxy": "example.com"}, None),
        ({"http_proxy": "http://proxy:3128", "NO_PROXY": "*"}, None),
        ({"http_proxy": "http://proxy:3128", "no_proxy": "example.org"}, "http://proxy:3128"),
    ],
)
def test_the_environment_is_read_as_others_read_it(
    environment: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(API) == expected


@asynccontextmanager
async def answering(seen: list[tuple[str, str]]) -> AsyncIterator[int]:
    """A server, or a proxy, that answers all with an empty list."""

    async def answer(request: web.BaseRequest) -> web.Response:
        seen.append((str(request.url), request.headers.get("Authorization", "")))
        return web.json_response({"items": [], "metadata": {"resourceVersion": "7"}})

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def listed(server: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "clusters": [{"name": "here", "cluster": {"server": server}}],
        "users": [{"name": "me", "user": {}}],
    }
    (folder / "config").write_text(json.dumps(config))
    monkeypatch.setenv("KUBECONFIG", str(folder / "config"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    api = await KubernetesApi.connect()
    try:
        return (await api.list_all(CONSUMER_GROUP, None))[1]
    finally:
        await api.close()


async def test_requests_go_by_the_proxy_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, str]] = []
    async with answering(seen) as port:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        assert await listed(API, tmp_path, monkeypatch) == 7
    assert [url.split("?")[0] for url, _ in seen] == [f"{API}/apis/slackwater.dev/v1alpha1/consumergroups"]


async def test_what_the_user_s_netrc_says_of_the_host_goes_to_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    seen: list[tuple[str, str]] = []
    async with answering(seen) as port:
        assert await listed(f"http://127.0.0.1:{port}", tmp_path, monkeypatch) == 7
    assert [authorization for _, authorization in seen] == [""]
