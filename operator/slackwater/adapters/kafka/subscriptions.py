"""Which topics a member of a classic group has asked for, as it wrote them into its metadata.

That stays the same from look to look, and is decoded once. Anybody in a group may write into it what he likes, and
something else each time: what is kept is bounded by bytes, and goes when nobody shows it any more.
"""

from __future__ import annotations

from threading import Lock
from typing import Final

from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

LONGEST_KEPT: Final = 4_096
MOST_KEPT: Final = 2 * 1024 * 1024
"""Bytes of metadata in each of two generations; of thirty thousand members, mostly."""

Topics = frozenset[str] | None


class Subscriptions:
    """What was seen lately, in two generations: a full one is kept until the next is full. For any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._now: dict[bytes, Topics] = {}
        self._before: dict[bytes, Topics] = {}
        self.size = 0
        """Bytes of metadata in the newer one."""

    def of(self, metadata: bytes) -> Topics:
        """None where it says nothing, as while the group rebalances, or cannot be read."""
        with self._lock:
            if metadata in self._now:
                return self._now[metadata]
            known = metadata in self._before
            found = self._before[metadata] if known else None
        found = found if known else _read(metadata)
        if len(metadata) <= LONGEST_KEPT:
            with self._lock:
                self._keep(metadata, found)
        return found

    def _keep(self, metadata: bytes, found: Topics) -> None:
        if self.size + len(metadata) > MOST_KEPT:
            self._before, self._now, self.size = self._now, {}, 0
        self._now[metadata] = found
        self.size += len(metadata)


def _read(metadata: bytes) -> Topics:
    try:
        topics = frozenset(ConsumerProtocolSubscription.decode(metadata).topics) if metadata else None
    except Exception:  # noqa: BLE001 - not known is a value
        return None
    return topics if topics is not None and all(isinstance(topic, str) for topic in topics) else None


subscribed: Final = Subscriptions().of
