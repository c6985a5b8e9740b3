"""Whoever writes an object chooses its size, and one process reads those of all namespaces."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest

from slackwater.adapters.cluster import api as module
from slackwater.adapters.cluster.answers import LARGEST_OBJECT
from slackwater.adapters.cluster.api import EVENTS_AT_ONCE, MOST_EVENTS, KubernetesApi
from slackwater.adapters.cluster.errors import AnswerTooLarge, ClusterRefused
from slackwater.adapters.cluster.lean import LONGEST_MESSAGE, Lean, lean
from slackwater.adapters.cluster.lists import LISTED_AT_ONCE, LONG
from slackwater.adapters.cluster.paths import EVENT, POD, SECRET, STATEFUL_SET
from tests.adapters.api_server import PART, Body, Server, answered

MIB: Final = 1024 * 1024
LABELS: Final = {f"a{number}": "" for number in range(48_000)}
NAMED: Final = {"name": "payments-0", "namespace": "shop", "uid": "u", "resourceVersion": "7"}


def operators(answers: Any) -> tuple[KubernetesApi, Server]:
    """The client as the operator has it."""
    server = Server(answers)
    api = KubernetesApi(server)
    api.kept = lean
    return api, server


def pod(**metadata: Any) -> Any:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": NAMED | metadata, "spec": {}, "status": {"phase": "Running"}}


def padded(obj: Any, size: int) -> bytes:
    return json.dumps(obj).encode() + b" " * size


def event(**said: Any) -> Any:
    managed: Any = [{"fieldsV1": {f"f:{name}": {} for name in LABELS}}]
    metadata = NAMED | {"labels": LABELS, "managedFields": managed}
    seen = {"lastTimestamp": "2026-01-01T00:00:00Z", "eventTime": None, "series": {"count": 2}}
    return {"metadata": metadata, "reason": "FailedMount", "count": 3, "involvedObject": {"uid": "u"}, **seen, **said}


def events_server(number: int) -> Any:
    text = json.dumps(event(message="no")).encode()

    def answers(url: str) -> Any:
        query = parse_qs(urlsplit(url).query)
        first = int(query.get("continue", ["0"])[0])
        last = min(number, first + int(query["limit"][0]))
        further = f',"continue":"{last}"' if last < number else ""
        page = (
            b'{"kind":"EventList","items":['
            + b",".join([text] * (last - first))
            + b'],"metadata":{"resourceVersion":"1"'
        )
        return answered(page + further.encode() + b"}}")

    return answers


async def test_the_largest_events_take_little() -> None:
    """In one answer they were 27 MB and took 322 MiB; two groups at once were the end of the operator."""
    api, server = operators(events_server(MOST_EVENTS + 1))
    tracemalloc.start()
    found = await api.events_of("shop", "u", "FailedMount")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == MOST_EVENTS
    assert len(server.asked) == MOST_EVENTS // EVENTS_AT_ONCE == 4
    assert len(json.dumps(found)) < 10_000
    assert peak < 64 * MIB


async def test_of_an_event_all_stays_that_is_read() -> None:
    kept = lean(EVENT, event(message="x" * (LONGEST_MESSAGE + 1), firstTimestamp="2025-01-01T00:00:00Z"))
    assert kept == {
        "metadata": NAMED,
        "reason": "FailedMount",
        "message": "x" * LONGEST_MESSAGE,
        "count": 3,
        "series": {"count": 2},
        "firstTimestamp": "2025-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "eventTime": None,
    }
    assert lean(EVENT, event())["message"] == ""


async def test_an_object_is_cut_before_it_is_kept() -> None:
    api, _ = operators(lambda _: answered(pod(labels=LABELS)))
    found = await api.read(POD, "shop", "payments-0")
    assert isinstance(found, Lean)
    assert found["metadata"] == NAMED | {"labels": {}, "annotations": {}}


async def test_what_a_write_is_answered_with_is_cut_as_well() -> None:
    made = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": NAMED | {"labels": LABELS}, "spec": {}}
    api, _ = operators(lambda _: answered(made))
    assert "labels" not in (await api.apply(made))["metadata"]


@pytest.mark.parametrize("told", [{"kind": "Status", "status": "Success"}, {}, [], None])
async def test_what_is_no_object_of_its_kind_stays_as_it_is(told: Any) -> None:
    api, _ = operators(lambda _: answered(told))
    assert await api.read(POD, "shop", "payments-0") == told


async def test_a_secret_is_read_whole() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": NAMED, "data": {"password": "eA=="}}
    api, _ = operators(lambda _: answered(secret))
    assert await api.read(SECRET, "shop", "payments-0") == secret


async def test_of_long_answers_one_at_a_time_is_in_memory() -> None:
    bodies: list[Body] = []
    longest: list[int] = []

    async def others_go_on() -> None:
        longest.append(sum(body.taken > LONG + PART for body in bodies if body.taken < len(body.text)))
        await asyncio.sleep(0)

    def answers(_: str) -> Any:
        bodies.append(Body(padded(pod(), MIB), others_go_on))
        return answered(bodies[-1])

    api, _ = operators(answers)
    found = await asyncio.gather(*(api.read(POD, "shop", "payments-0") for _ in range(12)))
    assert [each is not None and each["status"] for each in found] == [{"phase": "Running"}] * 12
    assert len(bodies) == 12
    assert max(longest) == 1


async def test_a_short_one_waits_for_nobody() -> None:
    begun, goes_on = asyncio.Event(), asyncio.Event()

    async def stops() -> None:
        if long.taken > LONG:
            begun.set()
            await goes_on.wait()

    long = Body(padded(pod(), MIB), stops)
    api, _ = operators(lambda url: answered(long if url.endswith("long") else pod()))
    reading = asyncio.create_task(api.read(POD, "shop", "long"))
    await begun.wait()
    assert await api.read(POD, "shop", "short") is not None
    goes_on.set()
    assert await reading is not None


async def test_whoever_gives_up_lets_the_next_one_in() -> None:
    begun = asyncio.Event()

    async def hangs() -> None:
        if hanging.taken > LONG:
            begun.set()
            await asyncio.Event().wait()

    hanging = Body(padded(pod(), MIB), hangs)
    api, _ = operators(lambda url: answered(hanging if url.endswith("hangs") else padded(pod(), MIB)))
    reading = asyncio.create_task(api.read(POD, "shop", "hangs"))
    await begun.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert hanging.closed
    assert await api.read(POD, "shop", "long") is not None


async def test_an_object_that_is_larger_than_etcd_keeps_them_is_not_read_to_its_end() -> None:
    body = Body(padded(pod(), 2 * LARGEST_OBJECT))
    api, _ = operators(lambda _: answered(body))
    with pytest.raises(AnswerTooLarge, match=r"GET .*/pods/payments-0 with more than 10,485,760 bytes") as refused:
        await api.read(POD, "shop", "payments-0")
    assert isinstance(refused.value, ClusterRefused)
    assert body.closed
    assert body.taken <= LARGEST_OBJECT + PART
    assert await KubernetesApi(Server(lambda _: answered(padded({}, MIB)))).read(POD, "shop", "next") == {}


def pods_server(number: int, size: int) -> Any:
    """Of so many bytes each."""

    def answers(url: str) -> Any:
        query = parse_qs(urlsplit(url).query)
        first, at_once = int(query.get("continue", ["0"])[0]), int(query["limit"][0])
        last = min(number, first + at_once)
        items = [{"metadata": {"name": f"payments-{each}"}} for each in range(first, last)]
        told = {"resourceVersion": "7"} | ({"continue": str(last)} if last < number else {})
        return answered(padded({"items": items, "metadata": told}, size * (last - first)))

    return answers


@pytest.fixture
def longest_list(monkeypatch: pytest.MonkeyPatch) -> int:
    """A small one."""
    monkeypatch.setattr(module, "LONGEST_LIST", MIB)
    return MIB


async def test_a_list_that_is_too_long_is_read_in_smaller_pages(longest_list: int) -> None:
    """JSON writes a character of one byte in six: fifty objects may be 450 MB."""
    number = 6
    api, server = operators(pods_server(number, longest_list // 4))
    found, _ = await api.list_all(POD, None)
    assert [each["metadata"]["name"] for each in found] == [f"payments-{each}" for each in range(number)]
    asked = [parse_qs(urlsplit(url).query)["limit"] for url in server.asked]
    assert asked == [[str(LISTED_AT_ONCE)], ["12"], ["3"], ["3"]]


async def test_what_no_page_is_small_enough_for_is_refused(longest_list: int) -> None:
    api, server = operators(pods_server(1, longest_list))
    with pytest.raises(AnswerTooLarge):
        await api.list_all(STATEFUL_SET, None)
    assert len(server.asked) == 4
