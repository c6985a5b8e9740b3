"""The timeouts that members are given, whoever says so: the spec, a recommendation, or nobody.

Whatever the spec says itself wins. Values are milliseconds, but for the number of records of a poll.
"""

from __future__ import annotations

from typing import Final

from slackwater.api.timeouts import DEFAULT_MAX_POLL_INTERVAL_MS
from slackwater.core.world.settings import Setting, Values, asked
from slackwater.core.world.world import World

_CONSUMER_DEFAULTS: Final = {Setting.CONSUMER_SESSION: 45_000, Setting.CONSUMER_HEARTBEAT: 5_000}
"""Kafka's own; a broker may have others, which nothing but a first judgement depends on."""
_DEFAULT_MAX_POLL_RECORDS: Final = 500


def in_force(world: World) -> Values:
    """What members are given: the spec's, else what was adopted, else what holds where nobody says anything."""
    given = world.timeouts
    defaults = {
        **_CONSUMER_DEFAULTS,
        Setting.SESSION: given.classic_session_timeout_ms,
        Setting.HEARTBEAT: given.classic_heartbeat_interval_ms,
        Setting.MAX_POLL_INTERVAL: DEFAULT_MAX_POLL_INTERVAL_MS,
        Setting.MAX_POLL_RECORDS: _DEFAULT_MAX_POLL_RECORDS,
    }
    return {**defaults, **asked(given)}
