"""What is said of fleets, their budgets and a group's turn. Pure.

Times are the fleet's own, in its time zone: people know its windows by those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from slackwater.api.consumer_fleet_status import FleetConditionType
from slackwater.api.fleet_budgets import Budget, CountedPer
from slackwater.api.timestamps import timestamp
from slackwater.cli.words.orders import order_in_words, waits_for_its_order
from slackwater.core.decision.words import count, listing
from slackwater.core.fleet.board import Board, Wait
from slackwater.core.fleet.claim import Cell
from slackwater.core.fleet.claims import FREEZES, STOPS, WINDOWS
from slackwater.core.fleet.plan import Ran, run
from slackwater.core.fleet.seen import FleetSeen, Seen
from slackwater.core.fleet.surplus import Surplus

_UTC: Final = "UTC"
_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}
GATE_SENTENCES: Final = {
    "accepted": "is not accepted",
    "pause": "is paused",
    "halts": "is halted",
}
"""What is so of a fleet while its gate is shut, and does not end by itself."""


def surplus_in_words(surplus: Surplus) -> str:
    has = f"namespace {surplus.namespace} has {count(surplus.fleets, 'ConsumerFleet')}"
    if surplus.is_told:
        many = f"{has}, and only the oldest {surplus.counting} count"
        return f"Nothing begins while {many}: delete those that nobody needs, or raise observation.mostFleets."
    would = f"only the oldest {surplus.counting} count, unless the operator's observation.mostFleets says otherwise"
    return f"Nothing would begin while {has}: {would}."


def standing_still(fleet: FleetSeen, surplus: Surplus | None) -> Iterator[str]:
    """What keeps all of it from beginning, besides the time."""
    if fleet.shut:
        what = " and ".join(GATE_SENTENCES[gate] for gate in sorted(fleet.shut))
        yield f"Nothing of it begins while the fleet {what}."
    if surplus is not None:
        yield surplus_in_words(surplus)


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `11th`."""
    ending = "th" if number % 100 in (11, 12, 13) else _ENDINGS.get(number % 10, "th")
    return f"{number}{ending}"


def clock(fleet: FleetSeen, at: float, now: float, *, zoned: bool = False) -> str:
    """`22:41`, `Wed 22:41` on another day, `2 Dec 22:41` on one more than six days away; `zoned`: with the zone."""
    zone = _zone(fleet)
    there, here = (datetime.fromtimestamp(each, zone) for each in (at, now))
    days = abs((there.date() - here.date()).days)
    day = "" if days == 0 else f"{there:%a} " if days <= 6 else f"{there.day} {there:%b} "
    return f"{day}{there:%H:%M}{f' {zone.key}' if zoned else ''}"


def moment_in(fleet: FleetSeen, local: str) -> float:
    """Of a local time of its zone, in seconds since the epoch; of one that comes twice, the first."""
    return datetime.fromisoformat(local).replace(tzinfo=_zone(fleet)).timestamp()


