"""What the operator reports about a ConsumerFleet. Every part is open, as a ConsumerGroup's is."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from slackwater.api.conditions import ConditionStatus
from slackwater.api.consumer_group_status import StatusPart
from slackwater.api.distinct import Distinct
from slackwater.api.model import ApiModel
from slackwater.api.timestamps import Timestamp


class FleetConditionType(StrEnum):
    ACCEPTED = "Accepted"
    """What its spec says can be kept. While it is not, nothing of what it selects begins."""
    OPEN = "Open"
    """Groups may begin: by pause, windows and freezes."""
    HALTED = "Halted"
    """Too many have failed, or are disturbed."""
    WAITING = "Waiting"
    OVERLAPS = "Overlaps"
    """Other fleets select some of its groups as well."""


class FleetCondition(ApiModel):
    """One condition: when its status last changed is lastTransitionTime, whatever became of reason and message."""

    model_config = ConfigDict(extra="ignore")

    type: FleetConditionType
    status: ConditionStatus
    reason: str = Field(min_length=1, max_length=128)
    message: str = Field("", max_length=32768)
    last_transition_time: Timestamp
    observed_generation: int = 0


class FleetCounts(StatusPart):
    """How many groups of the fleet there are, and how many of them do what."""

    selected: int = 0
    waiting: int = 0
    called: int = 0
    """They may begin, but their own gates still block them."""
    moving: int = 0
    settling: int = 0
    """Done, and counted for a while yet."""
    failed: int = 0
    disturbed: int = 0
    """Not calm, not whole or not seen, without a turn of their own."""


class BudgetStatus(StatusPart):
    name: str
    limit: int = 0
    """In force now, in the fullest cell."""
    used: int = 0
    cells: int = 1
    full: tuple[str, ...] = ()
    """The cells without room; ten at most."""


class LongestWait(StatusPart):
    group: str
    since: Timestamp | None = None


class FleetHalt(StatusPart):
    since: Timestamp | None = None
    reason: str = ""
    groups: tuple[str, ...] = ()
    """Those that failed; ten at most."""


class ConsumerFleetStatus(StatusPart):
    observed_generation: int = 0
    groups: FleetCounts | None = None
    budgets: tuple[BudgetStatus, ...] = ()
    moving: tuple[str, ...] = ()
    """Groups that move; ten at most."""
    failed: tuple[str, ...] = ()
    """Groups that have failed or gone back; ten at most."""
    longest: LongestWait | None = None
    """The group that waits for the longest time."""
    opens: Timestamp | None = None
    """When the next window opens, or a freeze ends."""
    closes: Timestamp | None = None
    """When the window closes, or a freeze begins."""
    next: Timestamp | None = None
    """When Open changes next: opens or closes."""
    paused_since: Timestamp | None = None
    """Since when the fleet has a `spec.pause`; a window or a freeze may have closed it before."""
    overridden_until: Timestamp | None = None
    """While its override is in force: when that ends."""
    halted: FleetHalt | None = None
    """Since when nothing begins because too many have failed. It stays until those work again, or somebody resumes."""
    resumed_at: Timestamp | None = None
    """When somebody resumed the fleet: what began to fail before does not count."""
    commands: Mapping[str, str] = Field(default_factory=dict)
    """The last token that the operator has acknowledged of each command."""
    conditions: Annotated[tuple[FleetCondition, ...], Distinct(key="type")] = ()
