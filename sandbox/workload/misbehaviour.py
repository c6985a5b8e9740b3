"""What a consumer can be made to do wrong while it works: by a record's value, or on SIGTERM."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Final, NoReturn

from sandbox.workload.settings import Behaviour

LOG = logging.getLogger("consumer")

WAIT: Final = b"wait"
CRASH: Final = b"crash"
EXIT_CRASH: Final = 1


def wait_of(pod: str) -> bytes:
    """A record that blocks the members of one pod only."""
    return WAIT + b" " + pod.encode()


def obey(value: bytes | None, behaviour: Behaviour, before: Callable[[], None]) -> None:
    """Do what a record's value asks for, if this consumer heeds it; `before` is called first.

    `wait` blocks this member for `wait_s`, SIGTERM or not, and whoever gets the record next; `wait <pod>` blocks the
    members of that pod only. `crash` ends the process without closing the client, so that the record is not committed
    and whoever gets it next crashes, too.
    """
    if value in (WAIT, wait_of(behaviour.pod)) and behaviour.wait_s:
        before()
        LOG.info("blocked for %s s, as a record asks", behaviour.wait_s)
        time.sleep(behaviour.wait_s)
        LOG.info("goes on")
    elif value == CRASH and behaviour.crash_on_record:
        before()
        LOG.error("crashing, as a record asks")
        os._exit(EXIT_CRASH)


def deadlock() -> NoReturn:
    """Wait for a lock that nobody gives back; the client goes on with its heartbeats until the process is killed."""
    LOG.info("deadlocked, as DEADLOCK_ON_SIGTERM asks")
    lock = threading.Lock()
    while True:
        lock.acquire()
