"""Groups of which the newest look saw nothing, and why: kept look by look, so that nobody goes through all groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import KafkaView, Unobserved


class Unseen:
    """Of one connection, by key."""

    def __init__(self) -> None:
        self._views: dict[str, Unobserved] = {}
        self._reasons: Counter[Reason] = Counter()
        self._first: str | None = None
        """The first key of those that are not seen for a cause of the connection, where that was asked for since one
        came or went."""

    @property
    def reasons(self) -> Collection[Reason]:
        """Each once."""
        return self._reasons.keys()

    def keep(self, key: str, view: KafkaView | None) -> None:
        """The newest view of a group; None where there is none yet, or any more."""
        before = self._views.pop(key, None)
        if before is not None:
            self._reasons[before.reason] -= 1
            if not self._reasons[before.reason]:
                del self._reasons[before.reason]
        if isinstance(view, Unobserved):
            self._views[key] = view
            self._reasons[view.reason] += 1
        if before is not None or isinstance(view, Unobserved):
            self._first = None

    def first_of_the_connection(self) -> Unobserved | None:
        """Of those that are not seen for a cause of the connection itself the same one each time: the first by key."""
        if not any(reason.of_the_connection for reason in self._reasons):
            return None
        if self._first is None:
            self._first = min(key for key, view in self._views.items() if view.reason.of_the_connection)
        return self._views[self._first]
