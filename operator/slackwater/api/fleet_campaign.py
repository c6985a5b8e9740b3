"""One run through the groups of a fleet: it restarts them, has them take up defaults, or orders their changes."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import Field

from slackwater.api.distinct import Distinct
from slackwater.api.durations import PositiveDurationMs
from slackwater.api.fleet_defaults import PinnedField
from slackwater.api.fleet_waves import WAVE_RULES, Waves
from slackwater.api.label_selector import LabelSelector
from slackwater.api.model import ApiModel, Flag, Int32, Rule, rule
from slackwater.api.references import ObjectName

MOST_FAILURES: Final = 10_000
_THREE_DAYS_MS: Final = 72 * 3_600_000
_STAYS: Final = ("fleetRef", "selector", "action", "waves", "dryRun")
_AS_IT_WAS: Final = " && ".join(
    f"has(self.{field}) == has(oldSelf.{field}) && (!has(self.{field}) || self.{field} == oldSelf.{field})"
    for field in _STAYS
)


class FleetRef(ApiModel):
    name: ObjectName
    """Name of a ConsumerFleet in this namespace. Its budgets, windows and freezes hold for the campaign as well."""


class Restart(ApiModel):
    """Nothing more is to be said."""


class Changes(ApiModel):
    """Nothing more is to be said."""


class ApplyDefaults(ApiModel):
    fields: Annotated[tuple[PinnedField, ...], Field(max_length=len(PinnedField)), Distinct()] = ()
    """Which of the fleet's defaults; all that it gives when not said. Those that restart nobody are in force anyway."""


class Action(ApiModel):
    restart: Restart | None = None
    """Restart each group whose pods are older than the campaign."""
    apply_defaults: ApplyDefaults | None = None
    """Have each group take up what the fleet's spec.defaults say when the campaign begins. What a group says itself it
    keeps."""
    changes: Changes | None = None
    """Change nothing, and give an order to the changes of groups whose annotation slackwater.dev/campaign names this
    campaign."""

    @rule(
        "[has(self.restart), has(self.applyDefaults), has(self.changes)].exists_one(given, given)",
        "say what the campaign does: one of restart, applyDefaults, changes",
    )
    def it_does_one_thing(self) -> bool:
        return [self.restart, self.apply_defaults, self.changes].count(None) == 2


class FleetCampaignSpec(ApiModel):
    RULES: ClassVar[tuple[Rule, ...]] = (
        *WAVE_RULES,
        Rule(cel=_AS_IT_WAS, message="a campaign does what it was begun for: make another one"),
    )

    fleet_ref: FleetRef
    """The ConsumerFleet whose groups it goes through."""
    selector: LabelSelector = LabelSelector()
    """Which of the fleet's groups; {} means all of them."""
    action: Action
    """What becomes of them: one of restart, applyDefaults, changes."""
    waves: Waves = ()
    """In what order; the fleet's own waves when not given. Groups that are in none come last."""
    max_failures: Annotated[Int32, Field(ge=0, le=MOST_FAILURES)] = 0
    """When more groups than so many have failed or gone back, no other begins."""
    deadline_ms: Annotated[PositiveDurationMs, Field(alias="deadline")] = _THREE_DAYS_MS
    """After this time the condition Overdue is True. Nothing else changes."""
    dry_run: Flag = False
    """Say in the status what would be, and move nobody."""
    paused: Flag = False
    """No other group begins; those that have begun finish."""
