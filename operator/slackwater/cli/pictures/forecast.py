"""`slackwater fleet plan`: when a fleet's groups would move, and what makes it last. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slackwater.api.timestamps import timestamp
from slackwater.cli.words.fleets import cell_in_words, clock, elapsed, standing_still, surplus_in_words
from slackwater.core.decision.words import count, listing
from slackwater.core.fleet.forecast import Forecast
from slackwater.core.fleet.seen import FleetSeen
from slackwater.core.fleet.surplus import Surplus

Json = dict[str, Any]


def forecast_picture(found: Forecast, fleet: FleetSeen, now: float, surplus: Surplus | None = None) -> RenderableType:
    """`surplus`: where the fleet's namespace has more fleets than count."""
    if not found.groups:
        none = (
            "No group of it has pods."
            if found.everybody
            else "Nobody waits: --all-restart plans a restart of all, -f FILE a campaign."
        )
        return Group(Text(none, "dim"), *((Text(surplus_in_words(surplus), "yellow"),) if surplus is not None else ()))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("Groups", justify="right")
    for header in ("Begins", "Ends", "p90", "Held back by"):
        table.add_column(header, no_wrap=header != "Held back by")

    def when(at: float | None) -> str:
        return "never" if at is None else clock(fleet, at, now)

    begins = [found.soon.begins_at[key] for key in found.groups if key in found.soon.begins_at]
    ends = (when(found.ends_at(ran)) for ran in (found.soon, found.late))
    table.add_row(str(len(found.groups)), when(min(begins, default=None)), *ends, _narrowest(found, fleet))
    return Group(table, *(Text(line, style) for line, style in _lines(found, fleet, now, surplus)))


def forecast_document(found: Forecast, fleet: FleetSeen, now: float, surplus: Surplus | None = None) -> Json:
    """Fields are added to it, never renamed. Times are null where nobody begins, durations are in seconds."""
    narrowest = found.narrowest
    return {
        "version": 1,
        "namespace": fleet.fleet.namespace,
        "name": fleet.fleet.name,
        "madeAt": timestamp(now),
        "at": timestamp(found.at),
        "groups": len(found.groups),
        "endsAt": _moment(found.ends_at(found.soon)),
        "endsAtP90": _moment(found.ends_at(found.late)),
        "closedSeconds": round(found.soon.closed_s),
        "bottleneck": None
        if narrowest is None
        else {
            "fleet": narrowest.cell.fleet,
            "budget": narrowest.cell.budget,
            "place": narrowest.cell.place,
            "limit": narrowest.limit,
            "groups": narrowest.groups,
            "needsSeconds": round(narrowest.needs_s),
        },
        "wider": None if found.wider is None else {"words": found.wider.words, "endsAt": _moment(found.wider.ends_at)},
        "withoutHistory": found.without_history,
        "withoutCoordinator": found.without_coordinator,
        "never": list(found.never),
        "tooManyFleets": surplus_document(surplus),
        "begins": {key: timestamp(round(at)) for key, at in sorted(found.soon.begins_at.items())},
    }


def surplus_document(surplus: Surplus | None) -> Json | None:
    return None if surplus is None else {"fleets": surplus.fleets, "count": surplus.counting, "told": surplus.is_told}


def _moment(at: float | None) -> str | None:
    return None if at is None else timestamp(round(at))


def _narrowest(found: Forecast, fleet: FleetSeen) -> str:
    narrowest = found.narrowest
    if narrowest is None:
        return "nothing: no budget counts them"
    budget = next((each for each in fleet.fleet.spec.budgets if each.name == narrowest.cell.budget), None)
    whose = "" if narrowest.cell.fleet == fleet.key else f" of {narrowest.cell.fleet}"
    where = cell_in_words(narrowest.cell, budget) if not whose else ""
    return f"{narrowest.cell.budget}{whose}{where} ({narrowest.groups} of {len(found.groups)})"


def _lines(found: Forecast, fleet: FleetSeen, now: float, surplus: Surplus | None) -> Iterator[tuple[str, str]]:
    """What makes it last, what would make it shorter, and what the figures rest on; with the style of each."""
    ends_at = found.ends_at(found.soon)
    if (narrowest := found.narrowest) is not None:
        many = "one at a time" if narrowest.limit == 1 else f"{narrowest.limit} at a time"
        yield f"{count(narrowest.groups, 'group')} {many} need {elapsed(narrowest.needs_s)} there at least.", ""
    if found.soon.closed_s >= 60:
        yield f"Windows and freezes let nobody begin for {elapsed(found.soon.closed_s)} of that time.", ""
    if (wider := found.wider) is not None and wider.ends_at is not None and ends_at is not None:
        difference = ends_at - wider.ends_at
        sooner = (
            "" if abs(difference) < 60 else f", {elapsed(abs(difference))} {'sooner' if difference > 0 else 'later'}"
        )
        same = "no sooner" if not sooner else f"at {clock(fleet, wider.ends_at, now)}{sooner}"
        yield f"{wider.words[:1].upper()}{wider.words[1:]} it ends {same}.", ""
    if found.never:
        fit = "fits" if len(found.never) == 1 else "fit"
        yield f"{count(len(found.never), 'group')} {fit} into none of the windows: {listing(found.never)}.", "red"
    yield from ((words, "yellow") for words in standing_still(fleet, surplus))
    if found.without_history:
        yield f"{count(found.without_history, 'group')} without a rollout so far: taken as the others' median.", "dim"
    if found.without_coordinator:
        where = "taken as spread evenly over the brokers"
        yield f"The coordinator of {count(found.without_coordinator, 'group')} is not known: {where}.", "dim"
