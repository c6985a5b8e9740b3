"""When will a replacement join? As those before it did: `rollout.handover: Predictive`.

Only pods of the same version are compared. The first one of each version, and every pod whose start was not watched, is
handed over once it is seen to have joined.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import Final

from slackwater.api.rollout import HandoverTiming
from slackwater.core.world.handover import Handover
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

JOINS_KEPT: Final = 5
LEAD_S: Final = 0.6
"""How long before the expected join the old pod is let go: its end takes 0.2 to 0.4 s of that, and joins come up to
0.3 s sooner or later than expected (decision 9)."""
START_WATCHED_WITHIN_S: Final = 3.0
"""A start that is seen later than that was not watched, and is not known to better than that."""
PREDICTABLE_WITHIN_S: Final = 1.0
"""A join between two looks further apart than that is not known well enough to predict the next one by it."""


def with_start(world: World, handover: Handover, new: Pod | None) -> Handover:
    """With the moment at which the replacement's container was first seen to run.

    By the operator's clock: the kubelet reports whole seconds, but does so at once (0.05 s apart, in six pods of one
    rollout). The moment is when a watch reported the start, since a pass may come later; without a watch, this pass.
    """
    if handover.replacement.running_since is not None or new is None or new.started_at is None or new.restarts:
        return handover
    if world.now - new.started_at > START_WATCHED_WITHIN_S:
        return handover
    reported_at = new.told_running_at
    running_since = world.now if reported_at is None else reported_at
    return replace(handover, replacement=replace(handover.replacement, running_since=running_since))


def let_go_at(world: World, handover: Handover, new: Pod | None) -> float | None:
    """When the old pod should be let go, for the replacement to join just after that; None when that is not known.

    Nor is it once that moment has passed: the replacement is late, or was looked at late, and may not come at all.
    """
    replacement = handover.replacement
    if world.group.spec.rollout.handover is not HandoverTiming.PREDICTIVE or not replacement.joined_after_s:
        return None
    if replacement.running_since is None or new is None or new.terminating or new.started_at is None or new.restarts:
        return None
    joins_at = replacement.running_since + median(replacement.joined_after_s)
    return joins_at - LEAD_S if world.now <= joins_at else None


def joins_of(world: World, known: Handover | None, version: str) -> tuple[float, ...]:
    """Seconds that the last replacements of that version took from their container's start to their join.

    `known`: the handover before, which is over.
    """
    if known is None or known.replacement.version != version:
        return ()
    took_s = _took_s(world, known)
    return (*known.replacement.joined_after_s, *([] if took_s is None else [took_s]))[-JOINS_KEPT:]


def _took_s(world: World, known: Handover) -> float | None:
    pod, running_since = world.pod(known.ordinal), known.replacement.running_since
    if running_since is None or pod is None or pod.workload != known.to or pod.restarts:
        return None
    joined_at = 0.0
    for instance_id, before in known.before.items():
        sighting = world.history.members.get(instance_id)
        if sighting is None or sighting.absent_at is None or sighting.member_id == before:
            return None
        if sighting.came_by - sighting.absent_at > PREDICTABLE_WITHIN_S:
            return None
        joined_at = max(joined_at, (sighting.absent_at + sighting.came_by) / 2)  # between two looks
    return joined_at - running_since if joined_at > running_since else None
