"""What the operator reports about a FleetCampaign, and all that it has to remember of one."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue

from slackwater.api.conditions import ConditionStatus
from slackwater.api.consumer_group_status import StatusPart
from slackwater.api.distinct import Distinct
from slackwater.api.fleet_defaults import PinnedField
from slackwater.api.fleet_waves import Waves
from slackwater.api.model import ApiModel
from slackwater.api.timestamps import Timestamp


class CampaignPhase(StrEnum):
    """Where a campaign is, in one word."""

    PENDING = "Pending"
    """It cannot begin: `Accepted` says why."""
    FORECAST = "Forecast"
    """A dry run."""
    RUNNING = "Running"
    SOAKING = "Soaking"
    AWAITING_PROMOTION = "AwaitingPromotion"
    PAUSED = "Paused"
    HALTED = "Halted"
    SUCCEEDED = "Succeeded"


class Skip(StrEnum):
    """Why a campaign leaves a group as it is."""

    OWN_VALUE = "OwnValue"
    """The group itself says otherwise: a fleet never overrules what a team wrote."""
    NEARER_FLEET = "NearerFleet"
    """A fleet that goes first for it says otherwise."""
    BROKER_CANNOT = "BrokerCannot"
    CLIENT_CANNOT = "ClientCannot"
    """It needs another client, or another version of it."""
    WOULD_STOP = "WouldStop"
    """All its consumers would stop for a while, and protocol.allowDowntime does not allow that."""
    REFUSED = "Refused"
    """What it would get does not go with what it says itself, or with what runs."""
    HAS_FAILED = "HasFailed"
    """Its own newest version has failed or was taken back: that comes first."""
    PAUSED = "Paused"
    """Somebody paused it."""
    VOLUME_CLAIMS_FIXED = "VolumeClaimsFixed"
    """Its pods lack a volume that it asks for: nothing of it is rolled out."""


class CampaignConditionType(StrEnum):
    ACCEPTED = "Accepted"
    PROGRESSING = "Progressing"
    HALTED = "Halted"
    OVERDUE = "Overdue"
    SUCCEEDED = "Succeeded"


class CampaignCondition(ApiModel):
    """As of any object; the types are a campaign's own."""

    model_config = ConfigDict(extra="ignore")

    type: CampaignConditionType
    status: ConditionStatus
    reason: str = Field(min_length=1, max_length=128)
    message: str = Field("", max_length=32768)
    last_transition_time: Timestamp
    observed_generation: int = 0


class WaveStatus(StatusPart):
    name: str
    groups: int = 0
    """All that are in it, those included that are done, failed or skipped."""
    done: int = 0
    failed: int = 0
    skipped: int = 0
    soak_until: Timestamp | None = None
    """When the next wave may begin, if all of its groups are done and stay calm."""


class NamedGroup(StatusPart):
    group: str
    """namespace/name."""
    reason: str = ""
    message: str = ""


class Eta(StatusPart):
    p50: Timestamp | None = None
    p90: Timestamp | None = None


class FleetCampaignStatus(StatusPart):
    observed_generation: int = 0
    phase: CampaignPhase | None = None
    wave: str = ""
    """The wave under way. Those before it are over for good. Empty at first, until it is clear which groups can go to
    another protocol.
    """
    wave_begun_at: Timestamp | None = None
    """Since when it is: its groups ask for their turns since then."""
    started_at: Timestamp | None = None
    plan: Waves = ()
    """The waves as they were when it began: another fleet's spec makes no other campaign."""
    applies: Mapping[PinnedField, JsonValue] = Field(default_factory=dict)
    """With applyDefaults: what the fleet said when it began."""
    waves: tuple[WaveStatus, ...] = ()
    skipped: Mapping[Skip, int] = Field(default_factory=dict)
    """How many groups are left as they are, by reason."""
    skipped_groups: tuple[NamedGroup, ...] = ()
    """The first of them, by name; ten at most."""
    failed_groups: tuple[NamedGroup, ...] = ()
    """Those that failed or went back; ten at most."""
    eta: Eta | None = None
    bottleneck: str | None = None
    """What keeps it from being done sooner."""
    commands: Mapping[str, str] = Field(default_factory=dict)
    """The last token that the operator has acknowledged of each command."""
    conditions: Annotated[tuple[CampaignCondition, ...], Distinct(key="type")] = ()
