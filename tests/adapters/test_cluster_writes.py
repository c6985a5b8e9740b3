"""What stands before a write to the Kubernetes API: who may not write sends nothing, and nobody waits for long."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from slackwater.adapters.cluster.api import TIMEOUT_S, KubernetesApi
from slackwater.adapters.cluster.errors import ClusterUnreachable
from slackwater.adapters.cluster.paths import POD
from slackwater.api.errors import SlackwaterError


class FakeClient:
    """Answers {} to everything, or fails as it is told."""

    def __init__(self, failure: BaseException | None = None) -> None:
        self.configuration = SimpleNamespace(host="https://api")
        self.failure = failure
        self.sent: list[tuple[str, float]] = []
        """Method and seconds, for each request."""

    async def update_params_for_auth(self, *_: Any) -> None: ...

    async def call_api(self, method: str, *_: Any, _request_timeout: float) -> Any:
        self.sent.append((method, _request_timeout))
        if self.failure is not None:
            raise self.failure
        return SimpleNamespace(status=200, read=self._read)

    async def _read(self) -> bytes:
        return b"{}"


def refuse() -> float:
    raise SlackwaterError("not leading")


async def test_who_may_not_write_may_still_read() -> None:
    client = FakeClient()
    api = KubernetesApi(client)
    api.before_write = refuse
    await api.read(POD, "default", "a-0")
    with pytest.raises(SlackwaterError, match="not leading"):
        await api.delete(POD, "default", "a-0", "uid")
    assert [method for method, _ in client.sent] == ["GET"]
    assert api.requests == {("GET", "pods"): 1}
    assert api.unanswered_writes == 0


async def test_a_write_gets_no_more_time_than_is_left() -> None:
    client = FakeClient()
    api = KubernetesApi(client)
    await api.delete(POD, "default", "a-0", "uid")
    api.before_write = lambda: 1.5
    await api.delete(POD, "default", "a-0", "uid")
    await api.read(POD, "default", "a-0")
    assert client.sent == [("DELETE", TIMEOUT_S), ("DELETE", 1.5), ("GET", TIMEOUT_S)]


@pytest.mark.parametrize("failure", [TimeoutError(), asyncio.CancelledError()])
async def test_a_write_without_an_answer_is_remembered(failure: BaseException) -> None:
    client = FakeClient()
    api = KubernetesApi(client)
    await api.delete(POD, "default", "a-0", "uid")
    assert api.unanswered_writes == 0
    client.failure = failure
    with pytest.raises((ClusterUnreachable, asyncio.CancelledError)):
        await api.delete(POD, "default", "a-0", "uid")
    assert api.unanswered_writes == 1
