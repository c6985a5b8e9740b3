"""One group: what is recommended and why, and its four charts. Pure."""

from __future__ import annotations

from typing import Final

from slackwater.api.recommendation import Recommendation, RecommendedSetting
from slackwater.pipeline.report.charts.cost import cost_chart
from slackwater.pipeline.report.charts.lag import lag_chart
from slackwater.pipeline.report.charts.survival import survival_chart
from slackwater.pipeline.report.charts.timeline import timeline_chart
from slackwater.pipeline.report.markup import Markup, tag
from slackwater.pipeline.report.model import Detail, Group
from slackwater.pipeline.report.plot import figure, percent
from slackwater.pipeline.report.quantities import UNKNOWN, counted, milliseconds_text, moment_text, number_text
from slackwater.pipeline.report.scales import durations_over
from slackwater.pipeline.report.standings import badge

SETTINGS: Final = ("session_timeout_ms", "heartbeat_interval_ms", "max_poll_interval_ms", "max_poll_records")
COUNTED: Final = "max_poll_records"
"""The others are milliseconds."""
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
        _settings(group.recommendation) if group.recommendation else None,
        tag("div", *charts, class_="charts"),
        id=group.key.anchor,
        class_="group",
    )


def _words(group: Group) -> tuple[Markup, ...]:
    recommendation = group.recommendation
    if recommendation is None:
        missing = (
            "There is no recommendation for this group yet: run slackwater pipeline recommend."
            if group.key.name
            else "Only Kafka's own log knows this group: the operator does not run it and records no restarts of it."
        )
        return (tag("p", missing, class_="why"),)
    binding = _aside("What binds", recommendation.binding) if recommendation.binding else None
    membership = _aside("Membership", _membership(recommendation))
    return tuple(part for part in (tag("p", recommendation.why, class_="why"), binding, membership) if part)


def _aside(title: str, words: str) -> Markup | None:
    return tag("p", tag("b", f"{title}: "), words, class_="binding") if words else None


def _membership(recommendation: Recommendation) -> str:
    advice = recommendation.membership
    if advice is None or advice.cheaper is None or advice.cheaper is advice.current:
        return ""
    of_saving = ""
    if (saving := advice.saving_partition_s_per_month) is not None:
        span = f"{number_text(saving.lower)} to {number_text(saving.upper)}"
        of_saving = f", by {number_text(saving.value)} partition-seconds a month ({span})"
    return f"{advice.cheaper} is expected to be cheaper than {advice.current}{of_saving}. {advice.why}".strip()


def _facts(group: Group) -> Markup:
    history, recommendation = group.history, group.recommendation
    facts = [
        ("Group id", group.key.group_id),
        ("Cluster", group.key.cluster),
        ("Members", _known(history.members)),
        ("Partitions", _known(history.partitions)),
        ("Protocol", " ".join(part for part in (history.protocol, history.assignor) if part)),
        ("Client", history.library),
        ("Recorded", _recorded(group)),
    ]
    if recommendation is not None:
        facts += [
            ("Recommended from", _sample(recommendation)),
            ("As of", moment_text(recommendation.as_of.timestamp())),
            ("For generation of the spec", _known(recommendation.spec_generation)),
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


def _sample(recommendation: Recommendation) -> str:
    lent = recommendation.pooled_restarts
    of_others = f" and the weight of {number_text(lent)} of similar groups" if lent else ""
    days = number_text(recommendation.observed_days)
    return f"{counted(recommendation.restarts, 'restart')}{of_others} in {days} days"


def _known(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def _settings(recommendation: Recommendation) -> Markup | None:
    found = ((name, getattr(recommendation, name)) for name in SETTINGS)
    settings: list[tuple[str, RecommendedSetting]] = [(name, setting) for name, setting in found if setting is not None]
    if not settings:
        return None
    names = ("Setting", "Today", "Recommended", "Interval", "", "Why")
    looks = (None, "n", "n", "n", "range", "reason")
    head = (tag("th", name, scope="col", class_=look) for name, look in zip(names, looks, strict=True))
    body = (_setting(name, setting) for name, setting in settings)
    return tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body), class_="settings")


def _setting(name: str, setting: RecommendedSetting) -> Markup:
    words = number_text if name == COUNTED else milliseconds_text
    interval = f"{words(setting.lower)} to {words(setting.upper)}" if setting.lower < setting.upper else UNKNOWN
    return tag(
        "tr",
        tag("th", tag("code", name.replace("_", ".")), scope="row"),
        tag("td", words(setting.current), class_="n", data_v=setting.current),
        tag("td", words(setting.target), class_="n", data_v=setting.target),
        tag("td", interval, class_="n"),
        tag("td", _range(setting), class_="range"),
        tag("td", setting.why, class_="reason"),
    )


def _range(setting: RecommendedSetting) -> Markup:
    """The interval as a line, the recommended value as a disc on it, today's as a ring."""
    marks = [("today", setting.current), ("recommended", setting.target)]
    scale = durations_over([setting.lower, setting.upper, *(value for _, value in marks if value is not None)])
    low, high = percent(scale.place(setting.lower)), percent(scale.place(setting.upper))
    drawn = [
        tag("line", x1=0, x2="100%", y1=9, y2=9, class_="grid"),
        tag("line", x1=low, x2=high, y1=9, y2=9, class_="span"),
        *(
            tag("circle", cx=percent(scale.place(value)), cy=9, r=4.5, class_=f"dot {look}")
            for look, value in marks
            if value is not None
        ),
    ]
    return tag("svg", *drawn, width="100%", height=18, class_="span-plot", aria_hidden="true")
