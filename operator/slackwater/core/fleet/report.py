"""A fleet's status: what people and other programs read of it. Nothing in it changes while nothing changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slackwater.api.conditions import ConditionStatus
from slackwater.api.consumer_fleet_status import FleetConditionType
from slackwater.api.timestamps import timestamp
from slackwater.core.decision.words import count, listing, shown
from slackwater.core.fleet.campaign_report import CampaignVerdict
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.claims import NO_LIMIT
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.kept import Kept
from slackwater.core.fleet.layers import Giver, overlapping, said_by
from slackwater.core.fleet.ledger import Ledger
from slackwater.core.fleet.reasons import FleetReason
from slackwater.core.fleet.tally import NAMED

Json = dict[str, Any]

LONGEST_MESSAGE: Final = 1024
TRUE, FALSE = ConditionStatus.TRUE, ConditionStatus.FALSE
_DIFFERS: Final = ", and gives other defaults: those of the older fleet hold"


@dataclass(frozen=True, slots=True)
class Verdict:
    type: FleetConditionType
    status: ConditionStatus
    reason: FleetReason
    message: str


def status_of(
    kept: Kept, ledger: Ledger, before: Mapping[str, Any], generation: int, commands: Mapping[str, str], now: float
) -> Json:
    """`before`: the status as it stands; `generation`: of the spec that it speaks of; `commands`: the tokens that were
    obeyed last. Empty parts are left out."""
    waiting = kept.tally.having(Standing.ASKS)
    opening, halted = kept.gates.opening, kept.halts.by_failures
    changes = None if opening.until is None else timestamp(int(opening.until))
    closed, overridden = bool(kept.gates.shut), kept.gates.override_until
    parts: Json = {
        "observedGeneration": generation,
        "groups": counts(kept, ledger),
        "budgets": list(budgets(kept, ledger)),
        "moving": _named(kept.tally.having(Standing.HAS, Standing.MENDS)),
        "failed": _named(kept.tally.failed),
        "longest": _longest(waiting),
        "opens": changes if closed and not opening.is_open else None,
        "closes": changes if opening.is_open else None,
        "next": changes,
        "pausedSince": _paused_since(before, now) if kept.fleet.spec.pause else None,
        "overriddenUntil": None if overridden is None else timestamp(int(overridden)),
        "halted": None if halted is None else _halted(kept),
        "resumedAt": timestamp(kept.halts.resumed_at) if kept.halts.resumed_at > 0 else None,
        "commands": dict(commands),
        "conditions": merged(before.get("conditions") or (), verdicts(kept, ledger, waiting), now, generation),
    }
    return {name: part for name, part in parts.items() if part not in (None, [], {})}


def _paused_since(before: Mapping[str, Any], now: float) -> str:
    """A fleet that a window or a freeze has closed already stays closed: so its condition cannot say since when it is
    paused, but in the status of an operator that wrote nothing else."""
    known = {each["type"]: each for each in before.get("conditions") or ()}.get(FleetConditionType.OPEN.value, {})
    by_condition = known.get("lastTransitionTime") if known.get("reason") == FleetReason.PAUSED.value else None
    return str(before.get("pausedSince") or by_condition or timestamp(int(now)))


def counts(kept: Kept, ledger: Ledger) -> dict[str, int]:
    """How many groups do what. Asks every group that waits."""
    waiting = kept.tally.having(Standing.ASKS)
    called = sum(ledger.allocator.is_called(group.key) for group in waiting)
    return {
        "selected": len(kept.tally),
        "waiting": len(waiting) - called,
        "called": called,
        "moving": kept.tally.of(Standing.HAS) + kept.tally.of(Standing.MENDS),
        "settling": kept.tally.of(Standing.SETTLES),
        "failed": len(kept.tally.failed),
        "disturbed": kept.tally.disturbed,
    }


def budgets(kept: Kept, ledger: Ledger) -> Iterator[Json]:
    """Of those in force: the fullest cell, and which cells have no room."""
    uses: dict[str, list[tuple[str, int, int]]] = {}
    for cell in ledger.cells_of(kept.fleet.key):
        limit, used, _ = ledger.allocator.use(cell)
        if limit != NO_LIMIT.number:
            uses.setdefault(cell.budget, []).append((cell.place, limit, used))
    for budget in kept.fleet.spec.budgets:
        if found := uses.get(budget.name):
            _, limit, used = max(found, key=lambda use: (use[2] / use[1], use[2]))
            full = [place for place, most, moving in found if moving >= most and place][:NAMED]
            told = {"name": budget.name, "limit": limit, "used": used, "cells": len(found), "full": full}
            yield {name: value for name, value in told.items() if value != []}


def verdicts(kept: Kept, ledger: Ledger, waiting: tuple[GroupFacts, ...]) -> tuple[Verdict, ...]:
    """Every condition, always all of them, so that an absent one never has to be interpreted."""
    return (_accepted(kept), _open(kept), _is_halted(kept), _waits(waiting), _overlaps(kept, ledger))


def _accepted(kept: Kept) -> Verdict:
    if (refused := kept.gates.refused) is not None:
        return Verdict(FleetConditionType.ACCEPTED, FALSE, refused.reason, refused.message)
    return Verdict(FleetConditionType.ACCEPTED, TRUE, FleetReason.ACCEPTED, "")


def _open(kept: Kept) -> Verdict:
    kind, opening = FleetConditionType.OPEN, kept.gates.opening
    at = "" if opening.until is None else timestamp(int(opening.until))
    override = kept.fleet.spec.override
    besides = f"; override in force: {override.reason}" if override is not None and kept.gates.is_overridden else ""
    if kept.gates.refused is not None:
        return Verdict(kind, FALSE, FleetReason.NOT_ACCEPTED, "nothing begins in a fleet that is not accepted")
    if kept.fleet.spec.pause:
        return Verdict(kind, FALSE, FleetReason.PAUSED, f"{kept.fleet.spec.pause}{besides}")
    if "freezes" in kept.gates.shut:
        again = f"groups begin again at {at}" if at else "no end of it is in sight"
        return Verdict(kind, FALSE, FleetReason.FROZEN, f"freeze {opening.by}; {again}{besides}")
    if "windows" in kept.gates.shut:
        soon = f"window {opening.by} opens at {at}" if at else "no opening is in sight"
        following = soon if opening.by else "none of its windows opens again"
        return Verdict(kind, FALSE, FleetReason.WINDOW_CLOSED, f"{following}{besides}")
    window = f"window {opening.by} is open" if opening.by else "groups may begin"
    return Verdict(kind, TRUE, FleetReason.OPEN, f"{window}{f' until {at}' if at else ''}{besides}")


def _is_halted(kept: Kept) -> Verdict:
    kind, halts = FleetConditionType.HALTED, kept.halts
    if halts.by_failures is not None:
        who = listing(halts.by_failures.named, of=len(halts.failed))
        message = (
            f"{count(len(halts.failed), 'group')} failed or went back: {who}. No other begins until they are"
            " mended, such as by a template that works, or somebody resumes the fleet by the annotation"
            " slackwater.dev/resume"
        )
        return Verdict(kind, TRUE, FleetReason.TOO_MANY_FAILED, message)
    if halts.by_disturbance:
        sick = {place: kept.tally.sick_at(place) for place in halts.by_disturbance}
        now = {place: listing(names) or "all of them are well again by now" for place, names in sick.items()}
        where = "; ".join(f"coordinator {place}: {said}" for place, said in now.items())
        message = f"too many groups are not calm, not whole or not seen, so that no other begins there: {where}"
        return Verdict(kind, TRUE, FleetReason.TOO_MANY_DISTURBED, message)
    return Verdict(kind, FALSE, FleetReason.NOT_HALTED, "")


def _waits(waiting: tuple[GroupFacts, ...]) -> Verdict:
    longest = _longest(waiting)
    if longest is None:
        return Verdict(FleetConditionType.WAITING, FALSE, FleetReason.NOBODY_WAITS, "")
    message = f"{longest['group']} waits for the longest time, since {longest['since']}"
    return Verdict(FleetConditionType.WAITING, TRUE, FleetReason.GROUPS_WAIT, message)


def _overlaps(kept: Kept, ledger: Ledger) -> Verdict:
    """Of two fleets in one layer, platform or a namespace's own, the older one says what both say."""
    others: dict[str, set[str]] = {}
    for group in kept.tally.names:
        for key in ledger.fleets_of(group):
            if key != kept.fleet.key and _same_layer(kept, ledger.kept(key)):
                others.setdefault(key, set()).add(group)
    if not others:
        return Verdict(FleetConditionType.OVERLAPS, FALSE, FleetReason.NO_OVERLAP, "")
    differing = {key for key in others if _says_otherwise(kept, ledger.kept(key))}
    said = (
        f"{key} selects {listing(sorted(groups))} as well" + (_DIFFERS if key in differing else "")
        for key, groups in sorted(others.items())
    )
    reason = FleetReason.DEFAULTS_DIFFER if differing else FleetReason.SELECTED_TWICE
    return Verdict(FleetConditionType.OVERLAPS, TRUE, reason, "; ".join(said))


