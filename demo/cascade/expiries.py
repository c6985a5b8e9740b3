"""Whose sessions ended, by what coordinators write into their logs. Pure.

When a classic member's session ends, its coordinator writes that it has failed and, unless a rebalance is under way,
that it prepares one "on heartbeat expiration" (Kafka 4.3, GroupMetadataManager). Both name the member, whose id is
used once: so each end counts once, whichever lines there are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

_LINES: Final = (
    re.compile(r"Member (?P<member>\S+) in group (?P<group>\S+) has failed, removing it from the group"),
    re.compile(r"rebalance group (?P<group>\S+) in state .*removing member (?P<member>\S+) on heartbeat expiration"),
)


def expiries(lines: Iterable[str]) -> Counter[str]:
    """Group id → how many of its members' sessions ended."""
    found = {(match["group"], match["member"]) for line in lines for match in _matches(line)}
    return Counter(group for group, _ in found)


def _matches(line: str) -> list[re.Match[str]]:
    return [match for pattern in _LINES if (match := pattern.search(line))]
