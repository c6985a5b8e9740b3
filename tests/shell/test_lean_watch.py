"""What kopf is given of a list, and that it knows refused credentials again."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import kopf
import pytest
from aiohttp import web

from slackwater.api.kept import CutSpec
from slackwater.shell.lean_watch import lean_session
from tests.shell.fakes import group_object

ANSWERS: dict[str, Any] = {
    "/apis/slackwater.dev/v1alpha1/consumergroups": {"kind": "ConsumerGroupList", "metadata": {"resourceVersion": "7"}},
    "/apis/slackwater.dev/v1alpha1": {"resources": [{"name": "consumergroups"}]},
}


@pytest.fixture
async def server() -> AsyncIterator[str]:
    large = group_object()
    large["spec"]["template"]["unknown"] = [{} for _ in range(30_000)]

    async def answer(request: web.Request) -> web.Response:
        known = ANSWERS[request.path]
        if "metadata" in known:
            known = {**known, "items": [group_object(), large]}
        return web.Response(text=json.dumps(known), content_type="application/json")

    app = web.Application()
    app.router.add_get("/{tail:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    await web.TCPSite(runner, "127.0.0.1", port).start()
    yield f"http://127.0.0.1:{port}"
    await runner.cleanup()


async def test_of_a_list_kopf_gets_what_is_kept(server: str) -> None:
    session = lean_session(kopf.ConnectionInfo(server=server)).aiohttp_session
    async with session:
        for path, answer in ANSWERS.items():
            async with session.get(server + path) as response:
                read = await response.json()
            items = read.pop("items", [])
            assert read == answer
            if items:
                small, large = (each["spec"] for each in items)
                assert small == group_object()["spec"]
                assert isinstance(large, CutSpec)


async def test_credentials_that_were_refused_are_known_again() -> None:
    found = kopf.ConnectionInfo(server="https://api", token="a")
    one, same, another = map(lean_session, (found, replace(found), replace(found, token="b")))
    assert one == same
    assert hash(one) == hash(same)
    assert one not in [another, found]
    for each in (one, same, another):
        await each.aiohttp_session.close()
