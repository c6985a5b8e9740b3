"""The fleet at a glance: totals, and the table of groups sorted by what a change would save. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from slackwater.pipeline.report.markup import Markup, join, shown, tag
from slackwater.pipeline.report.model import Fleet, Group, Standing, Totals
from slackwater.pipeline.report.plot import percent
from slackwater.pipeline.report.quantities import UNKNOWN, counted, milliseconds_text, number_text, share_text
from slackwater.pipeline.report.standings import WORDINGS, badge, standing_bar, standing_list

ARROW: Final = " \N{RIGHTWARDS ARROW} "


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, whether its first click sorts downwards, and what it means."""

    name: str
    heading: str
    numeric: bool
    meaning: str


COLUMNS: Final = (
    Column("group", "Group", False, "namespace and name, or the group id where only Kafka's log knows the group"),
    Column("standing", "Advice", False, "what recommend says of the group"),
    Column("today", "Today", True, "today's session timeout"),
    Column("target", "Recommended", True, "the recommended session timeout"),
    Column("saving", "Saving", True, "expected saving in partition-seconds a month, with its interval"),
    Column("cost", "Cost today", True, "expected partition-seconds without an owner a month, with today's setting"),
    Column("needless", "Needless rebalances", True, "a month, today and with the recommended setting"),
    Column("restarts", "Restarts", True, "recorded by the operator, and how many of them lost their partitions"),
    Column("rebalances", "Rebalances", True, "recorded by the operator; where it does not run the group, by the audit"),
)


def overview(fleet: Fleet) -> Markup:
    if not fleet.groups:
        return tag("section", tag("h2", "Fleet"), tag("p", "The lake holds no group yet.", class_="absent"), id="fleet")
    return tag(
        "section",
        tag("h2", "Fleet", class_="unseen"),
        _tiles(fleet.totals),
        tag("div", standing_bar(fleet.totals), standing_list(fleet.totals), class_="standing"),
        _filter(fleet),
        _table(fleet),
        id="fleet",
    )


def _tiles(totals: Totals) -> Markup:
    saved = "partition-seconds"
    if totals.saving and totals.cost_today:
        saved += f", {share_text(totals.saving / totals.cost_today)} of the cost"
    needless = "expected with today's settings"
    if totals.needless_recommended is not None:
        needless = f"{number_text(totals.needless_recommended)} with the recommended settings"
    return tag(
        "div",
        _total("Groups", "groups", totals.groups, f"{counted(totals.restarts, 'restart')} recorded"),
        _total("Could be saved a month", "saving", totals.saving, saved),
        _total("Cost today a month", "cost", totals.cost_today, "partition-seconds without an owner"),
        _total("Needless rebalances a month", "needless", totals.needless_today, needless),
        class_="tiles",
    )


def _total(title: str, name: str, value: float | None, below: str) -> Markup:
    return tile(title, number_text(value), name, value, below)


def tile(title: str, words: str, name: str, value: float | None, below: str) -> Markup:
    """A figure, in `words`, with what it is above and a remark below."""
    figure = tag("b", words, data_total=name, data_v=None if value is None else shown(value))
    return tag("div", tag("span", title), figure, tag("small", below), class_="tile")


def _filter(fleet: Fleet) -> Markup:
    box = tag(
        "label",
        "Show only ",
        tag("input", type="search", id="filter", placeholder="part of a name or an advice", autocomplete="off"),
    )
    left_out = fleet.totals.groups - len(fleet.groups)
    words = f"{counted(len(fleet.groups), 'group')}, those with most to save first"
    words += f"; {left_out:,} more are not listed" if left_out > 0 else ""
    return tag("div", tag("p", words, id="shown", role="status"), box, class_="tools")


def _table(fleet: Fleet) -> Markup:
    detailed = {detail.group.key for detail in fleet.details}
    most = max((group.cost_today or 0 for group in fleet.groups), default=0)
    return tag(
        "table",
        tag("caption", "Groups of the fleet", class_="unseen"),
        tag("thead", tag("tr", *map(_heading, COLUMNS), role="row"), role="rowgroup"),
        tag(
            "tbody",
            *(_row(group, group.key in detailed, most) for group in fleet.groups),
            role="rowgroup",
        ),
        id="groups",
        role="table",
    )


def _heading(column: Column) -> Markup:
    button = tag("button", column.heading, type="button", title=column.meaning)
    return tag(
        "th",
        button,
        scope="col",
        role="columnheader",
        class_="n" if column.numeric else None,
        aria_sort="descending" if column.name == "saving" else None,
    )


def _row(group: Group, detailed: bool, most: float) -> Markup:
    cells: Iterable[Markup] = (
        tag("th", _name(group, detailed), scope="row", role="rowheader", data_v=group.key.title),
        tag("td", badge(group.standing), role="cell", data_v=WORDINGS[group.standing].words),
        *_session(group),
        _saving(group),
        _cost(group, most),
        _needless(group),
        _restarts(group),
        _number(group.history.rebalances if group.key.name else group.history.audited),
    )
    return tag("tr", *cells, role="row")


def _name(group: Group, detailed: bool) -> Markup:
    """Names come from data: `bdi` keeps their direction to themselves."""
    name = tag("bdi", group.key.title)
    return tag("a", name, href=f"#{group.key.anchor}") if detailed else name


def _session(group: Group) -> tuple[Markup, Markup]:
    today, target = group.today_ms, group.session.target if group.session else None
    return _figure(milliseconds_text(today), today), _figure(milliseconds_text(target), target)


def _saving(group: Group) -> Markup:
    interval = group.saving
    if interval is None:
        return _figure(UNKNOWN, None)
    span = f"{number_text(interval.lower)} to {number_text(interval.upper)}"
    return _figure(join(number_text(interval.value), tag("small", span)), interval.value)


def _cost(group: Group, most: float) -> Markup:
    cost, saving = group.cost_today, group.saving.value if group.saving else 0.0
    if cost is None:
        return _figure(UNKNOWN, None)
    bar = None
    if most > 0:
        whole = tag("rect", x=0, y=0, width=percent(cost / most), height=4, class_="whole")
        part = tag("rect", x=0, y=0, width=percent(min(max(saving, 0.0), cost) / most), height=4, class_="part")
        bar = tag("svg", whole, part, width="100%", height=4, class_="bar", aria_hidden="true")
    return _figure(join(number_text(cost), bar), cost)


def _needless(group: Group) -> Markup:
    needless = group.recommendation.needless_rebalances_per_month if group.recommendation else None
    if needless is None:
        return _figure(UNKNOWN, None)
    changes = group.standing is Standing.RECOMMENDED
    then = f"{ARROW}{number_text(needless.recommended)}" if changes else ""
    return _figure(f"{number_text(needless.today)}{then}", needless.today)


def _restarts(group: Group) -> Markup:
    history = group.history
    if not group.key.name:
        return _figure(UNKNOWN, None)
    evicted = tag("small", f"{history.evictions:,} evicted") if history.evictions else None
    return _figure(join(f"{history.restarts:,}", evicted), history.restarts)


def _number(value: float | None) -> Markup:
    return _figure(number_text(value), value)


def _figure(words: str, value: float | None) -> Markup:
    return tag("td", words, role="cell", class_="n", data_v=None if value is None else shown(value))
