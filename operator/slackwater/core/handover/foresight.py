"""When will a replacement join? As those before it did: `rollout.handover: Predictive`.

Only pods of the same version tell, so the first one of each is handed over by what is seen, as are those of which
nothing can be told in advance.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import Final

from slackwater.api.rollout import HandoverTiming
from slackwater.core.world.memory import Handover
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

JOINS_KEPT: Final = 5
LEAD_S: Final = 0.6
"""How long before the expected join the old pod is let go: its end takes 0.2 to 0.4 s of that, and joins come up to
0.3 s sooner or later than expected (decision 9)."""
_SEEN_WITHIN_S: Final = 3.0
"""A start that is seen later than that was not watched, and is not known to better than that."""
_LOOKS_APART_S: Final = 1.0
"""A join between two looks further apart is not known well enough."""


def with_start(world: World, handover: Handover, new: Pod | None) -> Handover:
    """With the moment at which the replacement's container was first seen to run.

    By our own clock: the kubelet tells it in whole seconds, but at once (0.05 s apart, in six pods of one rollout). It
    is the moment at which a watch told of it, since a pass comes later by whatever was in hand; else that of this pass.
    """
    if handover.running_since is not None or new is None or new.started_at is None or new.restarts:
        return handover
    if world.now - new.started_at > _SEEN_WITHIN_S:
        return handover
    told_at = new.told_running_at
    return replace(handover, running_since=world.now if told_at is None else told_at)


def let_go_at(world: World, handover: Handover, new: Pod | None) -> float | None:
    """When the old pod should be let go, for the replacement to join just after that; None when that is not known.

    Nor when that moment has passed: then the replacement is late, or was looked at late, and may not come at all.
    """
    if world.group.spec.rollout.handover is not HandoverTiming.PREDICTIVE or not handover.joined_after_s:
        return None
    if handover.running_since is None or new is None or new.terminating or new.started_at is None or new.restarts:
        return None
    joins_at = handover.running_since + median(handover.joined_after_s)
    return joins_at - LEAD_S if world.now <= joins_at else None


def joins_of(world: World, known: Handover | None, version: str) -> tuple[float, ...]:
    """How long replacements of that version took from their container's start to their join, the last ones, in seconds.

    `known`: the handover before, which is over and proven.
    """
    if known is None or known.version != version:
        return ()
    took_s = _took_s(world, known)
    return (*known.joined_after_s, *([] if took_s is None else [took_s]))[-JOINS_KEPT:]


def _took_s(world: World, known: Handover) -> float | None:
    pod = world.pod(known.ordinal)
    if known.running_since is None or pod is None or pod.workload != known.to or pod.restarts:
        return None
    joined_at = 0.0
    for instance_id, before in known.before.items():
        sighting = world.history.members.get(instance_id)
        if sighting is None or sighting.absent_at is None or sighting.member_id == before:
            return None
        if sighting.since - sighting.absent_at > _LOOKS_APART_S:
            return None
        joined_at = max(joined_at, (sighting.absent_at + sighting.since) / 2)  # between two looks
    return joined_at - known.running_since if joined_at > known.running_since else None
