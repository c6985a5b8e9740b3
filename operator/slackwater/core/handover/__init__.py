"""Warm handover: each pod's replacement starts beside it, and takes its place by joining under its instance id."""

from slackwater.core.handover.refusals import is_asked_for, may_not_begin
from slackwater.core.handover.steps import afterwards, at_once, failing, onwards
from slackwater.core.manifests.writes import opened, put_right
from slackwater.core.world.two_sets import direction_of, names_of, other_name

__all__ = (
    "afterwards",
    "at_once",
    "direction_of",
    "failing",
    "is_asked_for",
    "may_not_begin",
    "names_of",
    "onwards",
    "opened",
    "other_name",
    "put_right",
)
