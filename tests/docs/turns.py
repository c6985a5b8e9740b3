"""The pictures of fleets: the life of a turn, and who may begin where several budgets count."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, Final

from slackwater.api.consumer_fleet import ConsumerFleetSpec
from slackwater.api.durations import format_duration
from slackwater.api.fleet_budgets import Budget, CountedPer, MoveReason
from slackwater.core.fleet.calls import FIRST_WAY_BACK_S, LONGEST_WAY_BACK_S
from slackwater.core.fleet.claim import Cell, Standing
from slackwater.core.fleet.claims import GATES, Fleet, claim_of
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.ledger import Ledger
from slackwater.core.fleet.life import CALM_S, STANDS_STILL_S
from slackwater.core.world.turn import ALWAYS_ASKS
from tests.docs.drawing import CALM, MOVES, PLAIN, WAITS, arrow, box, picture, text

BUDGETS: Final[list[dict[str, Any]]] = [
    {"name": "all", "max": 3},
    {"name": "clusters", "per": "KafkaCluster", "max": 4},
    {"name": "coordinators", "per": "Coordinator", "max": 1},
    {"name": "topics", "per": "Topic", "max": 1},
    {"name": "teams", "per": "Namespace", "max": 2},
]
GROUPS: Final = (
    ("payments", "team-pay", ("payments",), 1),
    ("clicks", "team-bi", ("clicks",), 1),
    ("refunds", "team-pay", ("payments", "refunds"), 2),
    ("stock", "team-inv", ("stock",), 2),
    ("orders", "team-inv", ("orders",), 3),
    ("invoices", "team-pay", ("invoices",), 4),
)
"""In the order in which they ask: name, namespace, topics, coordinator."""
_CALL_S: Final = inspect.signature(Ledger).parameters["call_s"].default
COUNTS: Final = {
    Standing.HAS: "who moves",
    Standing.MENDS: "who goes back or starts after a stop (without asking)",
    Standing.SETTLES: "who settles",
}
_COLUMNS: Final = {
    CountedPer.FLEET: 130,
    CountedPer.KAFKA_CLUSTER: 260,
    CountedPer.COORDINATOR: 390,
    CountedPer.TOPIC: 520,
    CountedPer.NAMESPACE: 690,
}


def life() -> str:
    """Asked, called, given, done; and the two ways back."""
    first, longest, call = (_short(each) for each in (FIRST_WAY_BACK_S, LONGEST_WAY_BACK_S, _CALL_S))
    boxes = (
        ("asks", WAITS, ("a rollout begins: askedAt is", "written, the condition says", "AwaitingTurn; nothing moves")),
        (
            "is called",
            PLAIN,
            ("its budgets have room, which", "is kept for it; nothing is", "written, its gates are asked"),
        ),
        ("moves", MOVES, ("givenAt is written before the", "first act; one pod at a time,", "each behind its gates")),
        ("is done", CALM, ("doneAt is written at the end;", "it counts for settleFor yet,", "then its room is free")),
    )
    parts: list[str] = []
    for i, (title, fill, lines) in enumerate(boxes):
        x = 20 + 223 * i
        parts += [box(x, 120, 195, 96, fill), text(x + 12, 142, title, 15, bold=True)]
        parts += [text(x + 12, 163 + 16 * j, line, 12) for j, line in enumerate(lines)]
        if i:
            parts.append(arrow((x - 28, 168), (x - 2, 168)))
    asks = " · ".join(reason for reason in MoveReason if reason in ALWAYS_ASKS)
    named = " · ".join(reason for reason in MoveReason if reason not in ALWAYS_ASKS)
    shut = ", ".join(name for name in GATES)
    longer = f"or for three times stableFor and {_short(CALM_S)} if that is longer"
    parts += [
        text(20, 34, "Always asks:", 13, bold=True),
        text(215, 34, asks, 12, mono=True),
        text(20, 56, "Where a budget names it:", 13, bold=True),
        text(215, 56, named, 12, mono=True),
        text(
            20, 86, "Called is the first in order whose budgets all have room, while nothing of its fleets is shut:", 12
        ),
        text(575, 86, shut, 12, mono=True),
        arrow((229, 92), (229, 118), dashed=True),
        arrow((320, 216), (320, 246), (150, 246), (150, 218)),
        text(235, 262, f"its gates refuse for {call}: others go;", 12, centred=True),
        text(235, 278, f"it comes again after {first}, later each time, {longest} at most", 12, centred=True),
        arrow((560, 216), (560, 300), (60, 300), (60, 218)),
        text(400, 316, f"no step for {_short(STANDS_STILL_S)} with every pod up, {longer}:", 12, centred=True),
        text(400, 332, "it gives its turn back, and comes again near the front", 12, centred=True),
        box(20, 352, 864, 62, "#f3f6f9", dashed=True),
        text(34, 375, "Never ask:", 13, bold=True),
        text(180, 375, "the way back · pods that are down · the start after a stop · replicas: 0", 12),
        text(34, 399, "Count in a budget:", 13, bold=True),
        text(180, 399, f"who is called, {', '.join(COUNTS[each] for each in Standing if each.counts)}", 12),
    ]
    return picture("The life of a turn: a group asks, is called, moves and is done", 904, 432, parts)


def budgets() -> str:
    """Who of the groups may begin, by the product's own ledger, and where the others wait."""
    spec = ConsumerFleetSpec.model_validate({"selector": {}, "namespaces": ["*"], "budgets": BUDGETS})
    fleet = Fleet("slackwater", "platform", spec, is_of_the_operator=True)
    ledger, groups = Ledger(), list(_groups())
    called = ledger.began([fleet], groups, 1000.0)
    parts = [text(34, 28, "asks,", 13, bold=True), text(34, 46, "in order", 12)]
    for budget in spec.budgets:
        x = _COLUMNS[budget.per]
        parts += [text(x, 28, f"{budget.name}: {budget.max}", 13, bold=True), text(x, 46, f"per {budget.per}", 12)]
    for i, group in enumerate(groups):
        y, waits = 62 + 46 * i, ledger.allocator.waits_for(group.key)
        parts += [
            box(20, y, 864, 38, CALM if group.key in called else PLAIN),
            text(34, y + 24, group.name, 13, bold=True),
        ]
        for budget in spec.budgets:
            parts += _cells(fleet, budget, group, waits, y)
        words = "may begin" if group.key in called else f"waits: {waits.budget if waits is not None else ''}"
        parts.append(text(875, y + 24, words, 12, bold=group.key in called).replace("<text", '<text text-anchor="end"'))
    return picture(
        "Five budgets, six groups that ask, and who of them may begin", 904, 62 + 46 * len(groups) + 8, parts
    )


