"""A connection that takes long to open or to close: nobody waits for it but who has it in hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import Unobserved
from slackwater.shell import connections as module
from slackwater.shell.open_connection import SECRETS_AGAIN_S
from slackwater.shell.store import Key
from tests.shell.fakes import KEY
from tests.shell.test_connections import OTHER, WITH_SECRET, Stage

ELSEWHERE = Key("default", "elsewhere")


@pytest.fixture
def stage() -> Stage:
    return Stage()


@asynccontextmanager
async def meanwhile(doing: Any, begun: asyncio.Event, goes_on: asyncio.Event) -> AsyncIterator[None]:
    """While `doing` stands still between `begun` and `goes_on`."""
    async with asyncio.timeout(60):
        task = asyncio.create_task(doing)
        await begun.wait()
        yield
        assert not task.done()
        goes_on.set()
        await task


class SlowSecrets:
    """The API server that answers a look at a Secret only when it may."""

    def __init__(self, stage: Stage) -> None:
        self.asked, self.may_answer = self.moments = asyncio.Event(), asyncio.Event()
        self._read = stage.api.read
        stage.add_secret("right")
        stage.api.read = self.read  # type: ignore[method-assign, assignment]

    async def read(self, *what: Any) -> Any:
        self.asked.set()
        await self.may_answer.wait()
        return await self._read(*what)


def closing(stage: Stage, number: int = 0) -> tuple[asyncio.Event, asyncio.Event]:
    """When the observer's end has begun, and when it may come."""
    observer = stage.observers[number]
    observer.may_end = asyncio.Event()
    return observer.closed, observer.may_end


@contextmanager
def nothing_is_left(stage: Stage) -> Iterator[None]:
    yield
    left = stage.connections
    assert (left._open, left._broken, left._used_by, left._in_hand) == ({}, {}, {}, {})
    assert all(observer.is_closed for observer in stage.observers)


async def test_a_secret_that_is_slow_to_read_holds_no_other_connection_up(stage: Stage) -> None:
    async with meanwhile(stage.use(connection="slow", **WITH_SECRET), *SlowSecrets(stage).moments):
        await stage.use(OTHER)
        assert stage.connections.awaits_first_look(OTHER)


async def test_a_client_that_is_slow_to_close_holds_no_other_connection_up(stage: Stage) -> None:
    await stage.use(connection="slow")
    async with meanwhile(stage.use(connection="slow", generation=2), *closing(stage)):
        await stage.use(OTHER)
        await stage.connections.forget(OTHER)


@pytest.mark.parametrize("slow", ["Secret", "close"])
async def test_no_group_waits_while_another_one_opens_its_connection(slow: str, stage: Stage) -> None:
    """There are as many workers as there are: a connection with more groups would keep all of them."""
    if slow == "Secret":
        generation, (begun, goes_on) = 1, SlowSecrets(stage).moments
    else:
        stage.add_secret("right")
        await stage.use(**WITH_SECRET)
        generation, (begun, goes_on) = 2, closing(stage)
    async with meanwhile(stage.use(generation=generation, **WITH_SECRET), begun, goes_on):
        await stage.use(OTHER, generation=generation, **WITH_SECRET)
        assert stage.connections.awaits_first_look(OTHER)
        assert OTHER not in stage.changed
    assert OTHER in stage.changed
    await stage.use(OTHER, generation=generation, **WITH_SECRET)
    assert len(stage.observers) == generation
    assert set(stage.observers[-1].watched) == {str(KEY), str(OTHER)}


async def test_a_connection_is_not_opened_before_it_is_closed(stage: Stage) -> None:
    await stage.use()
    with nothing_is_left(stage):
        async with meanwhile(stage.connections.forget(KEY), *closing(stage)):
            await stage.use(OTHER)
            assert len(stage.observers) == 1
        assert stage.changed == [OTHER]
        await stage.use(OTHER)
        assert set(stage.observers[1].watched) == {str(OTHER)}
        await stage.connections.forget(OTHER)


async def test_a_group_that_goes_takes_no_client_from_the_one_that_looks_at_its_secret(stage: Stage) -> None:
    stage.add_secret("right")
    await stage.use(**WITH_SECRET)
    stage.observers[0].views[str(KEY)] = Unobserved(Reason.NOT_AUTHORIZED, "refused", 0.0)
    moments = SlowSecrets(stage).moments
    with nothing_is_left(stage):
        again = stage.use(OTHER, now=SECRETS_AGAIN_S, **WITH_SECRET)
        async with meanwhile(again, *moments):
            await stage.connections.forget(KEY)
        (observer,) = stage.observers
        assert not observer.is_closed
        assert set(observer.watched) == {str(OTHER)}
        await stage.connections.forget(OTHER)


async def test_of_a_connection_that_nobody_uses_any_more_nothing_is_left(stage: Stage) -> None:
    with nothing_is_left(stage):
        await stage.use(**WITH_SECRET)
        assert stage.reason() == Reason.CONNECTION_INVALID
        await stage.connections.forget(KEY)


async def test_a_group_that_is_forgotten_while_its_connection_is_renewed_is_forgotten(stage: Stage) -> None:
    await stage.use()
    await stage.use(OTHER)
    with nothing_is_left(stage):
        async with meanwhile(stage.use(generation=2), *closing(stage)):
            await stage.connections.forget(OTHER)
        await stage.connections.forget(KEY)


async def test_who_fails_to_open_a_connection_lets_go_of_it(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: Any) -> None:
        raise TypeError("a mistake")

    with monkeypatch.context() as patch:
        patch.setattr(stage.api, "read", fail)
        with pytest.raises(TypeError):
            await stage.use(**WITH_SECRET)
    stage.add_secret("right")
    with nothing_is_left(stage):
        await stage.use(**WITH_SECRET)
        assert stage.connections.awaits_first_look(KEY)
        await stage.connections.forget(KEY)


async def test_an_observer_that_ended_is_closed_once_its_connection_is_in_nobodys_hand(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "OBSERVED_AGAIN_S", 0)
    stage.add_secret("right")
    await stage.use(**WITH_SECRET)
    (ended,) = stage.observers
    async with meanwhile(stage.use(generation=2, **WITH_SECRET), *SlowSecrets(stage).moments):
        ended.ends.set_exception(TypeError("a mistake"))
        for _ in range(10):
            await asyncio.sleep(0)
        assert not ended.is_closed
    assert ended.is_closed
    assert not stage.observers[1].is_closed


async def test_a_connection_whose_observer_ended_is_not_opened_before_it_is_closed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "OBSERVED_AGAIN_S", 0)
    await stage.use()
    begun, goes_on = closing(stage)
    stage.observers[0].ends.set_exception(TypeError("a mistake"))
    async with asyncio.timeout(60):
        await begun.wait()
        await stage.use(OTHER)
        assert len(stage.observers) == 1
        (watcher,) = stage.connections._watchers
        goes_on.set()
        await watcher
    assert OTHER in stage.changed
    await stage.use(OTHER)
    assert len(stage.observers) == 2


async def test_a_group_that_goes_before_it_came_back_to_a_renewed_connection_takes_nothing_along(stage: Stage) -> None:
    await stage.use()
    await stage.use(OTHER)
    await stage.use(generation=2)
    with nothing_is_left(stage):
        await stage.connections.forget(OTHER)
        assert set(stage.observers[1].watched) == {str(KEY)}
        assert stage.observers[1].unwatched == [str(OTHER)], "it may have a place there"
        await stage.connections.forget(KEY)
