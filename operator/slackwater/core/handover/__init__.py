"""Warm handover: each pod's replacement starts beside it, and takes its place by joining under its instance id."""

from slackwater.core.handover.refusals import is_asked_for, may_not_begin
from slackwater.core.handover.sets import (
    joined,
    names_of,
    opened,
    other_name,
    put_right,
    seen_anew,
    to_hand_over,
    way_of,
)
from slackwater.core.handover.steps import afterwards, at_once, failing, onwards

__all__ = (
    "afterwards",
    "at_once",
    "failing",
    "is_asked_for",
    "joined",
    "may_not_begin",
    "names_of",
    "onwards",
    "opened",
    "other_name",
    "put_right",
    "seen_anew",
    "to_hand_over",
    "way_of",
)
