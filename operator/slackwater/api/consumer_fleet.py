"""Which groups of a fleet may move, when, and in what order."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Final

from pydantic import Field

from slackwater.api.amounts import Amount, IntOrPercent
from slackwater.api.distinct import Distinct
from slackwater.api.durations import DurationMs, PositiveDurationMs, cel_between
from slackwater.api.fleet_budgets import Budget
from slackwater.api.fleet_defaults import FleetDefaults
from slackwater.api.fleet_times import Freeze, LocalTime, TimeZone, UnderWay, Window
from slackwater.api.fleet_waves import WAVE_RULES, Waves
from slackwater.api.label_selector import LabelSelector
from slackwater.api.model import ApiModel, Rule, rule
from slackwater.api.text import Text

DAY_MS: Final = 24 * 3_600_000
Namespace = Annotated[
    str,
    Text(r"\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?", 'write the name of a namespace, or "*" for all of them', 63),
]
Reason = Annotated[str, Field(max_length=512)]


class Passes(StrEnum):
    """What holds groups back, besides budgets."""

    ORDER = "Order"
    """A day's head start."""
    WINDOWS = "Windows"
    FREEZES = "Freezes"
    WAVES = "Waves"
    """Those of a campaign of this fleet: it comes with the one under way."""
    HALTS = "Halts"


class Halt(ApiModel):
    failures: Annotated[
        IntOrPercent, Amount("write after how many failed groups nothing begins any more: 0 or more, or 1% to 100%", 0)
    ] = 5
    """When more groups than so many have failed, rolled back or are rolling back within the time, no other begins.
    100% never holds anybody back."""
    within_ms: Annotated[PositiveDurationMs, Field(alias="within")] = 3_600_000
    """In which time failures count together."""
    disturbed: Annotated[IntOrPercent, Amount("write a share of the groups, such as 20%", None)] = "20%"
    """When more than this share of the groups of one coordinator, and more than three, are not calm, not whole or not
    seen without having a turn, no other begins there."""
    under_way: UnderWay = UnderWay.FINISH
    """A group that has begun goes on (Finish), or stops between two pods (Stop)."""


class Override(ApiModel):
    until: LocalTime
    """The local time up to which it holds; at most 24 hours from now."""
    reason: Reason = ""
    """Why; it has to be said. It stands in Events and in the status."""
    selector: LabelSelector = LabelSelector()
    """Whom it lets through."""
    passes: Annotated[tuple[Passes, ...], Field(max_length=len(Passes)), Distinct()] = (
        Passes.WINDOWS,
        Passes.FREEZES,
        Passes.HALTS,
    )
    """What they pass. Never a budget."""

    @rule("has(self.reason) && self.reason != ''", "say why: override.reason", field_path="reason")
    def it_says_why(self) -> bool:
        return self.reason != ""


class HeadStart(ApiModel):
    selector: LabelSelector
    """Whose head start it is."""
    head_start_ms: Annotated[DurationMs, Field(alias="headStart")]
    """They come before all who asked less than this before them."""

    @rule(
        cel_between(("self.headStart",), f"duration(self.headStart) <= duration('{DAY_MS // 3_600_000}h')"),
        "a head start of more than a day would keep others waiting for as long",
        field_path="headStart",
    )
    def others_come_up(self) -> bool:
        return self.head_start_ms <= DAY_MS


class ConsumerFleetSpec(ApiModel):
    RULES: ClassVar[tuple[Rule, ...]] = WAVE_RULES

    explicit_selector: Annotated[LabelSelector | None, Field(alias="selector")] = None
    """Which groups it is about; {} selects all of them. It has to be said."""
    namespaces: Annotated[tuple[Namespace, ...], Field(max_length=64), Distinct()] = ()
    """In which namespaces; its own when not given. Only a fleet in the operator's own namespace reaches into others;
    there, one entry "*" means all."""
    pause: Reason = ""
    """Why nothing may begin. What moves stops between two pods."""
    budgets: Annotated[tuple[Budget, ...], Field(max_length=16), Distinct("name")] = ()
    """How many groups may move at a time. All that apply to a group have to agree."""
    time_zone: TimeZone | None = None
    """The time zone of windows, freezes and override, such as Europe/Berlin or UTC."""
    windows: Annotated[tuple[Window, ...], Field(max_length=16), Distinct("name")] = ()
    """When groups may begin: while one of them is open. Always, when there is none."""
    freezes: Annotated[tuple[Freeze, ...], Field(max_length=64), Distinct("name")] = ()
    """When none may begin."""
    halt: Halt = Halt()
    """What goes wrong before nothing begins any more."""
    override: Override | None = None
    """Who may begin all the same, for a while."""
    urgent: Annotated[tuple[Passes, ...], Field(max_length=len(Passes)), Distinct()] = (Passes.ORDER,)
    """What a group with the annotation slackwater.dev/urgent passes. Never a budget."""
    order: Annotated[tuple[HeadStart, ...], Field(max_length=16)] = ()
    """Who goes before others who asked earlier. The first that selects a group counts."""
    settle_for_ms: Annotated[DurationMs, Field(alias="settleFor")] = 0
    """How much longer a group counts after it is done."""
    waves: Waves = ()
    """In what order a FleetCampaign of this fleet goes through its groups, where it says nothing itself."""
    defaults: FleetDefaults = Field(default_factory=FleetDefaults)
    """What groups get that say nothing themselves. No group restarts for it."""

    @rule(
        "has(self.selector)",
        "say which groups this fleet is about: spec.selector; {} means all of them",
        field_path="selector",
    )
    def it_says_whom_it_is_about(self) -> bool:
        return self.explicit_selector is not None

    @property
    def selector(self) -> LabelSelector:
        return self.explicit_selector or LabelSelector()

    @rule(
        "has(self.timeZone) || ((!has(self.windows) || size(self.windows) == 0)"
        " && (!has(self.freezes) || size(self.freezes) == 0) && !has(self.override))",
        "say in which time zone they are meant: spec.timeZone, such as Europe/Berlin or UTC",
        field_path="timeZone",
    )
    def times_have_a_zone(self) -> bool:
        return self.time_zone is not None or not (self.windows or self.freezes or self.override)

    @rule(
        "!has(self.budgets) || self.budgets.all(budget, (!has(budget.during) && !has(budget.outside))"
        " || (has(self.windows) && self.windows.exists(window, (has(budget.during) && window.name == budget.during)"
        " || (has(budget.outside) && window.name == budget.outside))))",
        "budgets[].during and budgets[].outside name a window of spec.windows: one of them names none that is there",
        field_path="budgets",
    )
    def budgets_name_windows(self) -> bool:
        windows = {window.name for window in self.windows}
        named = {budget.during or budget.outside for budget in self.budgets} - {None}
        return named <= windows

    @rule(
        cel_between(("self.settleFor",), f"duration(self.settleFor) <= duration('{DAY_MS // 3_600_000}h')"),
        "a group would count for more than a day after it is done",
        field_path="settleFor",
    )
    def it_settles_within_a_day(self) -> bool:
        return self.settle_for_ms <= DAY_MS
