"""A consumer heeds `wait` and `crash` where it is set to, and nowhere else."""

from __future__ import annotations

import os
import time

import pytest

from sandbox.workload.commits import client_settings
from sandbox.workload.misbehaviour import EXIT_CRASH, obey, wait_of
from sandbox.workload.settings import Behaviour

PLAIN = Behaviour(topics=("orders",), pod="payments-0")
MOODY = Behaviour(topics=("orders",), pod="payments-0", wait_s=7.0, crash_on_record=True)


@pytest.mark.parametrize(
    ("behaviour", "value", "does"),
    [
        (MOODY, b"wait", ["flush", 7.0]),
        (MOODY, wait_of("payments-0"), ["flush", 7.0]),
        (MOODY, wait_of("payments-1"), []),
        (PLAIN, wait_of("payments-0"), []),
        (MOODY, b"crash", ["flush", EXIT_CRASH]),
        (MOODY, b"17", []),
        (MOODY, None, []),
        (PLAIN, b"wait", []),
        (PLAIN, b"crash", []),
    ],
)
def test_a_record_is_obeyed_by_a_consumer_that_heeds_it(
    monkeypatch: pytest.MonkeyPatch, behaviour: Behaviour, value: bytes | None, does: list[object]
) -> None:
    done: list[object] = []
    monkeypatch.setattr(time, "sleep", done.append)
    monkeypatch.setattr(os, "_exit", done.append)
    obey(value, behaviour, lambda: done.append("flush"))
    assert done == does


@pytest.mark.parametrize(
    ("behaviour", "settings"),
    [
        (PLAIN, {}),
        (MOODY, {"enable.auto.offset.store": "false"}),
        (Behaviour(topics=("orders",), pod="p", commit_s=60.0), {"enable.auto.commit": "false"}),
        (Behaviour(topics=("orders",), pod="p", output_topic="paid"), {"enable.auto.commit": "false"}),
    ],
)
def test_the_client_commits_nothing_too_early(behaviour: Behaviour, settings: dict[str, str]) -> None:
    assert client_settings(behaviour) == settings
