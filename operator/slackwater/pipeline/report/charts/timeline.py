"""The timeline: generations as a rising line, and a lane for every cause of restarts and rebalances. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from slackwater.pipeline.report.charts.causes import HEADINGS, look_of, rank_of, words_of
from slackwater.pipeline.report.charts.history import time_axis
from slackwater.pipeline.report.charts.session import legend
from slackwater.pipeline.report.markup import Markup, join, tag
from slackwater.pipeline.report.model import Detail, GenerationPoint, Kind, Slot
from slackwater.pipeline.report.paths import step_path
from slackwater.pipeline.report.plot import AXIS, WIDTH, Figure, cursor, curve, percent, stretched, verticals
from slackwater.pipeline.report.quantities import UNKNOWN, duration_text, moment_text
from slackwater.pipeline.report.scales import Moments
from slackwater.pipeline.report.table import Cell, DataRow, DataTable, figure_cell

STEPS_HEIGHT: Final = 44
HEADING: Final = 26
LANE: Final = 38
MARK: Final = 16
"""The tallest mark; the rest of a lane is for its name."""


@dataclass(frozen=True, slots=True)
class Lane:
    """`top` in pixels; `heading` where a new kind begins."""

    kind: Kind
    cause: str
    slots: tuple[Slot, ...]
    top: float
    heading: str = ""

    @property
    def bottom(self) -> float:
        return self.top + LANE - 6

    @property
    def count(self) -> int:
        return sum(slot.count for slot in self.slots)

    @property
    def evicted(self) -> int:
        return sum(slot.evicted for slot in self.slots)


def timeline_chart(detail: Detail) -> Figure:
    x = time_axis(detail)
    lanes = lanes_of(detail)
    anything = bool(lanes or detail.generations)
    return Figure(
        name="timeline",
        title="Restarts, rebalances and generations",
        hint=f"{_span(x)} A lane for each cause; the taller a mark, the more happened in its slot of time. A dot on"
        " top: the member's partitions were given away meanwhile.",
        drawing=_drawing(detail, lanes, x) if anything else None,
        legend=_legend(lanes, bool(detail.generations)),
        table=DataTable(
            ("from", "to", "what", "cause", "count", "evicted", "longest"),
            (*_generation_rows(detail.generations, x), *_slot_rows(lanes, x)),
        ),
        absent="No restart and no rebalance was recorded.",
    )


def _span(x: Moments) -> str:
    return f"From {moment_text(x.first_s)} to {moment_text(x.last_s)}."


def lanes_of(detail: Detail) -> tuple[Lane, ...]:
    """A lane for each cause that occurred, kind by kind."""

    def place(slot: Slot) -> tuple[int, tuple[int, str]]:
        return list(Kind).index(slot.kind), rank_of(slot.kind, slot.cause)

    top = STEPS_HEIGHT + 34.0 if detail.generations else 4.0
    lanes: list[Lane] = []
    ordered = sorted(detail.slots, key=lambda slot: (place(slot), slot.first_s))
    for _, same in groupby(ordered, key=place):
        slots = tuple(same)
        kind = slots[0].kind
        heading = HEADINGS[kind] if not lanes or lanes[-1].kind is not kind else ""
        top += HEADING if heading else 0
        lanes.append(Lane(kind, slots[0].cause, slots, top, heading))
        top += LANE
    return tuple(lanes)


def _drawing(detail: Detail, lanes: tuple[Lane, ...], x: Moments) -> Markup:
    height = (lanes[-1].bottom if lanes else STEPS_HEIGHT + 34) + 4
    return tag(
        "svg",
        tag("title", f"Timeline of {detail.group.key.title}: {', '.join(map(_gist, lanes)) or 'generations'}"),
        _generations(detail.generations, x) if detail.generations else None,
        *(_lane(lane, x) for lane in lanes),
        verticals(x, 0, height),
        cursor(0, height),
        class_="plot",
        role="img",
        width="100%",
        height=height + AXIS,
    )


def _generations(points: tuple[GenerationPoint, ...], x: Moments) -> Markup:
    seen = [point.generation for point in points]
    low, high = min(seen), max(seen)
    span = max(high - low, 1)
    corners = [
        (x.place(point.at_s) * WIDTH, STEPS_HEIGHT - (point.generation - low) / span * STEPS_HEIGHT) for point in points
    ]
    path = step_path([*corners, (WIDTH, corners[-1][1])])
    words = f"Generation {seen[0]:,}" + (f" \N{RIGHTWARDS ARROW} {seen[-1]:,}" if high != low else "")
    return join(
        tag("text", words, x=0, y=12, class_="start heading"),
        stretched((curve(path, "line generation"),), 22, STEPS_HEIGHT),
    )


def _lane(lane: Lane, x: Moments) -> Markup:
    look = look_of(lane.kind, lane.cause)
    most = max(slot.count for slot in lane.slots)
    heading = tag("text", lane.heading, x=0, y=lane.top - 8, class_="start heading") if lane.heading else None
    return join(
        heading,
        tag("circle", cx=-12, cy=lane.top + 7, r=4, class_=f"fill {look}"),
        tag("text", _gist(lane), x=0, y=lane.top + 11, class_="start lane-label"),
        tag("line", x1=0, x2="100%", y1=lane.bottom, y2=lane.bottom, class_="grid"),
        *(_mark(lane, slot, most, look, x) for slot in lane.slots),
    )


def _mark(lane: Lane, slot: Slot, most: int, look: str, x: Moments) -> Markup:
    at = percent(x.place(slot.first_s))
    height = round(MARK * (0.45 + 0.55 * math.sqrt(slot.count / most)), 1) if most > 1 else MARK * 0.75
    top = lane.bottom - height
    bar = tag("rect", x=at, y=top, width=3, height=height, rx=1, class_=f"mark fill {look}")
    return join(bar, tag("circle", cx=at, cy=top, r=3.5, class_=f"evicted fill {look}") if slot.evicted else None)


def _gist(lane: Lane) -> str:
    words = words_of(lane.cause)
    given_away = f", {lane.evicted:,} evicted" if lane.evicted else ""
    return f"{words[:1].upper()}{words[1:]} \N{MIDDLE DOT} {lane.count:,}{given_away}"


def _legend(lanes: Iterable[Lane], generations: bool) -> Markup:
    looks = {words_of(lane.cause): f"disc {look_of(lane.kind, lane.cause)}" for lane in lanes}
    entries = [(look, words) for words, look in looks.items()]
    return legend(*entries, *((("line generation", "generation"),) if generations else ()))


def _generation_rows(points: tuple[GenerationPoint, ...], x: Moments) -> Iterator[DataRow]:
    for point in points:
        at = Cell(moment_text(point.at_s), point.at_s)
        what = Cell(f"generation {point.generation:,}", point.generation)
        blank = Cell(UNKNOWN)
        yield DataRow((at, at, what, blank, blank, blank, blank), x.place(point.at_s) * WIDTH, 22 + STEPS_HEIGHT / 2)


def _slot_rows(lanes: Iterable[Lane], x: Moments) -> Iterator[DataRow]:
    for lane in lanes:
        for slot in lane.slots:
            cells = (
                Cell(moment_text(slot.first_s), slot.first_s),
                Cell(moment_text(slot.last_s), slot.last_s),
                Cell(lane.kind if lane.kind is not Kind.AUDITED else "rebalance in Kafka's log"),
                Cell(words_of(slot.cause)),
                figure_cell(slot.count),
                figure_cell(slot.evicted) if slot.kind is Kind.RESTART else Cell(UNKNOWN),
                Cell(duration_text(slot.longest_s), slot.longest_s),
            )
            yield DataRow(cells, x.place(slot.first_s) * WIDTH, lane.bottom - MARK / 2)
