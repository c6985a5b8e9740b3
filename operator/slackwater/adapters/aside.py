"""Calls what may hang, as a file on a volume whose server is away or a client that ends, without holding anybody up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


async def aside(function: Callable[[], T], name: str = "aside") -> T:
    """What the function returns, or raises. In a thread of its own: those of `to_thread` are few, and the process waits
    for them at its end."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[T] = loop.create_future()

    def settle(setter: Callable[[], None]) -> None:
        if not found.done():  # nobody waits any more
            setter()

    def call() -> None:
        done: Callable[[], None]
        try:
            value = function()
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            done = partial(found.set_exception, error)
        else:
            done = partial(found.set_result, value)
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, done)

    Thread(target=call, name=name, daemon=True).start()
    return await found
