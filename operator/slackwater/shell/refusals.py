"""What the API server or Kafka refused at the last try, by group: it is said until a try comes through."""

from __future__ import annotations

from typing import Final, NamedTuple

from slackwater.adapters.cluster.errors import ClusterRefused
from slackwater.adapters.kafka.errors import KafkaRefused
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.shell.elapsed import elapsed_s
from slackwater.shell.store import Key

REFUSAL_STANDS_S: Final = 60.0
"""What Kafka refuses is tried ever more seldom, and stays refused between two tries."""


class _Refused(NamedTuple):
    hold: Hold
    at: float
    stands_s: float
    """So long whether anything is tried or not."""


class Refusals:
    """A pass in which nothing was tried proves nothing, so it ends a refusal by Kafka only after a while."""

    def __init__(self) -> None:
        self._refused: dict[Key, _Refused] = {}

    def get(self, key: Key) -> Hold | None:
        found = self._refused.get(key)
        return None if found is None else found.hold

    def add(self, key: Key, error: ClusterRefused | KafkaRefused, now: float) -> None:
        if isinstance(error, KafkaRefused):
            self._refused[key] = _Refused(Hold(error.reason, str(error)), now, REFUSAL_STANDS_S)
        else:
            self._refused[key] = _Refused(Hold(Reason.CLUSTER_REFUSED, str(error)), now, 0.0)

    def came_through(self, key: Key, now: float, *, tried: bool) -> bool:
        """After a pass that nobody refused. Returns whether something is no longer refused by it."""
        found = self._refused.get(key)
        if found is None or not (tried or elapsed_s(found.at, now) >= found.stands_s):
            return False
        del self._refused[key]
        return True

    def forget(self, key: Key) -> None:
        self._refused.pop(key, None)
