"""How many connections of one namespace are in use, and how often one is opened.

Each has a thread, and sockets to each of its brokers, which anybody may be; and to read a Secret's authorities takes up
to a tenth of a second, in which everybody waits. A spec may be changed ten times a second.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from slackwater.api.errors import SlackwaterError
from slackwater.shell.bucket import Bucket
from slackwater.shell.store import Key

MOST_OPEN: Final = 100
OPENED_AT_ONCE: Final = 150
"""All that there may be, as when the operator starts, and some that are changed."""
OPENED_AGAIN_S: Final = 1.0


class TooManyOpen(SlackwaterError):
    """Of one namespace."""


class NotYet(SlackwaterError):
    """Others of its namespace were opened a moment ago."""


class Opening:
    """What no namespace holds is the administrator's, and has no bounds."""

    def __init__(self) -> None:
        self._paces: dict[str, Bucket] = {}

    def refuse_too_many(self, namespace: str, in_use: Iterable[Key]) -> None:
        """Raises TooManyOpen where one more would be."""
        if namespace and sum(key.namespace == namespace for key in in_use) >= MOST_OPEN:
            raise TooManyOpen(
                f"{MOST_OPEN} KafkaConnections of namespace {namespace} are in use, and the operator opens no more of"
                " one: let several ConsumerGroups refer to one KafkaConnection"
            )

    def take_turn(self, namespace: str, now: float) -> None:
        """Raises NotYet where it is to come again."""
        pace = self._paces.setdefault(namespace, Bucket(OPENED_AT_ONCE, OPENED_AGAIN_S, now))
        if namespace and not pace.take(now):
            raise NotYet(f"KafkaConnections of namespace {namespace} change often: they are opened one after the other")
