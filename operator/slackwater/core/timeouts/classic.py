"""A member's timeouts as one set that fits together, held within what the brokers allow (F7, F8, F22)."""

from __future__ import annotations

from dataclasses import dataclass

from slackwater.api.timeouts import Timeouts
from slackwater.core.world.broker import Bounds


@dataclass(frozen=True, slots=True)
class ClassicTimeouts:
    """What pods of the classic protocol are given, in milliseconds; one set, so that it fits together (F7, F8)."""

    session_ms: int
    heartbeat_ms: int
    max_poll_interval_ms: int


def classic_timeouts(timeouts: Timeouts, bounds: Bounds | None) -> ClassicTimeouts:
    """The spec's, with the session within `bounds` and the other two fitted to it."""
    session = within(timeouts.classic_session_timeout_ms, bounds)
    heartbeat = min(timeouts.classic_heartbeat_interval_ms, max(1, session // 3))
    return ClassicTimeouts(session, heartbeat, max(timeouts.given_max_poll_interval_ms, session))


def within(value_ms: int, bounds: Bounds | None) -> int:
    """The nearest value that the brokers allow; the value itself where what they allow is not known."""
    return bounds.clamp(value_ms) if bounds is not None else value_ms
