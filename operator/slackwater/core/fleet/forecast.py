"""What a fleet's groups would do if all of them had to move, or as they wait now: for people who plan a night."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final

from slackwater.api.amounts import IntOrPercent
from slackwater.api.fleet_budgets import CountedPer, MoveReason
from slackwater.core.fleet.board import Board
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.plan import Bottleneck, Outset, Ran, Wave, bottleneck, coordinators_of, run
from slackwater.core.fleet.seen import FleetSeen

ASSUMED_BROKERS: Final = 3
"""Where no group's coordinator is known, the groups are taken to be spread over so many."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is planned."""

    everybody: bool = False
    """All groups with pods restart; else those that wait go on."""
    at: float | None = None
    """From when on; None: now. Later than now, everything that goes on is taken to be over."""
    limits: Mapping[str, IntOrPercent] | None = None
    """Budgets of this fleet with another `max`."""


@dataclass(frozen=True, slots=True)
class Wider:
    """The same with more room at the bottleneck, or where other limits were asked about, without those."""

    words: str
    ends_at: float | None


@dataclass(frozen=True, slots=True)
class Forecast:
    at: float
    everybody: bool
    groups: tuple[str, ...]
    """Those that are to move, by `namespace/name`."""
    soon: Ran
    """By what their rollouts usually take."""
    late: Ran
    """By what nine of ten of them took less than."""
    narrowest: Bottleneck | None
    wider: Wider | None
    without_history: int
    without_coordinator: int

    @property
    def never(self) -> tuple[str, ...]:
        """Those that fit into no window."""
        return tuple(key for key in self.groups if key not in self.soon.begins_at)

    def ends_at(self, ran: Ran) -> float | None:
        """Of those that begin at all; None: none does."""
        return max((ran.ends_at[key] for key in self.groups if key in ran.ends_at), default=None)


def forecast(board: Board, fleet: FleetSeen, question: Question) -> Forecast:
    at = board.now if question.at is None else question.at
    wanted = with_limits(fleet.fleet, question.limits or {})
    outset = _outset(board, wanted, fleet, question)
    moving = [each for each in outset.groups if wanted.selects(each) and _moves(each, question)]
    keys = tuple(each.key for each in moving)
    waves = [Wave("all", keys)] if question.everybody else []
    soon = run(outset, waves, at)
    late = run(slowed(outset), waves, at)
    narrowest = bottleneck(outset, keys, at)
    found = Forecast(
        at,
        question.everybody,
        keys,
        soon,
        late,
        narrowest,
        None,
        sum(board.groups[key].memory.took is None for key in keys),
        sum(board.groups[key].facts.coordinator is None for key in keys) if counts_coordinators(wanted) else 0,
    )
    return replace(found, wider=_wider(found, board, fleet, question, waves))


def with_limits(fleet: Fleet, limits: Mapping[str, IntOrPercent]) -> Fleet:
    """The same, with another `max` of these budgets."""
    budgets = tuple(
        each.model_copy(update={"max": limits[each.name]}) if each.name in limits else each
        for each in fleet.spec.budgets
    )
    return replace(fleet, spec=fleet.spec.model_copy(update={"budgets": budgets}))


def _wider(found: Forecast, board: Board, fleet: FleetSeen, question: Question, waves: Sequence[Wave]) -> Wider | None:
    if question.limits:
        words, other = "as it is", replace(question, limits=None)
    elif found.narrowest is not None and found.narrowest.cell.fleet == fleet.key:
        budget, limit = found.narrowest.cell.budget, found.narrowest.limit + 1
        words, other = f"with {budget} at {limit}", replace(question, limits={budget: limit})
    else:
        return None
    outset = _outset(board, with_limits(fleet.fleet, other.limits or {}), fleet, other)
    return Wider(words, found.ends_at(run(outset, waves, found.at)))


def _moves(group: GroupFacts, question: Question) -> bool:
    if question.everybody:
        return group.replicas > 0 and group.standing is not Standing.HAS
    return group.standing is Standing.ASKS


def _outset(board: Board, fleet: Fleet, known: FleetSeen, question: Question) -> Outset:
    fleets = [fleet if each.key == fleet.key else each for each in board.fleets]
    outset = board.outset(fleets)
    groups = outset.groups
    if question.at is not None and question.at > board.now:
        groups = tuple(replace(each, standing=Standing.RESTS) for each in groups)
    if question.everybody:
        groups = tuple(
            each if each.standing in (Standing.HAS, Standing.ASKS) else replace(each, reason=MoveReason.RESTART)
            for each in groups
        )
    return replace(outset, groups=tuple(coordinated(groups, brokers_of(known))))


def slowed(outset: Outset) -> Outset:
    moving = {each.key for each in outset.groups if each.standing is Standing.HAS}
    paces = {key: pace if key in moving else pace._replace(takes_s=pace.fits_s) for key, pace in outset.paces.items()}
    return replace(outset, paces=paces)


def brokers_of(fleet: FleetSeen) -> int:
    """How many coordinators the operator counts in."""
    per = {each.name for each in fleet.fleet.spec.budgets if each.per is CountedPer.COORDINATOR}
    told = fleet.status.get("budgets") or ()
    return max((int(each.get("cells") or 0) for each in told if each.get("name") in per), default=0)


def coordinated(groups: Sequence[GroupFacts], brokers: int) -> list[GroupFacts]:
    """Where nobody knows a group's coordinator: spread evenly over those that there are, or would be."""
    known = coordinators_of(groups)
    found = []
    for group in groups:
        if group.coordinator is None:
            there = sorted(known.get(group.cluster or "", ())) or list(range(max(brokers, ASSUMED_BROKERS)))
            digest = int.from_bytes(blake2b(group.key.encode(), digest_size=4).digest())
            found.append(replace(group, coordinator=there[digest % len(there)]))
        else:
            found.append(group)
    return found


def counts_coordinators(fleet: Fleet) -> bool:
    return any(each.per is CountedPer.COORDINATOR for each in fleet.spec.budgets)
