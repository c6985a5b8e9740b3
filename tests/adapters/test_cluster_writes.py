"""What stands before a write to the Kubernetes API: who may not write sends nothing, and nobody waits for long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest

from slackwater.adapters.cluster import api as module
from slackwater.adapters.cluster.api import DONE_OR_NEVER_S, TIMEOUT_S, KubernetesApi
from slackwater.adapters.cluster.errors import ClusterUnreachable
from slackwater.adapters.cluster.paths import POD, TOKEN_REVIEW
from slackwater.api.errors import SlackwaterError
from tests.adapters.api_server import answered


class FakeClient:
    """Answers {} to everything, or fails as it is told."""

    def __init__(self, failure: BaseException | None = None) -> None:
        self.configuration = SimpleNamespace(host="https://api")
        self.failure = failure
        self.sent: list[tuple[str, float]] = []
        """Method and seconds, for each request."""
        self.answers: list[tuple[int, dict[str, str]]] = []
        """Status and headers of the first ones."""

    async def update_params_for_auth(self, *_: Any) -> None: ...

    async def call_api(self, method: str, *_: Any, _request_timeout: float) -> Any:
        self.sent.append((method, _request_timeout))
        if self.failure is not None:
            raise self.failure
        status, headers = self.answers.pop(0) if self.answers else (200, {})
        return answered({}, status, headers)


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


async def test_a_question_that_is_put_as_an_object_is_no_write() -> None:
    """Who stands by is asked for its metrics, too."""
    client = FakeClient()
    api = KubernetesApi(client)
    api.before_write = refuse
    await api.create(TOKEN_REVIEW, "", {})
    assert [method for method, _ in client.sent] == ["POST"]
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
        await api.read(POD, "default", "a-0")
    assert api.unanswered_writes == 0
    with pytest.raises((ClusterUnreachable, asyncio.CancelledError)):
        await api.delete(POD, "default", "a-0", "uid")
    assert api.unanswered_writes == 1


async def test_a_write_without_an_answer_is_done_after_a_while_or_never(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were it remembered for ever, one lost answer would cost each later end of the operator the Lease's length."""
    clock = [1000.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    client = FakeClient(TimeoutError())
    api = KubernetesApi(client)
    for left_s in (5.0, 15.0):
        api.before_write = lambda left_s=left_s: left_s  # type: ignore[misc]
        with pytest.raises(ClusterUnreachable):
            await api.delete(POD, "default", "a-0", "uid")
    for passed_s, left in ((4.9, 2), (5.0, 1), (14.9, 1), (15.0, 0)):
        clock[0] = 1000.0 + passed_s + DONE_OR_NEVER_S
        assert api.unanswered_writes == left


@pytest.mark.parametrize(("method", "counted"), [("POST", 0), ("PATCH", 0), ("DELETE", 1)])
async def test_a_write_for_which_no_connection_was_made_does_not_count_where_it_is_sent_once(
    method: str, counted: int
) -> None:
    """Of a DELETE that aiohttp sends again the first time may have come through."""
    key: Any = SimpleNamespace(host="api", port=443, ssl=True)
    api = KubernetesApi(FakeClient(aiohttp.ClientConnectorError(key, OSError(111, "refused"))))
    pod = {"metadata": {"namespace": "default", "name": "a-0", "uid": "uid"}}
    sends: dict[str, Callable[[], Any]] = {
        "POST": lambda: api.create(POD, "default", {}),
        "PATCH": lambda: api.merge(POD, pod, {}),
        "DELETE": lambda: api.delete(POD, "default", "a-0", "uid"),
    }
    with pytest.raises(ClusterUnreachable):
        await sends[method]()
    assert api.unanswered_writes == counted


async def test_of_two_writes_at_once_the_one_without_an_answer_counts() -> None:
    client = FakeClient()
    api = KubernetesApi(client)
    begun, goes_on = asyncio.Event(), asyncio.Event()
    answer = client.call_api

    async def call_api(method: str, *what: Any, **how: Any) -> Any:
        if method == "POST":
            begun.set()
            await goes_on.wait()
        return await answer(method, *what, **how)

    client.call_api = call_api  # type: ignore[method-assign]
    slow = asyncio.create_task(api.create(POD, "default", {}))
    await begun.wait()
    await api.delete(POD, "default", "a-0", "uid")
    assert api.unanswered_writes == 1
    goes_on.set()
    await slow
    assert api.unanswered_writes == 0


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """For how long each time; no time passes."""
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return found


async def test_an_api_server_with_too_much_to_do_is_left_alone_for_as_long_as_it_asks(slept: list[float]) -> None:
    client = FakeClient()
    client.answers = [(429, {"Retry-After": "1"}), (429, {"Retry-After": "2"})]
    api = KubernetesApi(client)
    await api.delete(POD, "default", "a-0", "uid")
    assert ([method for method, _ in client.sent], slept) == (["DELETE"] * 3, [1.0, 2.0])
    assert api.unanswered_writes == 0


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "60"}, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}])
async def test_who_is_not_asked_to_wait_or_for_too_long_tries_again_later(
    slept: list[float], headers: dict[str, str]
) -> None:
    client = FakeClient()
    client.answers = [(429, headers)]
    with pytest.raises(ClusterUnreachable):
        await KubernetesApi(client).delete(POD, "default", "a-0", "uid")
    assert slept == []


def leading_once() -> Callable[[], float]:
    lefts = [5.0]

    def before_write() -> float:
        return lefts.pop() if lefts else refuse()

    return before_write


async def test_who_no_longer_leads_after_the_wait_does_not_try_again(slept: list[float]) -> None:
    client = FakeClient()
    client.answers = [(429, {"Retry-After": "1"})]
    api = KubernetesApi(client)
    api.before_write = leading_once()
    with pytest.raises(SlackwaterError, match="not leading"):
        await api.delete(POD, "default", "a-0", "uid")
    assert [method for method, _ in client.sent] == ["DELETE"]
