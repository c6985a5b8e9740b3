"""When a campaign is done, by what its groups' rollouts usually take, and what keeps it: its ledger, run forward."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from slackwater.api.fleet_budgets import Budget, CountedPer
from slackwater.api.fleet_campaign_status import CampaignPhase, Eta
from slackwater.core.fleet.board import paces
from slackwater.core.fleet.campaign import Course
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.plan import Bottleneck, Outset, Wave, bottleneck, run
from slackwater.core.fleet.seen import Seen

_GO_ON = (CampaignPhase.RUNNING, CampaignPhase.SOAKING, CampaignPhase.FORECAST)


@dataclass(frozen=True, slots=True)
class Outlook:
    eta: Eta | None = None
    """None: it stands still, or not all of its groups begin as far as a calendar reaches."""
    bottleneck: str | None = None
    """The budget that takes the longest, and where; None: no budget has less room than groups."""


def outlook_of(
    course: Course, fleets: Sequence[Fleet], groups: Sequence[Seen], ordered: Collection[str], now: float
) -> Outlook:
    """`groups`: all that these fleets select; `ordered`: those that ask because a campaign has called them. A dry run
    is taken to begin now."""
    if course.status.phase not in _GO_ON:
        return Outlook()
    waves = tuple(_waves(course))
    facts = tuple(replace(each.facts, besides=frozenset(), standing=_own(each, ordered)) for each in groups)
    soon, late = (Outset(tuple(fleets), facts, paces(groups, now, slow=slow)) for slow in (False, True))
    p50, p90 = (_moment(run(each, waves, now).waves[-1].ends_at) for each in (soon, late))
    narrowest = bottleneck(soon, [key for wave in waves for key in wave.groups], now)
    return Outlook(None if p50 is None else Eta(p50=p50, p90=p90), _in_words(narrowest, fleets))


def _in_words(found: Bottleneck | None, fleets: Sequence[Fleet]) -> str | None:
    if found is None or found.groups <= found.limit:
        return None
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
    """From the one under way on."""
    names = [wave.name for wave in course.plan]
    first = names.index(course.status.wave) if course.status.wave in names else 0
    for wave, placed in list(zip(course.plan, course.placed, strict=True))[first:]:
        left = tuple(each.key for each in placed if each.is_to_come or each.is_under_way)
        yield Wave(wave.name, left, wave.soak_ms / 1000)
