"""Two StatefulSets over one range of ordinals, seen as one: which pod holds each ordinal, who arrives, who leaves.

The younger one grows from ordinal 0; the older one, which is in use, gives its ordinals up from below; going back is
the mirror image. Which of them all pods are to be in is told by the templates alone.
"""

from __future__ import annotations

from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.manifests.writes import written
from slackwater.core.world.two_sets import Beside


def with_ordinal(beside: Beside, name: str, ordinal: int, purpose: Purpose) -> WriteWorkload:
    """That StatefulSet with one ordinal more, at its end that meets the other one."""
    if name == beside.newcomer.name:
        return written(beside.newcomer, purpose, 0, ordinal + 1, ordinal)
    end = beside.in_use.end if beside.in_use.replicas else ordinal + 1  # an empty one has no pods above
    return written(beside.in_use, purpose, ordinal, end - ordinal, ordinal)


def without_ordinal(beside: Beside, name: str, ordinal: int, purpose: Purpose) -> WriteWorkload:
    """That StatefulSet with one ordinal less, at its end that meets the other one."""
    if name == beside.newcomer.name:
        return written(beside.newcomer, purpose, 0, ordinal, ordinal)
    above = ordinal + 1
    return written(beside.in_use, purpose, above, beside.in_use.end - above, ordinal)
