"""The frame that every chart shares: grid, axes, marked values, and the table behind it. Pure.

Widths are percentages and heights pixels, so that one drawing fits a phone and a page: text keeps its size, only the
curves stretch (in an inner SVG of 1000 units' width whose strokes do not scale). The page's policy forbids style
attributes; everything that has a look has a class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from slackwater.pipeline.report.markup import Markup, join, tag
from slackwater.pipeline.report.paths import Point
from slackwater.pipeline.report.scales import Scale
from slackwater.pipeline.report.table import DataTable, data_table

WIDTH: Final = 1000
HEIGHT: Final = 190
HEADROOM: Final = 40
"""Above the plot: a line of text for today's value, one for the recommended one."""
AXIS: Final = 26


@dataclass(frozen=True, slots=True)
class Flag:
    """A value marked on a plot: a vertical line with its name above and, where `y` is known, a mark on the curve."""

    x: float
    y: float | None
    look: str
    label: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart: what it is called, what to see in it, the drawing, its legend, and the table of its numbers."""

    name: str
    title: str
    hint: str
    drawing: Markup | None
    legend: Markup
    table: DataTable
    absent: str
    """What to say where there is nothing to draw."""


Placing = Callable[[float, float], Point]


def placing(x: Scale, y: Scale, height: float = HEIGHT) -> Placing:
    """From a pair of values to a point of the inner drawing."""
    return lambda a, b: (x.place(a) * WIDTH, (1 - y.place(b)) * height)


def percent(place: float) -> str:
    return f"{round(place * 100, 2):g}%"


def curve(path: str, look: str) -> Markup:
    return tag("path", d=path, class_=look, vector_effect="non-scaling-stroke")


def stretched(curves: Iterable[Markup], top: float, height: float) -> Markup:
    """Curves in units of WIDTH x height, as wide as the plot."""
    return tag(
        "svg", *curves, class_="curves", x=0, y=top, width="100%", height=height,
        viewBox=f"0 0 {WIDTH} {height:g}", preserveAspectRatio="none",
    )  # fmt: skip


def plot(x: Scale, y: Scale, curves: Iterable[Markup], flags: Sequence[Flag], label: str) -> Markup:
    """A whole plot of one pair of scales; `label` is what a screen reader says of it."""
    return tag(
        "svg",
        tag("title", label),
        levels(y, HEADROOM, HEIGHT),
        verticals(x, HEADROOM, HEIGHT),
        stretched(curves, HEADROOM, HEIGHT),
        *(_flag(flag, row) for row, flag in enumerate(flags)),
        cursor(HEADROOM, HEIGHT),
        class_="plot",
        role="img",
        width="100%",
        height=HEADROOM + HEIGHT + AXIS,
    )


def levels(y: Scale, top: float, height: float) -> Markup:
    """Horizontal grid lines, their labels in the margin."""
    drawn = []
    for tick in y.ticks():
        at = round(top + (1 - tick.place) * height, 1)
        drawn.append(tag("line", x1=0, x2="100%", y1=at, y2=at, class_="base" if tick.place == 0 else "grid"))
        drawn.append(tag("text", tick.label, x=-8, y=at, dy="0.32em", class_="end"))
    return join(*drawn)


def verticals(x: Scale, top: float, height: float) -> Markup:
    """Small ticks below the plot, every second of which gives way on narrow screens."""
    drawn = []
    for index, tick in enumerate(x.ticks()):
        at, bottom = percent(tick.place), top + height
        align = "start" if tick.place < 0.04 else "end" if tick.place > 0.96 else "middle"
        drawn.append(tag("line", x1=at, x2=at, y1=bottom, y2=bottom + 4, class_="base"))
        drawn.append(tag("text", tick.label, x=at, y=bottom + 18, class_=f"{align} {'odd' if index % 2 else 'even'}"))
    return join(*drawn)


def cursor(top: float, height: float) -> Markup:
    """The line under the pointer; the page's script moves it."""
    return tag("line", x1=0, x2=0, y1=top, y2=top + height, class_="cursor")


def _flag(flag: Flag, row: int) -> Markup:
    at, words = percent(flag.x), 12 + 16 * row
    bottom = HEADROOM + HEIGHT
    line = tag("line", x1=at, x2=at, y1=words - 9, y2=bottom, class_=f"flag {flag.look}")
    align = "start" if flag.x < 0.5 else "end"
    aside = 5 if flag.x < 0.5 else -5
    label = tag("text", flag.label, x=at, dx=aside, y=words, class_=f"{align} flag-label {flag.look}")
    if flag.y is None:
        return join(line, label)
    height = round(HEADROOM + (1 - flag.y) * HEIGHT, 1)
    return join(line, label, tag("circle", cx=at, cy=height, r=4.5, class_=f"dot {flag.look}"))


def figure(of: Figure, anchor: str) -> Markup:
    """The chart with its words around it and its numbers behind it."""
    name = f"{anchor}-{of.name}"
    if of.drawing is None:
        body = tag("p", of.absent, class_="absent")
    else:
        drawing = tag("div", of.drawing, class_="canvas", data_behind=f"{name}-table")
        body = join(drawing, of.legend, data_table(of.table, f"{name}-table"))
    words = tag("figcaption", tag("h4", of.title), tag("p", of.hint, class_="hint"))
    return tag("figure", words, body, id=name, class_=f"chart {of.name}")
