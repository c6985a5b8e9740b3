"""The work queue: nothing lost, nothing twice at once."""

from __future__ import annotations

import asyncio

from slackwater.shell.queue import FIRST_BACKOFF_S, LONGEST_BACKOFF_S, WorkQueue


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
