"""Has a replacement failed that has not taken over? The pod whose place it was to take still works."""

from __future__ import annotations

import re
from typing import Final

from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import seconds
from slackwater.core.manifests.needs import needs_otherwise
from slackwater.core.rollout.failure import Failure, is_stuck
from slackwater.core.world.handover import Handover, TakenOver
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.pods import UNSCHEDULABLE, Pod
from slackwater.core.world.two_sets import Beside
from slackwater.core.world.world import World

_AS_IT_ASKS: Final = re.compile(
    r"\d+ node\(s\) "
    r"(didn't match Pod's node affinity/selector|had untolerated taint \{(?!node\.kubernetes\.io/)[^}]*\})"
)
"""Why the scheduler passes nodes over that a pod less would not change; Kubernetes' own taints come and go."""


def has_no_room(new: Pod | None) -> bool:
    """No node can take the replacement, or it may not even be made."""
    return new is None or (new.started_at is None and new.waiting == UNSCHEDULABLE)


def fits_no_node(new: Pod | None) -> bool:
    """No node is as it asks, however much room there is: that another pod goes first would not help it."""
    if new is None or not has_no_room(new):
        return False
    _, available, said = new.waiting_message.partition(" nodes are available: ")
    reasons = said.partition(". ")[0].rstrip(".").split(", ")
    return bool(available) and all(_AS_IT_ASKS.fullmatch(reason) for reason in reasons)


def find_arrival_failure(world: World, beside: Beside) -> Failure | None:
    """The replacement is stuck, or has not taken over within `rejoinTimeout`."""
    handover, new = world.memory.handover, _judged(world, beside)
    if handover is None or new is None:
        return None
    return _passed_over(world, new) or _stuck(world, handover, new) or _overdue(world, handover, new)


def _judged(world: World, beside: Beside) -> Pod | None:
    """The new version's pod that is to take over; None where it cannot be blamed for anything yet."""
    handover = world.memory.handover
    if handover is None or isinstance(handover.reached, TakenOver) or handover.to != beside.newcomer.name:
        return None
    new = next((pod for pod in beside.arriving if pod.ordinal == handover.ordinal), None)
    if new is None or new.terminating or world.memory.retries(new):
        return None
    if has_no_room(new) and not (fits_no_node(new) and world.once(needs_otherwise)):
        return None
    return None if isinstance(world.kafka, Unobserved) else new


def _passed_over(world: World, new: Pod) -> Failure | None:
    """The version asks for a node that there is not, and the last good one does not."""
    timeout_s = world.group.spec.rollout.rejoin_timeout_s
    if not fits_no_node(new) or world.now - new.created_at <= timeout_s:
        return None
    message = f"no node is as pod {new.name} asks, after {seconds(timeout_s)} (rejoinTimeout): {new.waiting_message}"
    return Failure(Reason.POD_STUCK, message, new.ordinal)


def _stuck(world: World, handover: Handover, new: Pod) -> Failure | None:
    """Not while the old pod has been started again: the two may fence each other."""
    old = world.pod(handover.ordinal)
    if new.ready or not is_stuck(world, new) or (old is not None and not handover.held.runs_on(old)):
        return None
    message = f"pod {new.name} is stuck in {new.waiting}: {new.waiting_message or 'see its events'}"
    return Failure(Reason.POD_STUCK, message, new.ordinal)


def _overdue(world: World, handover: Handover, new: Pod) -> Failure | None:
    if not is_overdue(world, handover, new):
        return None
    timeout_s = world.group.spec.rollout.rejoin_timeout_s
    message = f"pod {new.name} has not taken over after {seconds(timeout_s)} (rejoinTimeout)"
    return Failure(Reason.REJOIN_TIMEOUT, message, new.ordinal)


def is_overdue(world: World, handover: Handover, new: Pod) -> bool:
    """What happened before a node had the pod does not count, nor the time for which Kafka was out of sight.

    A pod's Ready condition begins when a node has it.
    """
    watched_since = world.history.watched_since or world.now
    ready_since = new.ready_changed_at or world.now
    moments = (handover.started_at, new.created_at, new.started_at or 0.0, ready_since, watched_since)
    return world.now - max(moments) > world.group.spec.rollout.rejoin_timeout_s
