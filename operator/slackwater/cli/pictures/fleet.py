"""`slackwater fleet status`: what a fleet lets move, who moves, who waits and who has failed. Pure.

What the operator reports comes first; what it writes to nobody's status, such as who has how long to go, is worked out
of the groups that may be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slackwater.api.consumer_fleet_status import FleetConditionType
from slackwater.api.fleet_budgets import Budget
from slackwater.api.timestamps import timestamp
from slackwater.cli.words.fleets import clock, elapsed, opening_in_words
from slackwater.core.decision.words import count, listing, shown
from slackwater.core.fleet.board import Board
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.plan import Ran
from slackwater.core.fleet.seen import FleetSeen, Seen

Json = dict[str, Any]

NAMED: Final = 5
"""Groups of one kind that are named in a row."""


@dataclass(frozen=True, slots=True)
class FleetLook:
    fleet: FleetSeen
    board: Board
    is_partial: bool
    """There may be groups, or fleets, that whoever looks may not list."""
    soon: Ran | None = None
    """How it goes on, by usual durations; None where nobody waits, or nothing begins."""
    late: Ran | None = None

    @property
    def groups(self) -> list[Seen]:
        return self.board.of(self.fleet.fleet)

    def having(self, *standings: Standing) -> list[Seen]:
        return [each for each in self.groups if each.facts.standing in standings]


def fleets_table(looks: Sequence[FleetLook], *, with_namespace: bool) -> Table:
    """A row for each, as `kubectl get consumerfleets` has them."""
    table = _table(*(("Namespace", "Name") if with_namespace else ("Name",)), "Groups", "Waiting", "Moving", "Failed")
    table.add_column("Open", no_wrap=True)
    for look in looks:
        counts, fleet = _counts(look), look.fleet.fleet
        figures = (str(counts.get(name, "")) for name in ("selected", "waiting", "moving", "failed"))
        place = (fleet.namespace, fleet.name) if with_namespace else (fleet.name,)
        table.add_row(*place, *figures, _state(look))
    return table


def fleet_picture(look: FleetLook) -> RenderableType:
    parts: list[RenderableType] = [_title(look), *_warnings(look)]
    if look.fleet.fleet.spec.budgets:
        parts.append(_budgets(look))
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column()
    for label, words in _rows(look):
        rows.add_row(label, words)
    return Group(*parts, *((rows,) if rows.row_count else ()))


def fleet_document(look: FleetLook) -> Json:
    """Fields are added to it, never renamed. `status`: the operator's; the rest was worked out here."""
    fleet, now = look.fleet.fleet, look.board.now
    return {
        "version": 1,
        "namespace": fleet.namespace,
        "name": fleet.name,
        "at": timestamp(now),
        "generation": look.fleet.generation,
        "partial": look.is_partial,
        "status": dict(look.fleet.status),
        "moving": [_moving_document(each, look) for each in look.having(Standing.HAS, Standing.MENDS)],
        "waiting": [
            {"group": each.key, "since": timestamp(each.facts.asked_at), "beginsAt": _begins_at(each, look)}
            for each in sorted(look.having(Standing.ASKS), key=lambda each: each.facts.asked_at)
        ],
    }


def _moving_document(group: Seen, look: FleetLook) -> Json:
    return {
        "group": group.key,
        "givenAt": None if group.given_at is None else timestamp(group.given_at),
        "updatedReplicas": group.updated,
        "replicas": group.facts.replicas,
        "leftSeconds": round(look.board.paces[group.key].takes_s),
    }


def _begins_at(group: Seen, look: FleetLook) -> str | None:
    at = None if look.soon is None else look.soon.begins_at.get(group.key)
    return None if at is None else timestamp(round(at))


def _title(look: FleetLook) -> Text:
    groups = look.groups
    namespaces = len({each.facts.namespace for each in groups})
    of = f"{count(len(groups), 'group')} in {count(namespaces, 'namespace')}" if groups else "no group"
    seen = "at least " if look.is_partial else ""
    return Text.assemble(("Fleet ", "dim"), (look.fleet.key, "bold"), f"   {seen}{of}   ", _state(look))


def _state(look: FleetLook) -> Text:
    fleet, accepted = look.fleet, look.fleet.condition(FleetConditionType.ACCEPTED)
    if accepted.get("status") == "False":
        return Text(f"Not accepted ({accepted.get('reason')})", "bold red")
    if "halts" in fleet.shut:
        return Text("Halted", "bold red")
    is_open = fleet.gates.opening.is_open and not fleet.shut
    return Text(shown(opening_in_words(fleet, look.board.now)), "green" if is_open else "yellow")