def _says_otherwise(kept: Kept, other: Kept | None) -> bool:
    fleets = [each.fleet for each in (kept, other) if each is not None and each.fleet.spec.defaults is not None]
    says = ((each, each.spec.defaults) for each in fleets)
    givers = [Giver(each.namespace, each.name, said_by(said)) for each, said in says if said is not None]
    return bool(overlapping(kept.fleet.namespace, givers))


def _same_layer(kept: Kept, other: Kept | None) -> bool:
    return other is not None and other.fleet.is_of_the_operator is kept.fleet.is_of_the_operator


def _longest(waiting: Iterable[GroupFacts]) -> Json | None:
    found = min(waiting, key=lambda group: (group.asked_at, group.key), default=None)
    return None if found is None else {"group": found.key, "since": timestamp(int(found.asked_at))}


def _halted(kept: Kept) -> Json | None:
    halted = kept.halts.by_failures
    if halted is None:
        return None
    reason = FleetReason.TOO_MANY_FAILED.value
    return {"since": timestamp(halted.since), "reason": reason, "groups": list(halted.named)}


def _named(groups: Iterable[GroupFacts]) -> list[str]:
    return sorted(group.key for group in groups)[:NAMED]


def merged(
    before: Iterable[Mapping[str, Any]], now: Iterable[Verdict | CampaignVerdict], at: float, generation: int
) -> list[dict[str, Any]]:
    """The moment of the last transition moves only when a status does."""
    known = {condition["type"]: condition for condition in before}
    found = []
    for verdict in now:
        old = known.get(verdict.type.value, {})
        same = old.get("status") == verdict.status.value
        found.append(
            {
                "type": verdict.type.value,
                "status": verdict.status.value,
                "reason": str(verdict.reason),
                "message": shown(verdict.message, LONGEST_MESSAGE),
                "lastTransitionTime": old["lastTransitionTime"] if same else timestamp(int(at)),
                "observedGeneration": generation,
            }
        )
    return found
