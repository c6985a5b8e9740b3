"""Who may read /metrics, by what the API server says of a token."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import pytest

from slackwater.adapters.cluster.errors import ClusterUnreachable
from slackwater.adapters.cluster.paths import ACCESS_REVIEW, TOKEN_REVIEW
from slackwater.ports import Kind
from slackwater.shell.readers import AT_A_TIME, KEPT_S, MOST_KEPT, Readers

PROMETHEUS: Final = {"username": "system:serviceaccount:monitoring:prometheus", "groups": ["system:authenticated"]}
NOBODY: Final = {"username": "system:serviceaccount:shop:default", "groups": ["system:authenticated"]}
TOKENS: Final = {"good": PROMETHEUS, "weak": NOBODY}


class ApiServer:
    def __init__(self) -> None:
        self.asked: list[str] = []
        self.away = False
        self.at_once = self.most_at_once = 0
        self.reviewed: list[Mapping[str, Any]] = []
        self.allowed = {PROMETHEUS["username"]}

    async def create(self, kind: Kind, namespace: str, body: Mapping[str, Any]) -> dict[str, Any]:
        assert (namespace, body["kind"], body["apiVersion"]) == ("", kind.name, kind.api_version)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        if self.away:
            raise ClusterUnreachable("no answer")
        self.asked.append(kind.name)
        spec = body["spec"]
        if kind is TOKEN_REVIEW:
            user = TOKENS.get(spec["token"])
            return {"status": {"authenticated": user is not None, **({"user": user} if user else {})}}
        assert kind is ACCESS_REVIEW
        self.reviewed.append(spec)
        return {"status": {"allowed": spec["user"] in self.allowed}}


class Stage:
    def __init__(self) -> None:
        self.api, self.now = ApiServer(), 1000.0
        api: Any = self.api
        self.readers = Readers(api, lambda: self.now)

    async def admit(self, header: str) -> HTTPStatus:
        return await self.readers.admit(header)


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("Bearer good", HTTPStatus.OK),
        ("bearer good", HTTPStatus.OK),
        ("Bearer weak", HTTPStatus.FORBIDDEN),
        ("Bearer made up", HTTPStatus.UNAUTHORIZED),
        ("Bearer \udce9", HTTPStatus.UNAUTHORIZED),
        ("Bearer ", HTTPStatus.UNAUTHORIZED),
        ("Basic good", HTTPStatus.UNAUTHORIZED),
        ("good", HTTPStatus.UNAUTHORIZED),
        ("", HTTPStatus.UNAUTHORIZED),
    ],
)
async def test_who_is_admitted(stage: Stage, header: str, status: HTTPStatus) -> None:
    assert await stage.admit(header) is status


async def test_the_account_is_asked_about_with_all_that_it_is(stage: Stage) -> None:
    await stage.admit("Bearer good")
    [asked] = stage.api.reviewed
    assert (asked["user"], asked["groups"]) == (PROMETHEUS["username"], PROMETHEUS["groups"])
    assert asked["nonResourceAttributes"] == {"path": "/metrics", "verb": "get"}


@pytest.mark.parametrize("token", ["good", "made up"])
async def test_an_answer_is_kept_for_a_minute(stage: Stage, token: str) -> None:
    first = await stage.admit(f"Bearer {token}")
    asked = len(stage.api.asked)
    stage.api.allowed.clear()
    stage.now += KEPT_S - 1
    assert await stage.admit(f"Bearer {token}") is first
    assert len(stage.api.asked) == asked
    stage.now += 1
    assert await stage.admit(f"Bearer {token}") is not HTTPStatus.OK
    assert len(stage.api.asked) == 2 * asked


async def test_what_the_api_server_did_not_say_is_not_kept(stage: Stage) -> None:
    stage.api.away = True
    assert await stage.admit("Bearer good") is HTTPStatus.SERVICE_UNAVAILABLE
    stage.api.away = False
    assert await stage.admit("Bearer good") is HTTPStatus.OK


async def test_a_clock_that_was_set_back_keeps_no_answer_for_longer(stage: Stage) -> None:
    assert await stage.admit("Bearer good") is HTTPStatus.OK
    stage.api.allowed.clear()
    stage.now -= 3600.0
    assert await stage.admit("Bearer good") is HTTPStatus.FORBIDDEN


async def test_strangers_who_make_tokens_up_fill_nothing_and_hurry_nobody(stage: Stage) -> None:
    many = range(MOST_KEPT + 50)
    await asyncio.gather(*(stage.admit(f"Bearer made up {number}") for number in many))
    assert stage.api.most_at_once == AT_A_TIME
    assert len(stage.readers._known) == MOST_KEPT


async def test_one_token_that_comes_many_times_at_once_is_asked_about_once(stage: Stage) -> None:
    assert await asyncio.gather(*(stage.admit("Bearer good") for _ in range(20))) == [HTTPStatus.OK] * 20
    assert stage.api.asked.count("TokenReview") <= AT_A_TIME
