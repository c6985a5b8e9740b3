"""Timeouts of a group's members, in milliseconds once parsed."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field, Strict

from slackwater.api.durations import PositiveDurationMs, cel_between
from slackwater.api.model import WITHOUT_DEFAULT, ApiModel, Int32, rule

DEFAULT_SESSION_TIMEOUT_MS: Final = 45_000
DEFAULT_HEARTBEAT_INTERVAL_MS: Final = 3_000
DEFAULT_MAX_POLL_INTERVAL_MS: Final = 300_000
LONGEST_TIMEOUT_MS: Final = 24 * 24 * 3_600_000
"""Kafka keeps timeouts as signed 32-bit milliseconds: a little under 25 days."""

_SESSION: Final = "(has(self.session) ? self.session : '45s')"


class TimeoutsMode(StrEnum):
    """What becomes of recommendations, as with the Vertical Pod Autoscaler."""

    OFF = "Off"
    RECOMMEND = "Recommend"
    AUTO = "Auto"


class Objective(ApiModel):
    recover_within_ms: Annotated[PositiveDurationMs | None, Field(alias="recoverWithin")] = None
    """Somebody has to work on a crashed member's partitions again within this time."""
    needless_rebalances_per_month: Annotated[float, Strict(), Field(ge=0)] | None = None
    """How many rebalances a month you accept because of members that would have come back."""


class ConsumerTimeouts(ApiModel):
    session_timeout_ms: Annotated[PositiveDurationMs | None, Field(alias="session")] = None
    """consumer.session.timeout.ms of the group; the broker's own when not given. A value outside of what the broker
    allows becomes the nearest that it does."""
    heartbeat_interval_ms: Annotated[PositiveDurationMs | None, Field(alias="heartbeat")] = None
    """consumer.heartbeat.interval.ms of the group, at most a third of session; the broker's own when not given. A value
    outside of what the broker allows becomes the nearest that it does."""

    @rule(
        "!has(self.session) || !has(self.heartbeat) || "
        + cel_between(
            ("self.session", "self.heartbeat"),
            "duration(self.heartbeat) + duration(self.heartbeat) + duration(self.heartbeat) <= duration(self.session)",
        ),
        "a session must have room for three heartbeats: lower timeouts.consumer.heartbeat or raise"
        " timeouts.consumer.session",
        field_path="heartbeat",
    )
    def session_has_room_for_three_heartbeats(self) -> bool:
        """Where one is not given, the other one's measure is the broker's own value (F23)."""
        if self.session_timeout_ms is None or self.heartbeat_interval_ms is None:
            return True
        return 3 * self.heartbeat_interval_ms <= self.session_timeout_ms


class Timeouts(ApiModel):
    mode: Annotated[TimeoutsMode, Field(json_schema_extra=WITHOUT_DEFAULT)] = TimeoutsMode.OFF
    """What to do with recommended timeouts: "Off" (in quotes: YAML takes a bare Off for false), Recommend or Auto; Off
    when not given."""
    session_timeout_ms: Annotated[PositiveDurationMs | None, Field(alias="session")] = None
    """session.timeout.ms of classic members; 45s when not given. Brokers take 6s to 30m unless told otherwise. Not
    with protocol.target Consumer, where timeouts.consumer takes its place."""
    heartbeat_interval_ms: Annotated[PositiveDurationMs | None, Field(alias="heartbeat")] = None
    """heartbeat.interval.ms of classic members, at most a third of session; 3s when not given, or less where the
    session is shorter than 9s. Not with protocol.target Consumer."""
    consumer: ConsumerTimeouts = Field(default_factory=ConsumerTimeouts)
    """Session and heartbeat of the group under KIP-848: the broker keeps them for all members, who get a change with
    their next heartbeat, without a restart. They count once the group has protocol.target Consumer."""
    max_poll_interval_ms: Annotated[PositiveDurationMs | None, Field(alias="maxPollInterval")] = None
    """max.poll.interval.ms: the longest time between two polls of a member, at least session; 5m when not given."""
    max_poll_records: Annotated[Int32, Field(ge=1)] | None = None
    """max.poll.records, for libraries that know it; the library's own default when not given."""
    objective: Objective | None = None
    """What recommended timeouts are to achieve."""
    warm_up_ms: Annotated[PositiveDurationMs | None, Field(alias="warmUp")] = None
    """How long a partition is slow after it got another owner, for example while its state comes back: what an
    eviction costs, for recommendations. Measured from the lag after rebalances when not given."""

    @property
    def classic_session_timeout_ms(self) -> int:
        """session.timeout.ms that a classic member gets."""
        return self.session_timeout_ms or DEFAULT_SESSION_TIMEOUT_MS

    @property
    def classic_heartbeat_interval_ms(self) -> int:
        """heartbeat.interval.ms that a classic member gets."""
        return self.heartbeat_interval_ms or min(DEFAULT_HEARTBEAT_INTERVAL_MS, self.classic_session_timeout_ms // 3)

    @rule(
        "!has(self.heartbeat) || "
        + cel_between(
            ("self.heartbeat", _SESSION),
            f"duration(self.heartbeat) + duration(self.heartbeat) + duration(self.heartbeat) <= duration({_SESSION})",
        ),
        "a session must have room for three heartbeats: lower timeouts.heartbeat or raise timeouts.session"
        " (45s when it is not given)",
        field_path="heartbeat",
    )
    def session_has_room_for_three_heartbeats(self) -> bool:
        return self.heartbeat_interval_ms is None or 3 * self.heartbeat_interval_ms <= self.classic_session_timeout_ms

    @property
    def given_max_poll_interval_ms(self) -> int:
        """max.poll.interval.ms that a member gets."""
        return self.max_poll_interval_ms or DEFAULT_MAX_POLL_INTERVAL_MS

    @rule(
        "!has(self.maxPollInterval) || "
        + cel_between(("self.maxPollInterval",), "duration(self.maxPollInterval) <= duration('576h')"),
        "Kafka cannot count beyond 24 days: lower timeouts.maxPollInterval to 576h or less",
        field_path="maxPollInterval",
    )
    def kafka_can_count_that_far(self) -> bool:
        return self.given_max_poll_interval_ms <= LONGEST_TIMEOUT_MS