def elapsed(duration_s: float) -> str:
    """`40s`, `2m30s`, `1h10m`, `3d4h`."""
    whole = max(0, round(duration_s))
    for unit, size, part, of in (("d", 86_400, "h", 3600), ("h", 3600, "m", 60), ("m", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // of
            return f"{whole // size}{unit}{f'{rest}{part}' if rest else ''}"
    return f"{whole}s"


def cell_in_words(cell: Cell, budget: Budget | None) -> str:
    """Where a budget counts, such as ` on broker 2 of lkc-7f`; empty for one that counts all together."""
    if budget is None or budget.per is CountedPer.FLEET:
        return ""
    cluster, _, rest = cell.place.partition("/")
    of_cluster = "" if cluster == "?" else f" of {cluster}"
    match budget.per:
        case CountedPer.COORDINATOR:
            return f" on broker {rest}{of_cluster}" if rest != "?" else f" on a broker that is not known{of_cluster}"
        case CountedPer.TOPIC:
            return f" from topic {rest}{of_cluster}"
        case CountedPer.NAMESPACE:
            return f" in namespace {cell.place}"
        case CountedPer.LABEL:
            return f" with {budget.label}={cell.place}" if cell.place else f" without the label {budget.label}"
        case _:
            return f" in Kafka cluster {cell.place}"


@dataclass(frozen=True, slots=True)
class TurnStory:
    """Why a group waits for its turn, for whom, and for how long yet."""

    sentences: tuple[str, ...]
    document: Mapping[str, Any]


def turn_story(
    key: str,
    fleets: Mapping[str, FleetSeen],
    board: Board,
    *,
    is_partial: bool,
    campaign: Mapping[str, Any] | None = None,
) -> TurnStory | None:
    """Of one group, by `namespace/name`; None where it waits for no turn, by what may be read.

    `is_partial`: there may be fleets or groups that may not be read. `campaign`: the one that its annotation names;
    None where that is not there.
    """
    wait = board.wait_of(key) if key in board.groups and board.is_selected(key) else None
    if wait is None:
        return None
    soon, late = (run(board.outset(slow=slow), (), board.now) for slow in (False, True))
    group, sentences = board.groups[key], list[str]()
    is_ordered = waits_for_its_order(group, campaign)
    if wait.cell is not None or not is_ordered:
        sentences += _turn_in_words(group, wait, fleets, board, soon, late)
    if is_ordered:  # when that will be nobody can tell
        sentences = [*sentences[:1], order_in_words(group, campaign)]
    if is_partial:
        sentences.append("Other fleets, or groups of other namespaces, may count as well: you may not list them")
    is_open = not is_ordered and (wait.cell is None or not fleets[wait.cell.fleet].shut)
    begins = [ran.begins_at.get(key) if is_open else None for ran in (soon, late)]
    document = {
        **_held_by(group, wait, fleets, is_ordered=is_ordered),
        "limit": wait.limit,
        "holders": list(wait.holders),
        "position": wait.place,
        "waiting": wait.waiting,
        "takesSeconds": round(board.paces[key].takes_s),
        "beginsAt": _moment(begins[0]),
        "beginsAtP90": _moment(begins[1]),
        "partial": is_partial,
    }
    return TurnStory(tuple(sentences), document)


def _held_by(group: Seen, wait: Wait, fleets: Mapping[str, FleetSeen], *, is_ordered: bool) -> dict[str, str | None]:
    """`gate`: what is shut, closes too early, or has to call it (`campaign`); `place`: where a budget has no room."""
    cell, closing = wait.cell, _closing(wait, fleets)
    campaign = group.campaign if is_ordered else None
    if cell is not None:
        gate, place = (None, cell.place) if cell.budget else (cell.place.removesuffix(STOPS), None)
        return {"fleet": cell.fleet, "budget": cell.budget or None, "gate": gate, "place": place, "campaign": campaign}
    gate = "campaign" if is_ordered else None if closing is None else _gate_of(wait, closing)
    fleet = None if closing is None else closing.key
    return {"fleet": fleet, "budget": None, "gate": gate, "place": None, "campaign": campaign}


def _moment(at: float | None) -> str | None:
    return None if at is None else timestamp(round(at))


def _turn_in_words(
    group: Seen, wait: Wait, fleets: Mapping[str, FleetSeen], board: Board, soon: Ran, late: Ran
) -> Iterator[str]:
    """`soon` and `late`: plans by usual and by long durations."""
    name, closing = group.facts.name, _closing(wait, fleets)
    if closing is not None and wait.closes_at is not None:
        closes = "freezes" if _gate_of(wait, closing) == FREEZES else "closes"
        at, takes = clock(closing, wait.closes_at, board.now), elapsed(board.paces[group.key].fits_s)
        yield (
            f"{name} waits for its turn: it may take {takes}, and would not end before ConsumerFleet {closing.key}"
            f" {closes} at {at}"
        )
        yield _when(group, closing, board, soon, late)
        return
    if wait.cell is None:
        yield f"{name} waits for its turn, and is called, or about to be: then its own gates are asked"
        return
    fleet = fleets[wait.cell.fleet]
    place = f"the {ordinal(wait.place)}" + (f" of {wait.waiting}" if wait.waiting > 1 else "")
    yield f"{name} waits for its turn, {place}: {_why(wait, wait.cell, fleet, board)}"
    yield _when(group, fleet, board, soon, late)


def _closing(wait: Wait, fleets: Mapping[str, FleetSeen]) -> FleetSeen | None:
    """Whose window closes, or whose freeze begins, too early for the group."""
    at = wait.closes_at
    if at is None:
        return None
    return next((each for each in fleets.values() if at in (each.gates.closes_at, each.gates.freezes_at)), None)


def _gate_of(wait: Wait, fleet: FleetSeen) -> str:
    return WINDOWS if wait.closes_at == fleet.gates.closes_at else FREEZES


def _why(wait: Wait, cell: Cell, fleet: FleetSeen, board: Board) -> str:
    if not cell.budget:
        return f"ConsumerFleet {cell.fleet} {_shut_in_words(cell.place.removesuffix(STOPS), fleet, board.now)}"
    budget = next((each for each in fleet.fleet.spec.budgets if each.name == cell.budget), None)
    many = "one group at a time" if wait.limit == 1 else f"{wait.limit} groups at a time"
    lets = f"budget {cell.budget} of ConsumerFleet {cell.fleet} lets {many} move{cell_in_words(cell, budget)}"
    if not wait.holders:
        return f"{lets}, and whoever was called before has it"
    if len(wait.holders) == 1:
        return f"{lets}, and {_holder(wait.holders[0], fleet, board, alone=True)}"
    return f"{lets}, and {listing(_holder(key, fleet, board) for key in wait.holders)} have it"


def _holder(key: str, fleet: FleetSeen, board: Board, *, alone: bool = False) -> str:
    group = board.groups[key]
    has = f"{key} has it" if alone else key
    if group.given_at is None:
        return has
    since, left = clock(fleet, group.given_at, board.now), f"about {elapsed(board.paces[key].takes_s)} left"
    return f"{has} since {since} ({left})" if alone else f"{key} (since {since}, {left})"


def _shut_in_words(gate: str, fleet: FleetSeen, now: float) -> str:
    """Of what has gone wrong, its own conditions have more to say."""
    if gate in ("windows", "freezes"):
        words = opening_in_words(fleet, now)
        return f"is {words[:1].lower()}{words[1:]}"
    if gate == "pause":
        return f"is paused: {fleet.fleet.spec.pause}"
    kind = FleetConditionType.ACCEPTED if gate == "accepted" else FleetConditionType.HALTED
    message = str(fleet.condition(kind).get("message") or "").rstrip(".")
    words = GATE_SENTENCES.get(gate, "is halted")
    return f"{words}: {message}" if message else words


def _when(group: Seen, fleet: FleetSeen, board: Board, soon: Ran, late: Ran) -> str:
    took = group.memory.took
    usual_s = board.paces[group.key].takes_s
    basis = "By its history it takes" if took is not None else "It has no history; by that of the others it takes"
    begins_at, at_latest = soon.begins_at.get(group.key), late.begins_at.get(group.key)
    if fleet.shut:
        what = " and ".join(GATE_SENTENCES[each] for each in sorted(fleet.shut))
        return f"{basis} {elapsed(usual_s)}; when it begins nobody can tell while the fleet {what}"
    if begins_at is None:
        return f"{basis} {elapsed(usual_s)}, and fits into none of the windows that come"
    about = clock(fleet, begins_at, board.now, zoned=True)
    later = "" if at_latest is None or at_latest - begins_at < 60 else f" (p90 {clock(fleet, at_latest, board.now)})"
    return f"{basis} {elapsed(usual_s)} and begins at about {about}{later}"


def opening_in_words(fleet: FleetSeen, now: float) -> str:
    """`Open until 05:00 (nights)`, `Paused: …`, `Closed until Mon 22:00 (nights)`, by spec and clock."""
    if fleet.fleet.spec.pause:
        return f"Paused: {fleet.fleet.spec.pause}"
    opening, shut = fleet.gates.opening, fleet.gates.shut
    what = "Open" if opening.is_open else "Frozen" if "freezes" in shut else "Closed"
    until = "" if opening.until is None else f" until {clock(fleet, opening.until, now)}"
    return f"{what}{until}{f' ({opening.by})' if opening.by else ''}"


def _zone(fleet: FleetSeen) -> ZoneInfo:
    """UTC where nobody knows its own: the operator says that, and accepts no such fleet."""
    try:
        return ZoneInfo(fleet.fleet.spec.time_zone or _UTC)
    except (OSError, ValueError, LookupError):
        return ZoneInfo(_UTC)
