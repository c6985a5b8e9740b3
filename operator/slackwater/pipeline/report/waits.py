"""How groups of ConsumerFleets came by their turns: figures, and what held them back, drawn. Pure."""

from __future__ import annotations

from slackwater.pipeline.report.charts.waits import CHARTS
from slackwater.pipeline.report.markup import Markup, tag
from slackwater.pipeline.report.model import Waits
from slackwater.pipeline.report.overview import tile
from slackwater.pipeline.report.plot import figure
from slackwater.pipeline.report.quantities import counted, duration_text, moment_text, number_text

ANCHOR = "turns"


def turns_section(waits: Waits | None) -> Markup | None:
    """None where no ConsumerFleet gave turns."""
    if waits is None:
        return None
    span = f"From {moment_text(waits.first_s)} to {moment_text(waits.last_s)}."
    return tag(
        "section",
        tag("header", tag("h3", "Turns"), tag("a", "fleet \N{UPWARDS ARROW}", href="#fleet", class_="back")),
        tag("p", f"Groups that ConsumerFleets select move when it is their turn. {span}"),
        _tiles(waits),
        tag("div", *(figure(chart(waits), ANCHOR) for chart in CHARTS), class_="charts"),
        id=ANCHOR,
        class_="group",
    )


def _tiles(waits: Waits) -> Markup:
    gave_way = f"{counted(waits.gave_way, 'turn')} gave way to others and came again"
    return tag(
        "div",
        tile("Turns given", number_text(waits.given), "given", waits.given, gave_way),
        tile("Half waited at most", duration_text(waits.median_s), "median", waits.median_s, "from asking to turn"),
        tile("Nine of ten at most", duration_text(waits.p90_s), "p90", waits.p90_s, _longest(waits)),
        tile("Still waiting", number_text(waits.waiting), "waiting", waits.waiting, "when they were last heard of"),
        class_="tiles",
    )


def _longest(waits: Waits) -> str:
    return "from asking to turn" if waits.longest_s is None else f"the longest {duration_text(waits.longest_s)}"
