"""How a list is taken in; when one that failed is due again, and when it is no use."""

from __future__ import annotations

import asyncio

import pytest

from slackwater.adapters.cluster.errors import ClusterUnreachable, Forbidden
from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.shell.listing import REFUSED_FOR_S, TAKEN_AT_ONCE, Failing, take_in
from slackwater.shell.store import Key, Store, key_of
from tests.shell.fakes import group_object


def test_who_fails_again_waits_longer_and_never_long() -> None:
    failing, waits = Failing(), []
    for _ in range(8):
        failing.failed(ClusterUnreachable("no answer"))
        waits.append(failing.again_s)
    assert waits == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


def test_only_what_is_refused_all_the_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("slackwater.shell.listing.time.monotonic", lambda: clock[0])
    failing, refused = Failing(), Forbidden("forbidden (403)")
    failing.failed(refused)
    clock[0] = REFUSED_FOR_S - 1
    failing.failed(ClusterUnreachable("no answer"))
    clock[0] = REFUSED_FOR_S + 1
    failing.failed(refused)
    clock[0] = 2 * REFUSED_FOR_S + 1
    with pytest.raises(Forbidden):
        failing.failed(refused)


async def test_a_long_list_is_taken_in_a_part_at_a_time_and_what_it_lacks_is_forgotten() -> None:
    store, turns = Store(), 0
    store.put(CONSUMER_GROUP, group_object(1, name="gone"))
    listed = [group_object(2, name=f"g{number}") for number in range(4 * TAKEN_AT_ONCE)]

    async def somebody_else() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(somebody_else())
    changed = await take_in(store, CONSUMER_GROUP, listed, 5)
    other.cancel()
    assert turns >= 4
    assert changed == {key_of(each) for each in listed} | {Key("default", "gone")}
    assert store.count(CONSUMER_GROUP) == len(listed)
