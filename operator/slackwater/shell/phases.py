"""When a group at rest has its turn: each by its name at another moment, so that never all come at once."""

from __future__ import annotations

from typing import Final
from zlib import crc32

from slackwater.core.pace import AT_REST_AGAIN_S
from slackwater.shell.store import Key

_STEPS: Final = 1 << 32


def spread_s(key: Key, again_s: float, now: float) -> float:
    """`again_s` at most, and exactly that where something is waited for. At rest it is the next turn of the group: all
    of them were looked at together, as after the start, and spread over the time that they have."""
    if again_s != AT_REST_AGAIN_S:
        return again_s
    phase_s = crc32(str(key).encode()) / _STEPS * again_s
    return again_s - (now - phase_s) % again_s
