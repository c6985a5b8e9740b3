"""The timeouts that a recommendation may set, by the place where the spec has them, and a group with them in force.

Whatever the spec says itself wins. Values are milliseconds, but for the number of records of a poll.
"""

from __future__ import annotations

from typing import Final

from slackwater.api.resources import ConsumerGroup
from slackwater.api.timeouts import DEFAULT_MAX_POLL_INTERVAL_MS, Timeouts
from slackwater.core.world.settings import HEARTBEAT_OF, Setting, Values

_CONSUMER_DEFAULTS: Final = {Setting.CONSUMER_SESSION: 45_000, Setting.CONSUMER_HEARTBEAT: 5_000}
"""Kafka's own; a broker may have others, which nothing but a first judgement depends on."""
_DEFAULT_MAX_POLL_RECORDS: Final = 500


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


def in_force(timeouts: Timeouts, adopted: Values) -> Values:
    """What members are given: the spec's, else what was adopted, else what holds where nobody says anything."""
    given = with_adopted(timeouts, adopted)
    defaults = {
        **_CONSUMER_DEFAULTS,
        Setting.SESSION: given.classic_session_timeout_ms,
        Setting.HEARTBEAT: given.classic_heartbeat_interval_ms,
        Setting.MAX_POLL_INTERVAL: DEFAULT_MAX_POLL_INTERVAL_MS,
        Setting.MAX_POLL_RECORDS: _DEFAULT_MAX_POLL_RECORDS,
    }
    return {**defaults, **asked(given)}


def tuned(group: ConsumerGroup, adopted: Values) -> ConsumerGroup:
    """The group as its spec and what was adopted say together."""
    if not adopted:
        return group
    timeouts = with_adopted(group.spec.timeouts, adopted)
    return group.model_copy(update={"spec": group.spec.model_copy(update={"timeouts": timeouts})})


def with_adopted(timeouts: Timeouts, adopted: Values) -> Timeouts:
    """The spec's timeouts, with what was adopted where it says nothing."""
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
