"""One group: what is recommended and why, and its four charts. Pure."""

from __future__ import annotations

from typing import Final

from slackwater.pipeline.report.charts.cost import cost_chart
from slackwater.pipeline.report.charts.lag import lag_chart
from slackwater.pipeline.report.charts.survival import survival_chart
from slackwater.pipeline.report.charts.timeline import timeline_chart
from slackwater.pipeline.report.markup import Markup, join, shown, tag
from slackwater.pipeline.report.model import Advice, Detail, Group, Setting
from slackwater.pipeline.report.plot import figure, percent
from slackwater.pipeline.report.quantities import UNKNOWN, counted, milliseconds_text, moment_text, number_text
from slackwater.pipeline.report.scales import durations_over
from slackwater.pipeline.report.standings import badge

CHARTS: Final = (survival_chart, cost_chart, timeline_chart, lag_chart)


def section(detail: Detail) -> Markup:
    group = detail.group
    title = tag("h3", tag("bdi", group.key.title), " ", badge(group.standing))
    charts = (figure(chart(detail), group.key.anchor) for chart in CHARTS)
    return tag(
        "section",
        tag("header", title, tag("a", "fleet \N{UPWARDS ARROW}", href="#fleet", class_="back")),
        *_words(group),
        _facts(group),
        _settings(group.advice) if group.advice and group.advice.settings else None,
        tag("div", *charts, class_="charts"),
        id=group.key.anchor,
        class_="group",
    )


def _words(group: Group) -> tuple[Markup, ...]:
    advice = group.advice
    if advice is None:
        missing = (
            "There is no recommendation for this group yet: run slackwater pipeline recommend."
            if group.key.name
            else "Only Kafka's own log knows this group; the operator does not run it, so its restarts are not recorded."
        )
        return (tag("p", missing, class_="why"),)
    binding = tag("p", tag("b", "What binds: "), advice.binding, class_="binding") if advice.binding else None
    return tuple(part for part in (tag("p", advice.why, class_="why"), binding, _membership(advice)) if part)


def _membership(advice: Advice) -> Markup | None:
    membership = advice.membership
    if membership is None or not membership.cheaper or membership.cheaper == membership.current:
        return None
    saving = "" if membership.saving is None else f", by {number_text(membership.saving)} partition-seconds a month"
    words = f"{membership.cheaper} membership is expected to be cheaper than {membership.current}{saving}."
    return tag("p", tag("b", "Membership: "), words, class_="binding")


def _facts(group: Group) -> Markup:
    history, advice = group.history, group.advice
    facts = [
        ("Group id", group.key.group_id),
        ("Cluster", group.key.cluster),
        ("Members", _known(history.members)),
        ("Partitions", _known(history.partitions)),
        ("Protocol", " ".join(part for part in (history.protocol, history.assignor) if part)),
        ("Client", history.library),
        ("Recorded", _recorded(group)),
    ]
    if advice is not None:
        lent = f" and {advice.pooled_restarts:,} of similar groups" if advice.pooled_restarts else ""
        days = "" if advice.observed_days is None else f" in {number_text(advice.observed_days)} days"
        facts += [
            ("Recommended from", f"{counted(advice.restarts, 'restart')}{lent}{days}"),
            ("As of", moment_text(advice.as_of_s)),
            ("For generation of the spec", _known(advice.spec_generation)),
        ]
    shown_facts = (tag("div", tag("dt", name), tag("dd", tag("bdi", value))) for name, value in facts if value)
    return tag("dl", *shown_facts, class_="facts")


def _recorded(group: Group) -> str:
    history = group.history
    parts = []
    if group.key.name:
        evicted = f", {history.evictions:,} evicted" if history.evictions else ""
        parts = [f"{counted(history.restarts, 'restart')}{evicted}", counted(history.rebalances, "rebalance")]
    if history.audited is not None:
        parts.append(f"{counted(history.audited, 'rebalance')} in Kafka's log")
    return "; ".join(parts)


def _known(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def _settings(advice: Advice) -> Markup:
    names = ("Setting", "Today", "Recommended", "Interval", "", "Why")
    looks = (None, "n", "n", "n", "range", "reason")
    head = (tag("th", name, scope="col", class_=look) for name, look in zip(names, looks, strict=True))
    body = (
        tag(
            "tr",
            tag("th", tag("code", setting.name.replace("_", ".")), scope="row"),
            _value(setting, setting.current),
            _value(setting, setting.target),
            tag("td", _interval(setting), class_="n"),
            tag("td", _range(setting), class_="range"),
            tag("td", setting.why, class_="reason"),
        )
        for setting in advice.settings
    )
    return tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body), class_="settings")


def _value(setting: Setting, value: float | None) -> Markup:
    return tag("td", _figure(setting, value), class_="n", data_v=None if value is None else shown(value))


def _figure(setting: Setting, value: float | None) -> str:
    return number_text(value) if setting.counts else milliseconds_text(value)


def _interval(setting: Setting) -> str:
    if setting.lower is None and setting.upper is None:
        return UNKNOWN
    return f"{_figure(setting, setting.lower)} to {_figure(setting, setting.upper)}"


def _range(setting: Setting) -> Markup | None:
    """The interval as a line, the recommended value as a disc on it, today's as a ring."""
    ends = [value for value in (setting.lower, setting.upper) if value is not None and value > 0]
    marked = [value for value in (setting.current, setting.target) if value is not None and value > 0]
    if not ends and not marked:
        return None
    scale = durations_over([*ends, *marked])
    places = [percent(scale.place(value)) for value in ends]
    drawn = [
        tag("line", x1=0, x2="100%", y1=9, y2=9, class_="grid"),
        tag("line", x1=places[0], x2=places[-1], y1=9, y2=9, class_="span") if places else None,
    ]
    for value, look in ((setting.current, "today"), (setting.target, "recommended")):
        if value is not None and value > 0:
            drawn.append(tag("circle", cx=percent(scale.place(value)), cy=9, r=4.5, class_=f"dot {look}"))
    return tag("svg", join(*drawn), width="100%", height=18, class_="span-plot", aria_hidden="true")