def _warnings(look: FleetLook) -> Iterator[Text]:
    fleet = look.fleet
    if not fleet.status:
        yield Text("The operator has reported nothing of it: does it run, and watch this namespace?", "yellow")
    elif not fleet.is_taken_up:
        yield Text(f"The operator has not taken up generation {fleet.generation} yet.", "yellow")
    accepted, halted = fleet.condition(FleetConditionType.ACCEPTED), fleet.condition(FleetConditionType.HALTED)
    if accepted.get("status") == "False":
        yield Text(f"{accepted.get('reason')}: {accepted.get('message')}", "red")
    if halted.get("status") == "True":
        resume = f" (slackwater fleet resume {fleet.fleet.name} -n {fleet.fleet.namespace})" if fleet.shut else ""
        yield Text(f"{halted.get('reason')}: {halted.get('message')}{resume}", "red")
    if fleet.fleet.is_overridden and (override := fleet.fleet.spec.override) is not None:
        passes = ", ".join(each.value for each in override.passes)
        yield Text(f"Overridden until {override.until} ({passes}): {override.reason}", "yellow")


def _budgets(look: FleetLook) -> RenderableType:
    table = _table("Budget", "Per", "Limit", "Used")
    table.add_column("Full", no_wrap=False)
    told = {each["name"]: each for each in look.fleet.status.get("budgets") or ()}
    waiting, fleet = look.board.waiting_at(), look.fleet.fleet
    for budget in fleet.spec.budgets:
        use = told.get(budget.name, {})
        held = waiting.get((fleet.key, budget.name), 0)
        full = ", ".join(map(str, use.get("full") or ()))
        holds = f"{'   ' if full else ''}holds back {held} of {len(look.having(Standing.ASKS))}" if held else ""
        limit, used = (str(use.get(name, "")) for name in ("limit", "used"))
        per = budget.label if budget.label is not None else budget.per.value
        table.add_row(budget.name, per, limit or _max(budget), used, Text.assemble(shown(full), (holds, "yellow")))
    return table


def _max(budget: Budget) -> str:
    """Where the operator does not say, as when it is not in force."""
    return f"({budget.max})"


def _rows(look: FleetLook) -> Iterator[tuple[str, RenderableType]]:
    if moving := look.having(Standing.HAS, Standing.MENDS):
        yield "Moving", Text("   ".join(_named([_moving(each, look) for each in moving])))
    if waiting := look.having(Standing.ASKS):
        yield "Waiting", Text(_waiting(waiting, look))
    failed = look.fleet.status.get("failed") or ()
    if failed:
        spec, reasons = look.fleet.fleet.spec.halt, [_failed(str(key), look) for key in failed]
        within = elapsed(spec.within_ms / 1000)
        number = (look.fleet.status.get("groups") or {}).get("failed", len(failed))
        yield "Failed", Text(f"{number} of at most {spec.failures} within {within}: {listing(reasons)}", "red")


def _named(words: Sequence[str]) -> list[str]:
    rest = len(words) - NAMED
    return [*words[:NAMED], *([f"and {rest} more"] if rest > 0 else [])]


def _moving(group: Seen, look: FleetLook) -> str:
    pods = f"{group.key} {group.updated}/{count(group.facts.replicas, 'pod')}"
    if group.given_at is None:
        return f"{pods}, on its way back"
    left = elapsed(look.board.paces[group.key].takes_s)
    return f"{pods}, {elapsed(look.board.now - group.given_at)}, about {left} left"


def _waiting(waiting: Sequence[Seen], look: FleetLook) -> str:
    first, now = min(waiting, key=lambda each: each.facts.asked_at), look.board.now
    words = f"{len(waiting)}, the longest for {elapsed(now - first.facts.asked_at)} ({first.key})"
    if look.soon is None:
        return words
    begin = [look.soon.begins_at.get(each.key) for each in waiting]
    known = [each for each in begin if each is not None]
    if len(known) < len(waiting):
        return f"{words}; {len(waiting) - len(known)} of them fit into none of the windows that come"
    words = f"{words}; the last begins at about {clock(look.fleet, max(known), now)}"
    late = [] if look.late is None else [look.late.begins_at.get(each.key, 0.0) for each in waiting]
    is_later = bool(late) and max(late) - max(known) >= 60
    return f"{words} (p90 {clock(look.fleet, max(late), now)})" if is_later else words


def _failed(key: str, look: FleetLook) -> str:
    group = look.board.groups.get(key)
    return key if group is None else f"{key} ({group.memory.phase.value})"


def _counts(look: FleetLook) -> Json:
    told = look.fleet.status.get("groups")
    return dict(told) if told else {"selected": len(look.groups)}


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for column in columns:
        is_figure = column in {"Groups", "Waiting", "Moving", "Failed", "Limit", "Used"}
        table.add_column(column, no_wrap=True, justify="right" if is_figure else "left")
    return table
