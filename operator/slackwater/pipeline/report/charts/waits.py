"""How long groups waited for their turns, and at what: two charts of bars, and one over time. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from slackwater.api.telemetry.words import HeldBy
from slackwater.pipeline.report.charts.session import legend
from slackwater.pipeline.report.markup import Markup, join, tag
from slackwater.pipeline.report.model import Held, Waits, WaitSlot
from slackwater.pipeline.report.paths import Point, line_path
from slackwater.pipeline.report.plot import WIDTH, Figure, Placing, cursor, curve, percent, placing, plot
from slackwater.pipeline.report.quantities import counted, duration_text, moment_text
from slackwater.pipeline.report.scales import Moments, durations_over, moments_between
from slackwater.pipeline.report.table import Cell, DataRow, DataTable, figure_cell

MOST_BARS: Final = 12
"""The table has the rest."""
LANE: Final = 56
BAR: Final = 10
BAR_AT: Final = 36
WIDEST: Final = 26
"""Letters of a label."""
LOOKS: Final = {
    HeldBy.BUDGET: "blue",
    HeldBy.WAVE: "sky",
    HeldBy.WINDOW: "grey",
    HeldBy.FREEZE: "ink",
    HeldBy.PAUSE: "orange",
    HeldBy.HALT: "red",
    HeldBy.NOT_ACCEPTED: "purple",
    HeldBy.ORDER: "green",
}
"""A word of a later version has the look of a budget, under its own name."""
WORDS: Final = {
    HeldBy.WINDOW: "closed windows",
    HeldBy.FREEZE: "freezes",
    HeldBy.PAUSE: "pauses",
    HeldBy.HALT: "halts",
    HeldBy.NOT_ACCEPTED: "a spec that is not accepted",
    HeldBy.ORDER: "changes that wait for a campaign's call",
}
"""Of what has no name of its own."""


def budgets_chart(waits: Waits) -> Figure:
    return _bars(
        "budgets",
        "What groups waited for",
        "All waits added up, by what had no room: a group stands at one thing at a time. Seen once a minute.",
        waits.by_budget,
    )


def places_chart(waits: Waits) -> Figure:
    return _bars(
        "places",
        "Bottlenecks",
        "The same, place by place: brokers, topics, namespaces. Where one has most of it, a higher limit elsewhere"
        " shortens nothing.",
        waits.by_place,
    )


def history_chart(waits: Waits) -> Figure:
    """Over the slots in which turns were given."""
    x = moments_between(waits.first_s, waits.last_s)
    known = [each for slot in waits.slots for each in (slot.median_s, slot.longest_s) if each is not None]
    return Figure(
        name="waits",
        title="Waits over time",
        hint="From asking to turn, of the turns that were given in each slot of time.",
        drawing=_history(waits.slots, x) if known else None,
        legend=legend(("line", "longest in a slot of time"), ("mean", "median")),
        table=DataTable(("from", "turns", "median", "longest"), tuple(_slot_row(slot, x) for slot in waits.slots)),
        absent="Of no turn it is known how long a group waited for it.",
    )


CHARTS: Final = (budgets_chart, places_chart, history_chart)


def _bars(name: str, title: str, hint: str, found: Sequence[Held]) -> Figure:
    most_s = max((held.held_s for held in found), default=0.0)
    looks = {each.by: f"disc {_look(each.by)}" for each in found[:MOST_BARS]}
    return Figure(
        name=name,
        title=title,
        hint=hint,
        drawing=_drawn(title, found[:MOST_BARS], most_s) if most_s > 0 else None,
        legend=legend(*((look, _kind(by)) for by, look in looks.items())),
        table=DataTable(
            ("what", "whose", "where", "waited", "turns", "groups"),
            tuple(_row(number, held, most_s) for number, held in enumerate(found)),
        ),
        absent="No group was seen to wait.",
    )


def _drawn(title: str, found: Sequence[Held], most_s: float) -> Markup:
    height = len(found) * LANE
    longest = ", ".join(map(_gist, found[:3]))
    bars = (_bar(number, held, most_s) for number, held in enumerate(found))
    return tag(
        "svg",
        tag("title", f"{title}: {longest}"),
        *bars,
        cursor(0, height),
        class_="plot",
        role="img",
        width="100%",
        height=height,
    )


def _bar(number: int, held: Held, most_s: float) -> Markup:
    top = number * LANE
    return join(
        tag("text", _named(held), x=0, y=top + 14, class_="start lane-label"),
        tag("text", _how_long(held), x=0, y=top + 30, class_="start"),
        tag("rect", x=0, y=top + BAR_AT, width=percent(held.held_s / most_s), height=BAR, rx=1, class_=_look(held.by)),
    )


def _gist(held: Held) -> str:
    return f"{_where(held)} \N{MIDDLE DOT} {_how_long(held)}"


def _named(held: Held) -> str:
    """As much as a phone is wide; the table has all of it."""
    words = _where(held)
    return words if len(words) <= WIDEST else f"{words[: WIDEST - 1]}\N{HORIZONTAL ELLIPSIS}"


def _where(held: Held) -> str:
    return f"{_what(held)} at {held.place}" if held.place else _what(held)


def _how_long(held: Held) -> str:
    return f"{duration_text(held.held_s)}, {counted(held.turns, 'turn')}"


def _what(held: Held) -> str:
    return held.name or WORDS.get(_known(held.by), held.by.lower())


def _kind(by: str) -> str:
    """In the legend."""
    return {HeldBy.BUDGET: "budget", HeldBy.WAVE: "wave of a campaign"}.get(_known(by)) or WORDS.get(
        _known(by), by.lower()
    )


def _look(by: str) -> str:
    return f"fill {LOOKS.get(_known(by), LOOKS[HeldBy.BUDGET])}"


def _known(by: str) -> HeldBy:
    return HeldBy(by) if by in set(HeldBy) else HeldBy.BUDGET


def _row(number: int, held: Held, most_s: float) -> DataRow:
    cells = (
        Cell(_what(held)),
        Cell(held.fleet),
        Cell(held.place),
        Cell(duration_text(held.held_s), held.held_s),
        figure_cell(held.turns),
        figure_cell(held.groups),
    )
    x = held.held_s / most_s * WIDTH if most_s > 0 else 0.0
    return DataRow(cells, x, number * LANE + BAR_AT + BAR / 2 if number < MOST_BARS else None)


def _history(slots: Sequence[WaitSlot], x: Moments) -> Markup:
    y = durations_over(each for slot in slots for each in (slot.median_s, slot.longest_s) if each is not None)
    at = placing(x, y)
    longest = line_path(_point(at, slot.at_s, slot.longest_s) for slot in slots)
    median = line_path(_point(at, slot.at_s, slot.median_s) for slot in slots)
    return plot(x, y, (curve(median, "mean"), curve(longest, "line")), (), "Waits for turns over time")


def _point(at: Placing, moment_s: float, waited_s: float | None) -> Point | None:
    return None if waited_s is None else at(moment_s, waited_s)


def _slot_row(slot: WaitSlot, x: Moments) -> DataRow:
    cells = (
        Cell(moment_text(slot.at_s), slot.at_s),
        figure_cell(slot.given),
        Cell(duration_text(slot.median_s), slot.median_s),
        Cell(duration_text(slot.longest_s), slot.longest_s),
    )
    return DataRow(cells, x.place(slot.at_s) * WIDTH)
