"""Conditions: what people and other programs read about an object's state."""

from __future__ import annotations

from enum import StrEnum

from pydantic import ConfigDict, Field

from slackwater.api.model import ApiModel
from slackwater.api.timestamps import Timestamp


class ConditionType(StrEnum):
    READY = "Ready"
    PROGRESSING = "Progressing"
    GROUP_STABLE = "GroupStable"
    ROLLOUT_GATED = "RolloutGated"
    PROTOCOL_UPGRADE = "ProtocolUpgrade"
    TIMEOUTS_CLAMPED = "TimeoutsClamped"
    STATIC_MEMBERSHIP = "StaticMembership"
    OVERSIZED = "Oversized"
    LAGGING = "Lagging"
    PAUSED = "Paused"
    SCALING_HELD = "ScalingHeld"
    DEGRADED = "Degraded"
    CERTIFICATES_VALID = "CertificatesValid"


class ConditionStatus(StrEnum):
    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Condition(ApiModel):
    """One condition: when its status last changed is lastTransitionTime, whatever became of reason and message."""

    model_config = ConfigDict(extra="ignore")

    type: ConditionType
    status: ConditionStatus
    reason: str = Field(min_length=1, max_length=128)
    message: str = Field("", max_length=32768)
    last_transition_time: Timestamp
    observed_generation: int = 0
