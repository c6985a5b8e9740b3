"""What the operator reports about a ConsumerFleet. Every part is open, as a ConsumerGroup's is."""

from __future__ import annotations

from slackwater.api.consumer_group_status import Conditions, StatusPart
from slackwater.api.timestamps import Timestamp


class FleetCounts(StatusPart):
    """How many groups of the fleet there are, and how many of them do what."""

    selected: int = 0
    waiting: int = 0
    called: int = 0
    """They may begin; their own gates hold them still."""
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
    halted: FleetHalt | None = None
    commands: dict[str, str] = {}
    """The last token of each command that was obeyed."""
    conditions: Conditions = ()
