"""When a campaign is done, by what its groups' rollouts usually take, and what keeps it: its ledger, run forward."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from slackwater.api.amounts import amount_of
from slackwater.api.fleet_budgets import Budget, CountedPer
from slackwater.api.fleet_campaign_status import CampaignPhase, Eta
from slackwater.core.fleet.board import paces
from slackwater.core.fleet.campaign import Course
from slackwater.core.fleet.claim import Cell, Limit, Standing
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.plan import Bottleneck, Outset, Wave, bottleneck, run
from slackwater.core.fleet.seen import Seen
from slackwater.core.fleet.waves import the_wave

WAVES: Final = "campaign"
"""Whose the cells of a plan's waves are: no fleet is called so, since a fleet has a namespace."""
_GO_ON = (CampaignPhase.RUNNING, CampaignPhase.SOAKING, CampaignPhase.FORECAST)


@dataclass(frozen=True, slots=True)
class Outlook:
    eta: Eta | None = None
    """None: it stands still, or not all of its groups begin as far as a calendar reaches."""
    bottleneck: str | None = None
    """What takes the longest, and where: a budget, or the `max` of a wave; None: none has less room than groups."""


@dataclass(frozen=True, slots=True)
class Stages:
    """What is left of a campaign, for a plan: its waves, and where the `max` of each is counted."""

    waves: tuple[Wave, ...]
    cells: Mapping[str, frozenset[Cell]]
    """By group's key."""
    limits: Mapping[Cell, Limit]


def stages_of(course: Course) -> Stages:
    waves = tuple(_waves(course))
    limits = {
        Cell(WAVES, wave.name): Limit(number=amount_of(wave.max, sum(not each.is_left_alone for each in placed)))
        for wave, placed in zip(course.plan, course.placed, strict=True)
        if wave.max is not None
    }
    cells = {key: frozenset({Cell(WAVES, wave.name)} & limits.keys()) for wave in waves for key in wave.groups}
    return Stages(waves, cells, limits)


def outlook_of(
    course: Course, fleets: Sequence[Fleet], groups: Sequence[Seen], ordered: Collection[str], now: float
) -> Outlook:
    """`groups`: all that these fleets select; `ordered`: those that ask because a campaign has called them. A dry run
    is taken to begin now."""
    if course.status.phase not in _GO_ON:
        return Outlook()
    stages = stages_of(course)
    facts = tuple(
        replace(each.facts, besides=stages.cells.get(each.key, frozenset()), standing=_own(each, ordered))
        for each in groups
    )
    soon, late = (Outset(tuple(fleets), facts, paces(groups, now, slow=slow), stages.limits) for slow in (False, True))
    p50, p90 = (_moment(run(each, stages.waves, now).waves[-1].ends_at) for each in (soon, late))
    narrowest = bottleneck(soon, [key for wave in stages.waves for key in wave.groups], now)
    return Outlook(None if p50 is None else Eta(p50=p50, p90=p90), _in_words(narrowest, fleets))


def _in_words(found: Bottleneck | None, fleets: Sequence[Fleet]) -> str | None:
    if found is None or found.groups <= found.limit:
        return None
    if found.cell.fleet == WAVES:
        return f"max of {the_wave(found.cell.budget)}"
    budgets = (each for fleet in fleets if fleet.key == found.cell.fleet for each in fleet.spec.budgets)
    budget = next(each for each in budgets if each.name == found.cell.budget)
    return f"{budget.name}, {where}" if (where := _where(budget, found.cell.place)) else budget.name


def _where(budget: Budget, place: str) -> str:
    return f"broker {place.rpartition('/')[2]}" if budget.per is CountedPer.COORDINATOR else place


def _moment(at: float | None) -> datetime | None:
    return None if at is None else datetime.fromtimestamp(int(at), UTC)


def _own(group: Seen, ordered: Collection[str]) -> Standing:
    asks = group.facts.standing is Standing.ASKS
    return Standing.RESTS if asks and group.key in ordered else group.facts.standing


def _waves(course: Course) -> Iterator[Wave]:
    """From the one under way on. One in which nobody moves is passed over, without a soak."""
    names = [wave.name for wave in course.plan]
    first = names.index(course.status.wave) if course.status.wave in names else 0
    for wave, placed in list(zip(course.plan, course.placed, strict=True))[first:]:
        left = tuple(each.key for each in placed if each.is_to_come or each.is_under_way)
        soaks = bool(left) or any(each.done_at is not None for each in placed)
        yield Wave(wave.name, left, wave.soak_ms / 1000 if soaks else 0.0)
