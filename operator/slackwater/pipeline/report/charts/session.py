"""What the survival and the cost chart share: the axis of durations, and the two values marked on both. Pure."""

from __future__ import annotations

from slackwater.pipeline.report.markup import Markup, tag
from slackwater.pipeline.report.model import Detail, Standing
from slackwater.pipeline.report.plot import Flag
from slackwater.pipeline.report.quantities import milliseconds_text
from slackwater.pipeline.report.scales import Durations, Scale, durations_over


def shared_axis(detail: Detail) -> Durations:
    """One axis for both: a silence is cut short by the session timeout of the same length."""
    silences = [point.silence_s for point in detail.survival]
    timeouts = [point.session_timeout_ms / 1000 for point in detail.cost]
    marked = [value / 1000 for value in marked_ms(detail) if value is not None]
    return durations_over([*silences, *timeouts, *marked])


def marked_ms(detail: Detail) -> tuple[int | None, int | None]:
    """Today's session timeout and, where a change is proposed, the recommended one."""
    session = detail.group.session
    drawn = next((point.session_timeout_ms for point in detail.cost if point.today), None)
    today = drawn if drawn is not None else detail.group.today_ms
    changes = session is not None and detail.group.standing is Standing.RECOMMENDED and session.target != today
    return today, session.target if session and changes else None


def flags(detail: Detail, x: Durations, y: Scale | None = None) -> tuple[Flag, ...]:
    """Today's value and the recommended one, on the curve of costs where `y` is its scale."""
    costs = {point.session_timeout_ms: point.cost for point in detail.cost}
    marked = zip(("today", "recommended"), marked_ms(detail), strict=True)
    return tuple(
        Flag(
            x.place(value_ms / 1000),
            y.place(costs[value_ms]) if y is not None and value_ms in costs else None,
            look,
            f"{look} {milliseconds_text(value_ms)}",
        )
        for look, value_ms in marked
        if value_ms is not None
    )


def legend(*entries: tuple[str, str]) -> Markup:
    """A line of (look, words)."""
    items = (tag("li", tag("i", class_=f"swatch {look}"), label) for look, label in entries)
    return tag("ul", *items, class_="legend")
