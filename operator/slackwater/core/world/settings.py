"""The timeouts that a recommendation may set, named by their paths below `spec.timeouts`, and a spec with them.

Values are milliseconds, but for the number of records of a poll.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from slackwater.api.timeouts import Timeouts
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
        if self is Setting.MAX_POLL_RECORDS:
            return f"{value} record" if value == 1 else f"{value} records"
        return f"{value / 1000:g}s"


Values = Mapping[Setting, int]

HEARTBEAT_OF: Final = {
    Setting.SESSION: Setting.HEARTBEAT,
    Setting.CONSUMER_SESSION: Setting.CONSUMER_HEARTBEAT,
}


def session_of(profile: Profile) -> Setting:
    """Which session the members of a group with this profile have."""
    return Setting.CONSUMER_SESSION if profile is Profile.CONSUMER else Setting.SESSION


def asked(timeouts: Timeouts) -> Values:
    """What the spec says itself."""
    said = {
        Setting.SESSION: timeouts.session_timeout_ms,
        Setting.HEARTBEAT: timeouts.heartbeat_interval_ms,
        Setting.CONSUMER_SESSION: timeouts.consumer.session_timeout_ms,
        Setting.CONSUMER_HEARTBEAT: timeouts.consumer.heartbeat_interval_ms,
        Setting.MAX_POLL_INTERVAL: timeouts.max_poll_interval_ms,
        Setting.MAX_POLL_RECORDS: timeouts.max_poll_records,
    }
    return {setting: value for setting, value in said.items() if value is not None}


def with_adopted(timeouts: Timeouts, adopted: Values) -> Timeouts:
    """The spec's timeouts, with what was adopted where it says nothing."""
    if not adopted:
        return timeouts
    values = _fitted({**adopted, **asked(timeouts)}, asked(timeouts))
    consumer = timeouts.consumer.model_copy(
        update={
            "session_timeout_ms": values.get(Setting.CONSUMER_SESSION),
            "heartbeat_interval_ms": values.get(Setting.CONSUMER_HEARTBEAT),
        }
    )
    return timeouts.model_copy(
        update={
            "session_timeout_ms": values.get(Setting.SESSION),
            "heartbeat_interval_ms": values.get(Setting.HEARTBEAT),
            "max_poll_interval_ms": values.get(Setting.MAX_POLL_INTERVAL),
            "max_poll_records": values.get(Setting.MAX_POLL_RECORDS),
            "consumer": consumer,
        }
    )


def _fitted(values: Values, said: Values) -> Values:
    """A spec that came to say the session itself may leave no room for three heartbeats as adopted before."""
    fitted = dict(values)
    for session, heartbeat in HEARTBEAT_OF.items():
        if session in values and heartbeat in values and heartbeat not in said:
            fitted[heartbeat] = min(values[heartbeat], max(1, values[session] // 3))
    return fitted
