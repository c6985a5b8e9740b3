"""Host names, looked up aside: one that is slow to find holds up the connections to it, and no others.

kafka-python has one network thread for all brokers of a cluster, and `socket.getaddrinfo` blocks who calls it.
"""

from __future__ import annotations

import socket
from collections import deque
from contextlib import suppress
from threading import Thread
from typing import Any, Final

from kafka.future import Future

KEPT_S: Final = 10.0
"""For whoever gave up before the answer came, and tries again; short, so that a changed name is soon followed."""
AT_A_TIME: Final = 8
"""Threads; a cluster's brokers may have hundreds of names, none of which is found."""


class Lookups:
    """For one network thread, which alone calls this. There is one thread for each name that is being looked up, and
    further names wait.

    Not those of concurrent.futures: the process would wait for them at its end.
    """

    def __init__(self, net: Any) -> None:
        self._net = net
        self._begun: dict[tuple[str, int], Any] = {}
        self._running = 0
        self._waiting: deque[tuple[tuple[str, int], Any]] = deque()

    def addresses(self, host: str, port: int) -> Any:
        """A kafka-python future of what `getaddrinfo` gives, or raises."""
        place = (host, port)
        if place not in self._begun:
            self._begun[place] = Future()
            self._waiting.append((place, self._begun[place]))
            self._go_on()
        return self._begun[place]

    def _go_on(self) -> None:
        while self._waiting and self._running < AT_A_TIME:
            place, future = self._waiting.popleft()
            self._running += 1
            Thread(target=self._look_up, args=(place, future), name=f"lookup-{place[0]}", daemon=True).start()

    def _look_up(self, place: tuple[str, int], future: Any) -> None:
        """In a thread of its own."""
        value: Any
        try:
            settle, value = future.success, socket.getaddrinfo(*place, type=socket.SOCK_STREAM)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is for who waits
            settle, value = future.failure, error
        with suppress(Exception):  # the network has ended meanwhile, and nobody waits
            self._net.call_soon_threadsafe(lambda: self._done(place, future, settle, value))

    def _done(self, place: tuple[str, int], future: Any, settle: Any, value: Any) -> None:
        self._running -= 1
        self._go_on()
        settle(value)
        if future.exception is None:
            self._net.call_later(KEPT_S, lambda: self._begun.pop(place, None))
        else:
            self._begun.pop(place, None)
