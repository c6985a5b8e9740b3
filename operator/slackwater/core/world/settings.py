"""The timeouts that a recommendation may set, named by their paths below `spec.timeouts`.

Values are milliseconds, but for the number of records of a poll.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from slackwater.core.world.profile import Profile


class Setting(StrEnum):
    """Paths below `spec.timeouts`."""

    SESSION = "session"
    HEARTBEAT = "heartbeat"
    CONSUMER_SESSION = "consumer.session"
    CONSUMER_HEARTBEAT = "consumer.heartbeat"
    MAX_POLL_INTERVAL = "maxPollInterval"
    MAX_POLL_RECORDS = "maxPollRecords"

    @property
    def needs_restart(self) -> bool:
        """Of a KIP-848 group the brokers keep session and heartbeat (F23); all else stands in the pods."""
        return self not in (Setting.CONSUMER_SESSION, Setting.CONSUMER_HEARTBEAT)

    def in_words(self, value: int) -> str:
        return f"{value} records" if self is Setting.MAX_POLL_RECORDS else f"{value / 1000:g}s"


Values = Mapping[Setting, int]

HEARTBEAT_OF: Final = {
    Setting.SESSION: Setting.HEARTBEAT,
    Setting.CONSUMER_SESSION: Setting.CONSUMER_HEARTBEAT,
}


def session_of(profile: Profile) -> Setting:
    """Which session the members of a group with this profile have."""
    return Setting.CONSUMER_SESSION if profile is Profile.CONSUMER else Setting.SESSION
