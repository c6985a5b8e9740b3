"""What lives for good is looked through for garbage once."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from slackwater.shell import garbage
from slackwater.shell.garbage import COUNTED_EVERY_S, LeftAlone, keep_for_good
from slackwater.shell.operator import Operator, _prepare
from slackwater.shell.settings import Settings
from tests.shell.fakes import FakeApi


class Thing:
    """That may refer to itself."""

    def __init__(self) -> None:
        self.itself: Thing | None = None


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def looked_through_as_ever() -> Iterator[None]:
    before, frozen = list(gc.callbacks), gc.get_freeze_count()
    yield
    gc.callbacks[:] = before
    gc.unfreeze()
    gc.collect()
    if frozen:
        gc.freeze()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(garbage, "SOME", 0)
    clock = Clock()
    gc.callbacks.append(LeftAlone(clock))
    gc.collect()
    return clock


def is_looked_through(thing: object) -> bool:
    return any(each is thing for each in gc.get_objects())


async def test_what_was_there_at_the_start_is_looked_through_no_more() -> None:
    api: Any = FakeApi()
    operator = Operator(api, Settings.model_validate({}))
    parts: list[asyncio.Task[object]] = []
    await _prepare(operator, parts)
    assert operator.ready.is_set()
    assert gc.get_freeze_count() > 10_000
    assert not is_looked_through(operator)


def test_there_is_one_who_leaves_alone_however_often_it_is_asked_for() -> None:
    for _ in range(2):
        keep_for_good()
    assert sum(isinstance(each, LeftAlone) for each in gc.callbacks) == 1


@pytest.mark.usefixtures("clock")
def test_what_came_later_is_looked_through_once_too() -> None:
    thing = Thing()
    gc.collect(1)
    assert is_looked_through(thing), "a young one is looked through again"
    gc.collect()
    assert not is_looked_through(thing)


@pytest.mark.usefixtures("clock")
def test_what_nobody_refers_to_is_freed_as_ever() -> None:
    thing = Thing()
    gc.collect()
    gone = weakref.ref(thing)
    del thing
    assert gone() is None


def test_circles_are_freed_once_there_is_half_as_much_more(clock: Clock) -> None:
    circle = Thing()
    circle.itself = circle
    gc.collect()
    gone = weakref.ref(circle)
    del circle
    clock.now += COUNTED_EVERY_S
    gc.collect()
    assert gone() is not None, "one circle is not worth it"
    more = [[] for _ in range(gc.get_freeze_count() * 2 // 3)]  # type: ignore[var-annotated]
    gc.collect()
    clock.now += COUNTED_EVERY_S - 1
    gc.collect()
    assert gone() is not None, "nor is it counted each time"
    clock.now += 1
    gc.collect()
    assert gone() is None
    assert not is_looked_through(more)
