"""How each standing of a group is called and drawn: a glyph and words; the colour only repeats them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from slackwater.pipeline.report.markup import Markup, tag
from slackwater.pipeline.report.model import Standing, Totals
from slackwater.pipeline.report.plot import percent


@dataclass(frozen=True, slots=True)
class Wording:
    glyph: str
    words: str
    meaning: str


WORDINGS: Final = {
    Standing.RECOMMENDED: Wording("◆", "change", "another session timeout is expected to cost less than today's"),
    Standing.KEEP_TODAY: Wording("✓", "keep", "nothing was found that is surely better than today's setting"),
    Standing.INFEASIBLE: Wording(
        "✕", "infeasible", "no setting meets all objectives; the group's page says which binds"
    ),
    Standing.NOT_ENOUGH_TIME: Wording("◔", "not enough time", "watched for less than a week"),
    Standing.NOT_ENOUGH_DATA: Wording("◌", "not enough data", "too few restarts to say anything, its own and borrowed"),
    Standing.NONE_YET: Wording("\N{EN DASH}", "none yet", "the group is known, recommend has not looked at it"),
    Standing.AUDITED_ONLY: Wording("○", "audited only", "Kafka's log knows the group, the operator does not run it"),
}


def badge(standing: Standing) -> Markup:
    wording = WORDINGS[standing]
    glyph = tag("span", wording.glyph, aria_hidden="true", class_="glyph")
    return tag("span", glyph, f" {wording.words}", class_=f"badge {standing.lower()}", title=wording.meaning)


def standing_bar(totals: Totals) -> Markup:
    """One bar of all groups, cut by standing, in the order of WORDINGS; its legend carries the counts."""
    drawn, left = [], 0.0
    for standing in _present(totals):
        share = totals.count(standing) / totals.groups
        look = f"standing {standing.lower()}"
        drawn.append(tag("rect", x=percent(left), y=0, width=percent(share), height=10, class_=look))
        left += share
    label = ", ".join(f"{WORDINGS[standing].words} {totals.count(standing):,}" for standing in _present(totals))
    return tag("svg", tag("title", label), *drawn, class_="standings", role="img", width="100%", height=10)


def standing_list(totals: Totals) -> Markup:
    items = (
        tag("li", badge(standing), tag("b", f"{totals.count(standing):,}"), f" {WORDINGS[standing].meaning}")
        for standing in _present(totals)
    )
    return tag("ul", *items, class_="standing-list")


def _present(totals: Totals) -> Iterable[Standing]:
    return (standing for standing in WORDINGS if totals.count(standing))
