"""When a campaign is done, by what its groups' rollouts usually take: its ledger, run forward."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from slackwater.api.fleet_campaign_status import CampaignPhase, Eta
from slackwater.core.fleet.board import paces
from slackwater.core.fleet.campaign import Course
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.plan import Outset, Wave, run
from slackwater.core.fleet.seen import Seen

_GO_ON = (CampaignPhase.RUNNING, CampaignPhase.SOAKING)


def eta_of(
    course: Course, fleets: Sequence[Fleet], groups: Sequence[Seen], ordered: Collection[str], now: float
) -> Eta | None:
    """`groups`: all that these fleets select; `ordered`: those that ask because a campaign has called them. None: it
    stands still, or not all of its groups begin as far as a calendar reaches."""
    if course.status.phase not in _GO_ON:
        return None
    waves = tuple(_waves(course))
    facts = tuple(replace(each.facts, besides=frozenset(), standing=_own(each, ordered)) for each in groups)
    ends = [
        run(Outset(tuple(fleets), facts, paces(groups, now, slow=slow)), waves, now).waves[-1].ends_at
        for slow in (False, True)
    ]
    p50, p90 = (None if at is None else datetime.fromtimestamp(int(at), UTC) for at in ends)
    return None if p50 is None else Eta(p50=p50, p90=p90)


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
