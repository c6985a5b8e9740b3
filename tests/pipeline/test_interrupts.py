"""Ctrl-C is noted, and raised where nothing is in the middle of anything."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from threading import Thread

import pytest

from slackwater.pipeline.interrupts import interrupts_noted


@pytest.fixture(autouse=True)
def handler() -> Iterator[object]:
    """What there was before is there afterwards."""
    before = signal.getsignal(signal.SIGINT)
    yield before
    assert signal.getsignal(signal.SIGINT) is before


def test_the_body_goes_on_to_its_end() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts_noted() as asked:
        signal.raise_signal(signal.SIGINT)
        done.append(asked.is_set())
    assert done == [True]


def test_a_second_one_does_not_wait() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts_noted():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        done.append("went on")
    assert done == []


def test_without_one_nothing_is_raised() -> None:
    with interrupts_noted() as asked:
        assert not asked.is_set()


def test_other_threads_are_not_told() -> None:
    seen: list[bool] = []

    def look() -> None:
        with interrupts_noted() as asked:
            seen.append(asked.is_set())

    thread = Thread(target=look)
    thread.start()
    thread.join(10)
    assert seen == [False]
