"""The work queue: nothing lost, nothing twice at once."""

from __future__ import annotations

import asyncio

import pytest

from slackwater.shell.queue import AGAIN_S, AT_ONCE, FIRST_BACKOFF_S, LONGEST_BACKOFF_S, WorkQueue


async def test_a_key_waits_at_most_once() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for key in ("a", "b", "a"):
        queue.add(key)
    assert [await queue.take(), await queue.take()] == ["a", "b"]
    assert len(queue) == 0


async def test_a_key_in_hand_comes_again_only_when_it_is_given_back() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    await queue.take()
    queue.add("a")
    queue.add("a")
    assert len(queue) == 0
    queue.done("a")
    assert await queue.take() == "a"
    queue.done("a")
    assert len(queue) == 0


async def test_a_later_look_comes_by_itself() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_later("a", 0.01)
    async with asyncio.timeout(60):
        assert await queue.take() == "a"


async def test_the_earliest_of_several_later_looks_counts_and_the_others_are_forgotten() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_later("a", 3600)
    queue.add_later("a", 0.01)
    queue.add_later("a", 1800)
    async with asyncio.timeout(60):
        assert await queue.take() == "a"
    queue.done("a")
    queue.add_later("a", 0.01)  # a new one is taken, although an old one has not come due
    async with asyncio.timeout(60):
        assert await queue.take() == "a"


async def test_a_later_look_that_comes_due_while_the_key_is_in_hand_is_not_lost() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    await queue.take()
    queue.add_later("a", 0.0)
    queue.add("b")
    assert await queue.take() == "b"  # moves what is due
    queue.done("a")
    assert await queue.take() == "a"


async def test_failed_work_comes_back_by_itself_even_when_an_event_came_meanwhile() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    await queue.take()
    queue.add("a")
    queue.failed("a")
    async with asyncio.timeout(60):
        assert await queue.take() == "a"


async def test_backoff_grows_up_to_a_bound_and_ends_with_the_first_success() -> None:
    queue: WorkQueue[str] = WorkQueue()
    delays = [queue.failed("a") for _ in range(12)]
    assert delays[0] == FIRST_BACKOFF_S
    assert delays == sorted(delays)
    assert delays[-1] == LONGEST_BACKOFF_S
    queue.done("a")
    assert queue.failed("a") == FIRST_BACKOFF_S


async def test_a_worker_that_waits_is_woken() -> None:
    queue: WorkQueue[str] = WorkQueue()
    waiting = [asyncio.create_task(queue.take()) for _ in range(2)]
    await asyncio.sleep(0)
    queue.add("a")
    queue.add("b")
    async with asyncio.timeout(60):
        assert sorted(await asyncio.gather(*waiting)) == ["a", "b"]


async def test_it_tells_for_how_long_work_has_been_in_hand() -> None:
    queue: WorkQueue[str] = WorkQueue()
    assert queue.in_hand_for() == 0
    queue.add("a")
    await queue.take()
    queue.add("b")
    await queue.take()
    queue.done("b")
    assert queue.in_hand_for() > 0
    queue.failed("a")
    assert queue.in_hand_for() == 0


def of_tenants(most: float = float("inf"), again_s: float = AGAIN_S) -> WorkQueue[str]:
    """Keys such as `a/1`, of tenant a."""
    return WorkQueue(lambda key: key.partition("/")[0], most, again_s)


async def taken(queue: WorkQueue[str], count: int) -> list[str]:
    async with asyncio.timeout(5):
        return [await queue.take() for _ in range(count)]


async def test_tenants_have_their_turns_one_after_the_other() -> None:
    queue = of_tenants()
    for key in ("a/1", "a/2", "a/3", "b/1", "b/2", "c/1"):
        queue.add(key)
    assert await taken(queue, 6) == ["a/1", "b/1", "c/1", "a/2", "b/2", "a/3"]


async def test_whoever_has_no_worker_finds_one_however_many_others_want() -> None:
    """Two tenants that belong together may take what is taken at will, and one each of the others, but no more."""
    queue = of_tenants(most=2)
    for number in range(5):
        queue.add(f"a/{number}")
        queue.add(f"b/{number}")
    assert await taken(queue, 2) == ["a/0", "b/0"]
    waiting = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    assert not waiting.done()
    queue.add("c/0")
    async with asyncio.timeout(5):
        assert await waiting == "c/0"
    assert len(queue) == 8


@pytest.mark.parametrize("give_back", ["done", "failed"])
async def test_a_worker_that_is_given_back_takes_the_next_of_its_tenant(give_back: str) -> None:
    queue = of_tenants(most=1)
    for key in ("a/1", "a/2"):
        queue.add(key)
    assert await taken(queue, 1) == ["a/1"]
    waiting = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    getattr(queue, give_back)("a/1")
    async with asyncio.timeout(5):
        assert await waiting == "a/2"


async def test_a_key_that_comes_without_an_end_comes_seldom_and_keeps_nobody_else() -> None:
    queue = of_tenants(again_s=3600)
    for _ in range(AT_ONCE):
        queue.add("a/restless")
        queue.done(*await taken(queue, 1))
    queue.add("a/restless")
    assert len(queue) == 0
    queue.add("a/other")
    assert await taken(queue, 1) == ["a/other"]


async def test_what_was_put_off_comes_by_itself() -> None:
    queue = of_tenants(again_s=0.01)
    for _ in range(AT_ONCE + 5):
        queue.add("a/restless")
        queue.done(*await taken(queue, 1))


async def test_the_pace_of_what_is_gone_is_forgotten() -> None:
    queue = of_tenants(again_s=1e-9)
    for number in range(3000):
        for _ in range(2):
            queue.add(f"a/{number}")
            queue.done(*await taken(queue, 1))
    assert len(queue._paces) <= 1000


async def test_of_all_workers_one_takes_something_in_each_turn_of_the_loop() -> None:
    """Each computes for milliseconds before it waits for anybody: probes and the Lease wait no longer than for one."""
    queue: WorkQueue[int] = WorkQueue()
    turn, taken = 0, list[int]()

    async def works() -> None:
        while True:
            queue.done(await queue.take())
            taken.append(turn)

    for key in range(100):
        queue.add(key)
    async with asyncio.timeout(60), asyncio.TaskGroup() as workers:
        running = [workers.create_task(works()) for _ in range(16)]
        while len(taken) < 100:
            turn += 1
            await asyncio.sleep(0)
        for each in running:
            each.cancel()
    assert len(set(taken)) == 100
