"""Warm handover (decision 9): each pod's replacement starts beside it, and takes its place by joining under its ids.

    plan ─► refusals                    may a warm rollout begin?
         ─► steps ─► outcomes           an ordinal in both StatefulSets: NEXT, by stage and holder, what is done
                │       └─► waiting     the old pod still holds its ids: what ends the wait
                │       └─► overlap     the two pods as a value ─► holder: whose are the ids?
                └─► ranges              which StatefulSet has which ordinals
         ─► remains ─► fencing          what the last handover left behind: was its pod fenced?

`transitions` writes the states of `core.world.handover` down; `foresight` predicts a join; `arrival` says when a
replacement has failed; `latecomers` tells of a pod that does not join where no version is to blame.
"""

from slackwater.core.handover.refusals import is_asked_for, may_not_begin
from slackwater.core.handover.remains import afterwards, note_what_is_over
from slackwater.core.handover.steps import at_once, failing, leads_nowhere, onwards
from slackwater.core.manifests.writes import opened, put_right
from slackwater.core.world.two_sets import direction_of, other_name

__all__ = (
    "afterwards",
    "at_once",
    "direction_of",
    "failing",
    "is_asked_for",
    "leads_nowhere",
    "may_not_begin",
    "note_what_is_over",
    "onwards",
    "opened",
    "other_name",
    "put_right",
)