def _groups() -> Iterator[GroupFacts]:
    for i, (name, namespace, topics, coordinator) in enumerate(GROUPS):
        yield GroupFacts(
            namespace,
            name,
            topics=tuple(sorted(topics)),
            cluster="lkc-7f",
            coordinator=coordinator,
            standing=Standing.ASKS,
            asked_at=900.0 + i,
        )


def _cells(fleet: Fleet, budget: Budget, group: GroupFacts, waits: Cell | None, y: int) -> list[str]:
    """The places in which one budget counts one group; those without room are marked."""
    takes = sorted(cell for cell in claim_of(group, [fleet], {}).takes if cell.budget == budget.name)
    x = _COLUMNS[budget.per]
    words = ", ".join(_place(budget, cell) for cell in takes)
    marked = [box(x - 8, y + 6, 14 + 7 * len(words), 26, WAITS)] if waits in takes else []
    return [*marked, text(x, y + 24, words, 12)]


def _place(budget: Budget, cell: Cell) -> str:
    if budget.per is CountedPer.FLEET:
        return "the fleet"
    rest = cell.place.rpartition("/")[2]
    return f"broker {rest}" if budget.per is CountedPer.COORDINATOR else rest


def _short(duration_s: float) -> str:
    return format_duration(int(duration_s * 1000))
