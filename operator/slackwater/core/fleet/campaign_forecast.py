"""What a campaign would do if it began: who is in which wave, who is left as they are, and when each wave is over.

The campaign's own fold says who is where, and the fleet's ledger, run forward, how long that takes. Groups are taken to
end well, and people to promote a wave as soon as it may be promoted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from slackwater.api.amounts import IntOrPercent
from slackwater.api.fleet_waves import Wave
from slackwater.core.fleet.board import Board
from slackwater.core.fleet.campaign import Campaign, Course, FleetOf, fold
from slackwater.core.fleet.campaign_eta import Stages, stages_of
from slackwater.core.fleet.campaign_groups import KnownGroup, applies_of, participant_of
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.forecast import brokers_of, coordinated, counts_coordinators, slowed, with_limits
from slackwater.core.fleet.order import reason_of
from slackwater.core.fleet.participants import Participant, Progress
from slackwater.core.fleet.plan import Bottleneck, Outset, Ran, WaveRan, bottleneck, run
from slackwater.core.fleet.records import Values
from slackwater.core.fleet.seen import FleetSeen

_MOVE: Final = (Standing.HAS, Standing.ASKS)


@dataclass(frozen=True, slots=True)
class Assumed:
    """What a campaign is planned with."""

    at: float | None = None
    """When it begins; None: now. Later than now, everything that goes on is taken to be over."""
    limits: Mapping[str, IntOrPercent] = field(default_factory=dict)
    """Budgets of its fleet with another `max`."""


@dataclass(frozen=True, slots=True)
class WaveForecast:
    wave: Wave
    placed: tuple[Participant, ...]
    soon: WaveRan
    """By what its groups' rollouts usually take."""
    late: WaveRan
    """By what nine of ten of them took less than."""
    narrowest: Bottleneck | None

    @property
    def moves(self) -> tuple[str, ...]:
        """Those that it begins with, by `namespace/name`."""
        return tuple(each.key for each in self.placed if each.is_to_come)


@dataclass(frozen=True, slots=True)
class CampaignForecast:
    campaign: Campaign
    at: float
    applies: Values
    """What groups take up, of what the fleet says by now."""
    participants: tuple[Participant, ...]
    waves: tuple[WaveForecast, ...] = ()
    refused: str = ""
    """Why it would not begin; empty: it would."""
    without_history: int = 0
    without_coordinator: int = 0

    @property
    def left_alone(self) -> tuple[Participant, ...]:
        return tuple(sorted((each for each in self.participants if each.is_left_alone), key=lambda each: each.key))

    @property
    def done(self) -> tuple[str, ...]:
        """Those that have nothing to do, though the campaign is about them."""
        done = (each for each in self.participants if each.progress is Progress.DONE and each.is_named)
        return tuple(sorted(each.key for each in done))

    @property
    def ends_at(self) -> float | None:
        return self._end([each.soon for each in self.waves])

    @property
    def ends_at_latest(self) -> float | None:
        """For nine of ten."""
        return self._end([each.late for each in self.waves])

    @staticmethod
    def _end(waves: Sequence[WaveRan]) -> float | None:
        """When its last group is done; None: not all of them begin, or none has to."""
        if any(each.ends_at is None for each in waves):
            return None
        return max((each.ends_at or 0.0 for each in waves if each.groups), default=None)


def forecast_campaign(
    campaign: Campaign, fleet: FleetSeen, groups: Sequence[KnownGroup], board: Board, assumed: Assumed
) -> CampaignForecast:
    """`groups`: those that the fleet and the campaign's selector select, each with its way to another protocol where
    the campaign takes it there. `board`: all that can be read, this fleet among it."""
    at = board.now if assumed.at is None else assumed.at
    says = {} if fleet.giver is None else fleet.giver.says
    applies = applies_of(campaign.spec.action.apply_defaults, says)
    participants = tuple(participant_of(campaign, each, applies, at) for each in groups)
    course = fold(campaign, FleetOf(fleet.fleet.spec.waves, applies), participants, at)
    found = CampaignForecast(campaign, at, applies, participants, refused=course.refused)
    if not course.placed:
        return found
    stages, limited = stages_of(course), with_limits(fleet.fleet, assumed.limits)
    outset = _outset(found, stages, fleet, limited, board)
    soon, late = (run(each, stages.waves, at) for each in (outset, slowed(outset)))
    moving = [key for wave in stages.waves for key in wave.groups]
    return replace(
        found,
        waves=_waves(course, soon, late, [bottleneck(outset, wave.groups, at) for wave in stages.waves]),
        without_history=sum(board.groups[key].memory.took is None for key in moving),
        without_coordinator=sum(board.groups[key].facts.coordinator is None for key in moving)
        if counts_coordinators(limited)
        else 0,
    )


def _waves(course: Course, soon: Ran, late: Ran, narrowest: Sequence[Bottleneck | None]) -> tuple[WaveForecast, ...]:
    return tuple(
        WaveForecast(*each)
        for each in zip(course.plan, course.placed, _in_turn(soon), _in_turn(late), narrowest, strict=True)
    )


def _in_turn(ran: Ran) -> list[WaveRan]:
    """After a wave that does not end none begins."""
    found: list[WaveRan] = []
    for wave in ran.waves:
        is_held = bool(found) and found[-1].ends_at is None
        found.append(wave._replace(begins_at=None, ends_at=None) if is_held else wave)
    return found


def _outset(found: CampaignForecast, stages: Stages, fleet: FleetSeen, limited: Fleet, board: Board) -> Outset:
    outset = board.outset([limited if each.key == fleet.key else each for each in board.fleets])
    reason = reason_of(found.applies, restarts=found.campaign.spec.action.restart is not None)

    def as_ordered(group: GroupFacts) -> GroupFacts:
        if found.at > board.now:
            group = replace(group, standing=Standing.RESTS)
        if group.key not in stages.cells:
            return group
        group = replace(group, besides=stages.cells[group.key])
        return group if group.standing in _MOVE else replace(group, reason=reason)

    groups = coordinated([as_ordered(each) for each in outset.groups], brokers_of(fleet))
    return replace(outset, groups=tuple(groups), limits=stages.limits)
