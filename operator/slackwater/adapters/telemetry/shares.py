"""How much telemetry one group may have: looked at twice a second, with other members at each look, it would fill a
hundred megabytes a minute, all of which somebody has to write, to keep and to read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from slackwater.adapters.telemetry.sinks import Line

LONGEST: Final = 128 * 1024
"""Bytes of one event: 2,000 members that are ours, of which the longest instance ids have 60 characters."""
AT_ONCE: Final = 8 * 1024 * 1024
"""Bytes: each of 2,000 members ends, returns and is Ready, in somewhat more than a kilobyte each time."""
A_SECOND: Final = 64 * 1024
"""Bytes, in the long run: twice what the poll times of 2,000 pods take."""
_SWEPT_AT: Final = 1_000


@dataclass(slots=True)
class _Used:
    size: float
    """Bytes, of which some are forgiven each second."""
    at: float


class Shares:
    """By group. `now`: seconds, by a clock that is not set back."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._used: dict[str, _Used] = {}
        self._swept_at = _SWEPT_AT

    def take(self, line: Line) -> bool:
        """Whether it is within its group's share; then it is counted."""
        size = len(line.text)
        used = self._used_of(line.key)
        if size > LONGEST or used.size + size > AT_ONCE:
            return False
        used.size += size
        return True

    def _used_of(self, group: str) -> _Used:
        now = self._now()
        if len(self._used) > self._swept_at:  # groups come and go
            self._used = {key: each for key, each in self._used.items() if _left(each, now) > 0}
            self._swept_at = max(_SWEPT_AT, 2 * len(self._used))
        used = self._used.setdefault(group, _Used(0.0, now))
        used.size, used.at = _left(used, now), now
        return used


def _left(used: _Used, now: float) -> float:
    return max(0.0, used.size - A_SECOND * (now - used.at))
