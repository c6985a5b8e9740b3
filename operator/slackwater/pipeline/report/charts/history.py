"""What the timeline and the lag chart share: the group's axis of time. Pure."""

from __future__ import annotations

from slackwater.pipeline.report.model import Detail
from slackwater.pipeline.report.scales import Moments, moments_between


def time_axis(detail: Detail) -> Moments:
    """From the first to the last thing recorded of the group."""
    history = detail.group.history
    moments = [at for at in (history.first_s, history.last_s) if at is not None]
    moments += [at for slot in detail.slots for at in (slot.first_s, slot.last_s)]
    moments += [point.at_s for point in detail.generations]
    moments += [slot.at_s for slot in detail.lag]
    return moments_between(min(moments, default=0.0), max(moments, default=0.0))
