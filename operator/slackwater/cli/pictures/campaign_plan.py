"""`slackwater fleet plan -f`: what a campaign that is not applied yet would do, and when. Pure."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slackwater.api.annotations import CAMPAIGN
from slackwater.api.durations import format_duration
from slackwater.api.fleet_defaults import PinnedField
from slackwater.api.fleet_waves import Promote
from slackwater.api.timestamps import timestamp
from slackwater.cli.pictures.forecast import surplus_document
from slackwater.cli.words.fleets import cell_in_words, clock, standing_still
from slackwater.core.decision.reasons import Hold
from slackwater.core.decision.words import count, listing, shown
from slackwater.core.fleet.campaign_eta import WAVES
from slackwater.core.fleet.campaign_forecast import CampaignForecast, WaveForecast
from slackwater.core.fleet.held_defaults import held_by
from slackwater.core.fleet.participants import Obstacle
from slackwater.core.fleet.plan import Bottleneck
from slackwater.core.fleet.seen import FleetSeen
from slackwater.core.fleet.surplus import Surplus
from slackwater.core.fleet.waves import wave_in_words
from slackwater.core.protocol.foreseen import Found, stops_all
from slackwater.core.protocol.preflight import Way

Json = dict[str, Any]

_WIDTH: Final = 1024
_MOST_ROWS: Final = 10
"""Of groups that are left as they are, each reason with its message; `-o json` has all."""


@dataclass(frozen=True, slots=True)
class Ways:
    """To another protocol, by `namespace/name`."""

    obstacles: Mapping[str, Obstacle | Hold]
    stops: tuple[str, ...]
    """Those whose consumers all stop for a while."""

    @staticmethod
    def of(found: Mapping[str, Found]) -> Ways:
        obstacles = {key: each for key, each in found.items() if isinstance(each, Obstacle | Hold)}
        stops = (key for key, each in found.items() if isinstance(each, Way) and stops_all(each))
        return Ways(obstacles, tuple(sorted(stops)))

    @property
    def unknown(self) -> dict[str, Hold]:
        return {key: each for key, each in sorted(self.obstacles.items()) if isinstance(each, Hold)}


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    found: CampaignForecast
    fleet: FleetSeen
    now: float
    ways: Ways
    phase: str | None = None
    """Of a campaign of its name that is there; None: there is none."""
    is_partial: bool = False
    """There may be groups, or fleets, that whoever looks may not list."""
    surplus: Surplus | None = None
    """Where the namespace has more fleets than count."""


def campaign_plan_picture(plan: CampaignPlan) -> RenderableType:
    campaign, at = plan.found.campaign, plan.found.at
    begins = "now" if at <= plan.now else f"at {clock(plan.fleet, at, plan.now, zoned=True)}"
    title = Text.assemble(
        ("Campaign ", "dim"),
        (campaign.key, "bold"),
        f"   {_action(plan.found)} in fleet {campaign.spec.fleet_ref.name}   as if it began {begins}",
    )
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column(overflow="fold")
    for label, words in _rows(plan):
        rows.add_row(label, shown(words, _WIDTH))
    remarks = (Text(shown(words, _WIDTH), style) for words, style in _remarks(plan))
    return Group(title, *((_waves(plan),) if plan.found.waves else ()), *((rows,) if rows.row_count else ()), *remarks)


def campaign_plan_document(plan: CampaignPlan) -> Json:
    """Fields are added to it, never renamed. Times are null where nobody begins, durations are in seconds."""
    found, campaign = plan.found, plan.found.campaign
    return {
        "version": 1,
        "namespace": campaign.namespace,
        "name": campaign.name,
        "fleet": campaign.fleet,
        "madeAt": timestamp(round(plan.now)),
        "at": timestamp(round(found.at)),
        "action": next(iter(campaign.spec.action.model_dump(by_alias=True, exclude_none=True))),
        "applies": {field.value: value for field, value in found.applies.items()},
        "holds": _held(found),
        "refused": found.refused,
        "waves": [_wave_document(each) for each in found.waves],
        "skipped": [_obstacle_document(each.key, each.obstacle) for each in found.left_alone if each.obstacle],
        "unknown": [
            {"group": key, "reason": each.reason.value, "message": each.message}
            for key, each in plan.ways.unknown.items()
        ],
        "stops": list(plan.ways.stops),
        "tooManyFleets": surplus_document(plan.surplus),
        "done": list(found.done),
        "endsAt": _moment(found.ends_at),
        "endsAtP90": _moment(found.ends_at_latest),
        "overdue": _is_overdue(found),
        "withoutHistory": found.without_history,
        "withoutCoordinator": found.without_coordinator,
        "exists": plan.phase is not None,
        "partial": plan.is_partial,
    }


def _wave_document(each: WaveForecast) -> Json:
    narrowest = each.narrowest
    return {
        "name": each.wave.name,
        "groups": list(each.moves),
        "skipped": [participant.key for participant in each.placed if participant.is_left_alone],
        "beginsAt": _moment(each.soon.begins_at),
        "endsAt": _moment(each.soon.ends_at if each.moves else None),
        "endsAtP90": _moment(each.late.ends_at if each.moves else None),
        "soakSeconds": round(each.wave.soak_ms / 1000),
        "promote": each.wave.promote.value,
        "bottleneck": None
        if narrowest is None
        else {
            "fleet": None if narrowest.cell.fleet == WAVES else narrowest.cell.fleet,
            "budget": narrowest.cell.budget,
            "place": narrowest.cell.place,
            "limit": narrowest.limit,
            "groups": narrowest.groups,
            "needsSeconds": round(narrowest.needs_s),
        },
    }


def _obstacle_document(key: str, obstacle: Obstacle) -> Json:
    return {"group": key, "reason": obstacle.skip.value, "message": obstacle.message}


def _moment(at: float | None) -> str | None:
    return None if at is None else timestamp(round(at))


def _waves(plan: CampaignPlan) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("Wave", no_wrap=True)
    table.add_column("Groups", justify="right")
    for header in ("Begins", "Ends", "p90"):
        table.add_column(header, no_wrap=True)
    table.add_column("Held back by")
    table.add_column("Who", overflow="fold")
    for each in plan.found.waves:
        times = (each.soon.begins_at, each.soon.ends_at, each.late.ends_at)
        words = [_when(at, plan) if each.moves else "" for at in times]
        held = _narrowest(each.narrowest, plan.fleet, len(each.moves)) if each.moves else ""
        table.add_row(wave_in_words(each.wave.name), str(len(each.moves)), *words, held, listing(sorted(each.moves)))
    return table


def _when(at: float | None, plan: CampaignPlan) -> str:
    return "never" if at is None else clock(plan.fleet, at, plan.now)


def _narrowest(narrowest: Bottleneck | None, fleet: FleetSeen, groups: int) -> str:
    if narrowest is None:
        return "nothing: no budget counts them"
    cell = narrowest.cell
    if cell.fleet == WAVES:
        return f"its max of {narrowest.limit}"
    budget = next((each for each in fleet.fleet.spec.budgets if each.name == cell.budget), None)
    where = cell_in_words(cell, budget) if cell.fleet == fleet.key else f" of {cell.fleet}"
    return f"{cell.budget}{where} ({narrowest.groups} of {groups})"


def _rows(plan: CampaignPlan) -> Iterator[tuple[str, str]]:
    found = plan.found
    if found.applies:
        values = ", ".join(f"{field.value} {_in_words(value)}" for field, value in found.applies.items())
        yield (
            "Takes up",
            f"{values}, as ConsumerFleet {found.campaign.fleet} says it (generation {plan.fleet.generation})",
        )
    yield from _left_alone(found)
    if stops := plan.ways.stops:
        one = "all its consumers stop" if len(stops) == 1 else "all consumers of each stop"
        yield f"Stops {len(stops)}", f"{listing(stops)}: {one} for a while, as protocol.allowDowntime lets them"
    unknown = defaultdict[str, list[str]](list)
    for key, hold in plan.ways.unknown.items():
        unknown[f"{hold.message.rstrip('.')} ({hold.reason})"].append(key)
    yield from (("Not known " + str(len(keys)), f"{listing(keys)}: {why}") for why, keys in unknown.items())
    if found.done:
        why = "has it already" if found.applies else "has no pods"
        yield f"Done {len(found.done)}", f"{listing(found.done)}: {why if len(found.done) == 1 else _plural(why)}"


def _plural(words: str) -> str:
    return words.replace("has ", "have ", 1)


def _left_alone(found: CampaignForecast) -> Iterator[tuple[str, str]]:
    by_reason = defaultdict[tuple[str, str], list[str]](list)
    for each in found.left_alone:
        if each.obstacle is not None:
            by_reason[each.obstacle.skip.value, each.obstacle.message].append(each.key)
    ordered = sorted(by_reason.items(), key=lambda each: (each[0][0], -len(each[1]), each[1]))
    for (reason, message), keys in ordered[:_MOST_ROWS]:
        yield f"{reason} {len(keys)}", f"{listing(keys)}: {message.rstrip('.')}" if message else listing(keys)
    if rest := ordered[_MOST_ROWS:]:
        yield "Others", f"{count(sum(len(keys) for _, keys in rest), 'group')} left as they are: -o json has all"


def _remarks(plan: CampaignPlan) -> Iterator[tuple[str, str]]:
    found, spec = plan.found, plan.found.campaign.spec
    if found.refused:
        yield f"It would not begin: {found.refused}.", "red"
    yield from _of_its_end(plan)
    yield from ((words, "yellow") for words in standing_still(plan.fleet, plan.surplus))
    for is_so, words in (
        (spec.paused, "It is paused (spec.paused): nobody begins before somebody lets it go on."),
        (spec.dry_run, "It is a dry run (spec.dryRun): applied as it is, it moves nobody."),
    ):
        if is_so:
            yield words, "yellow"
    if plan.phase is not None:
        name = f"FleetCampaign {found.campaign.name} is there ({plan.phase})"
        yield f"{name}, and does what it was begun for: apply this one under another name.", "yellow"
    if plan.is_partial:
        yield "You may not list all groups and fleets: there may be more.", "yellow"
    yield from ((words, "dim") for words in _on_what_it_rests(plan))


def _of_its_end(plan: CampaignPlan) -> Iterator[tuple[str, str]]:
    found, fleet, now = plan.found, plan.fleet, plan.now
    if found.ends_at is not None:
        late = found.ends_at_latest
        latest = "" if late is None else f" (p90 {clock(fleet, late, now)})"
        yield f"It ends at about {clock(fleet, found.ends_at, now, zoned=True)}{latest}.", ""
    elif any(each.moves for each in found.waves):
        held = next(each for each in found.waves if each.soon.ends_at is None)
        yield (
            f"It does not end: not all groups of {wave_in_words(held.wave.name)} fit into the windows that come.",
            "red",
        )
    elif not found.refused:
        yield "It moves nobody.", "yellow"
    if _is_overdue(found):
        yield f"That is after its deadline of {format_duration(found.campaign.spec.deadline_ms)}.", "yellow"


def _is_overdue(found: CampaignForecast) -> bool:
    return found.ends_at is not None and found.ends_at - found.at > found.campaign.spec.deadline_ms / 1000


def _on_what_it_rests(plan: CampaignPlan) -> Iterator[str]:
    found, campaign = plan.found, plan.found.campaign
    manual = [
        wave_in_words(each.wave.name) for each in found.waves if each.wave.promote is Promote.MANUAL and each.moves
    ]
    if manual:
        yield f"After {listing(manual)} it waits for campaign promote, which is taken to come at once."
    if campaign.spec.action.changes is not None:
        yield f"It orders changes of groups whose annotation {CAMPAIGN} is {campaign.name}; a wave waits for its first."
    if held := _held(found):
        what = "what its fleet gives" if len(held) == len(PinnedField) else listing(held)
        yield f"Until it has called a group, or is over, no deploy of the group's own brings {what}."
    if found.without_history:
        yield f"{count(found.without_history, 'group')} without a rollout so far: taken as the others' median."
    if found.without_coordinator:
        where = "taken as spread evenly over the brokers"
        yield f"The coordinator of {count(found.without_coordinator, 'group')} is not known: {where}."


def _held(found: CampaignForecast) -> list[str]:
    """Defaults that wait for it from when it is applied."""
    by = held_by(found.campaign)
    return [] if by is None else sorted(name.value for name in by.fields)


def _action(found: CampaignForecast) -> str:
    action = found.campaign.spec.action
    if action.restart is not None:
        return "restarts"
    return "applies defaults" if action.apply_defaults is not None else "orders changes"


def _in_words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
