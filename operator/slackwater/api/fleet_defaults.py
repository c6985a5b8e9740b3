"""What groups are given that say nothing themselves: a part of a ConsumerGroup's spec."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from pydantic import Field

from slackwater.api.durations import cel_between
from slackwater.api.model import WITHOUT_DEFAULT, ApiModel, Flag, cel_given, rule
from slackwater.api.protocol import ProtocolTarget
from slackwater.api.rollout import Rollout, RolloutStrategy
from slackwater.api.timeouts import Timeouts

_CONSUMER: Final = f"({cel_given('protocol.target')} && self.protocol.target == 'Consumer')"
_SESSION: Final = f"({cel_given('timeouts.session')} ? self.timeouts.session : '45s')"
_MAX_POLL_INTERVAL: Final = f"({cel_given('timeouts.maxPollInterval')} ? self.timeouts.maxPollInterval : '5m')"


class ProtocolDefaults(ApiModel):
    """What a protocol needs of one application's client (`profiles`, `upgradeFrom`) no fleet can know."""

    target: ProtocolTarget | None = None
    """How groups are to rebalance: Eager, Cooperative, or Consumer (KIP-848)."""
    allow_downtime: Flag = False
    """Accept an upgrade that stops all consumers of a group for a while, where its client library knows no other
    way."""


class FleetDefaults(ApiModel):
    protocol: ProtocolDefaults = Field(default_factory=ProtocolDefaults, json_schema_extra=WITHOUT_DEFAULT)
    """The rebalance protocol of groups that name none. It changes with a group's next rollout, or by a campaign."""
    timeouts: Timeouts = Field(default_factory=Timeouts, json_schema_extra=WITHOUT_DEFAULT)
    """Timeouts of groups that name none. What stands in pods changes with the next rollout, or by a campaign."""
    rollout: Rollout = Field(default_factory=Rollout, json_schema_extra=WITHOUT_DEFAULT)
    """How a change reaches the pods of groups that do not say. In force at once."""

    @rule(
        f"{_CONSUMER} || "
        + cel_between((_SESSION, _MAX_POLL_INTERVAL), f"duration({_SESSION}) <= duration({_MAX_POLL_INTERVAL})"),
        "a session longer than the max poll interval keeps clients from starting: lower timeouts.session (45s when it"
        " is not given) or raise timeouts.maxPollInterval (5m when it is not given)",
        field_path="timeouts.session",
    )
    def session_fits_into_poll_interval(self) -> bool:
        """F8."""
        consumer = self.protocol.target is ProtocolTarget.CONSUMER
        return consumer or self.timeouts.classic_session_timeout_ms <= self.timeouts.given_max_poll_interval_ms

    @rule(
        f"!{_CONSUMER} || !(({cel_given('timeouts.session')}) || ({cel_given('timeouts.heartbeat')}))",
        "with protocol.target Consumer the broker keeps session and heartbeat for the whole group, and clients that"
        " are given them refuse to start: move timeouts.session and timeouts.heartbeat to timeouts.consumer, or remove"
        " them",
        field_path="timeouts",
    )
    def classic_timeouts_stay_classic(self) -> bool:
        """F7."""
        classic = self.timeouts.session_timeout_ms is not None or self.timeouts.heartbeat_interval_ms is not None
        return not (classic and self.protocol.target is ProtocolTarget.CONSUMER)

    @rule(
        f"!({cel_given('rollout.strategy')} && self.rollout.strategy == 'WarmHandover') || !{_CONSUMER}",
        "a warm handover needs static members of the classic protocol: use strategy InPlace, or a protocol.target other"
        " than Consumer",
        field_path="rollout.strategy",
    )
    def handover_has_classic_members(self) -> bool:
        """F13, F37."""
        warm = self.rollout.strategy is RolloutStrategy.WARM_HANDOVER
        return not (warm and self.protocol.target is ProtocolTarget.CONSUMER)


class PinnedField(StrEnum):
    """What changes pods or their protocol: a group that runs takes it up with its next rollout, or by a campaign."""

    PROTOCOL_TARGET = "protocol.target"
    ALLOW_DOWNTIME = "protocol.allowDowntime"
    SESSION = "timeouts.session"
    HEARTBEAT = "timeouts.heartbeat"
    MAX_POLL_INTERVAL = "timeouts.maxPollInterval"
    MAX_POLL_RECORDS = "timeouts.maxPollRecords"
