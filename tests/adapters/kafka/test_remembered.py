"""Of all groups of one namespace together so much is remembered of who has left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary

import pytest

from slackwater.adapters.kafka import remembered as module
from slackwater.adapters.kafka.observer import Observer
from slackwater.adapters.kafka.remembered import ALWAYS, Remembered, size_of
from slackwater.adapters.kafka.watch import Watch
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType, Member

MOST = 4 * ALWAYS


@pytest.fixture(autouse=True)
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", MOST)
    monkeypatch.setattr(module, "_ALL", WeakValueDictionary())


def crowd(look: int, number: int = 100, static: bool = True) -> GroupObservation:
    names = [f"{look}-{n}" for n in range(number)]
    members = tuple(
        Member(f"m-{name}", name if static else None, f"c-{name}", f"/10.0.0.{look}", frozenset()) for name in names
    )
    return GroupObservation("g", 1e9 + look, GroupState.STABLE, GroupType.CLASSIC, members=members)


def watch_in(namespace: str) -> Watch:
    return Watch("g", frozenset({"orders"}), remembered=Remembered(namespace))


def used(namespace: str) -> int:
    found = module._ALL.get(namespace)
    return 0 if found is None else found.used


@pytest.mark.parametrize("static", [True, False])
def test_groups_of_one_namespace_share_what_there_is_and_keep_the_newest(static: bool) -> None:
    watches = [watch_in("shop") for _ in range(10)]
    for look in range(12):
        for watch in watches:
            watch.fold(crowd(look, static=static))
    sizes = [size_of(watch.history) for watch in watches]
    assert used("shop") == sum(sizes)
    assert sum(sizes) <= MOST + len(watches) * ALWAYS
    for watch in watches:
        gone: Mapping[str, Any] = watch.history.departures if static else watch.history.left
        assert 50 < len(gone) < 1_100
        assert any("10-" in name for name in gone), "those of the last look"


def test_a_group_has_something_whatever_the_others_have_and_another_namespace_all() -> None:
    first, late, elsewhere = watch_in("shop"), watch_in("shop"), watch_in("ops")
    for look in range(40):
        first.fold(crowd(look))
    for watch in (late, elsewhere):
        for look in range(8):
            watch.fold(crowd(look))
    assert size_of(first.history) > MOST - ALWAYS
    assert ALWAYS / 3 < size_of(late.history) <= ALWAYS
    assert len(elsewhere.history.departures) == 700


def test_an_ordinary_group_is_not_cut() -> None:
    first, ordinary = watch_in("shop"), watch_in("shop")
    for look in range(40):
        first.fold(crowd(look))
    history = GroupHistory()
    for look in range(8):
        ordinary.fold(crowd(look, 4, static=False))
    for look in range(8):
        history = Watch("g", frozenset({"orders"}), history=history).folded(crowd(look, 4, static=False)).history
    assert ordinary.history == history
    assert history.left


def test_who_has_left_counts_as_work_of_the_next_look() -> None:
    """Or it would be gone through in the event loop."""
    watch = watch_in("shop")
    assert watch.weight == 0
    for look in range(3):
        watch.fold(crowd(look))
    assert watch.weight == 200


async def test_what_is_watched_no_more_takes_nothing() -> None:
    class Reader:
        async def close(self) -> None: ...

    observer = Observer(Reader(), lambda _: None)  # type: ignore[arg-type]
    for key in ("shop/a", "shop/b"):
        observer.watch(key, "g", ["orders"])
    for watch in observer._watches.values():
        for look in range(3):
            watch.fold(crowd(look))
    both = used("shop")
    observer.watch("shop/a", "another", ["orders"])
    assert list(observer._watches) == ["shop/a", "shop/b"], "the first is looked at first still"
    assert used("shop") == both / 2
    observer.unwatch("shop/b")
    assert used("shop") == 0
    observer.watch("shop/c", "g", ["orders"])
    for look in range(3):
        observer._watches["shop/c"].fold(crowd(look))
    assert used("shop") > 0
    await observer.close()
    assert used("shop") == 0
