"""Has a replacement failed that has not taken over? The pod whose place it was to take still works."""

from __future__ import annotations

from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import seconds
from slackwater.core.handover.holder import runs_as_then
from slackwater.core.rollout.failure import Failure, is_stuck
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.two_sets import Beside
from slackwater.core.world.world import World

_UNSCHEDULABLE = "Unschedulable"


def has_no_room(world: World, new: Pod | None) -> bool:
    """No node can take the pod, or it may not even be made."""
    return new is None or (new.started_at is None and new.waiting == _UNSCHEDULABLE)


def find_arrival_failure(world: World, beside: Beside) -> Failure | None:
    """The replacement in hand is stuck, or has not taken over within `rejoinTimeout`."""
    handover = world.memory.handover
    if handover is None or handover.after or handover.to != beside.newcomer.name or isinstance(world.kafka, Unobserved):
        return None
    new = next((pod for pod in beside.arriving if pod.ordinal == handover.ordinal), None)
    if new is None or new.terminating or has_no_room(world, new) or world.memory.retries(new):
        return None
    old = world.pod(handover.ordinal)
    if not new.ready and is_stuck(new) and (old is None or runs_as_then(handover, old)):  # else they fence each other
        message = f"pod {new.name} is stuck in {new.waiting}: {new.waiting_message or 'see its events'}"
        return Failure(Reason.POD_STUCK, message, new.ordinal)
    timeout_s = world.group.spec.rollout.rejoin_timeout_ms / 1000
    # What happened before a node had the pod is not the version's doing: only then its Ready condition begins.
    # Nor is it what happened while Kafka was out of sight.
    watched_since = world.history.watched_since or world.now
    ready_since = new.ready_changed_at or world.now
    moments = (handover.started_at, new.created_at, new.started_at or 0.0, ready_since, watched_since)
    if world.now - max(moments) <= timeout_s:
        return None
    message = f"pod {new.name} has not taken over after {seconds(timeout_s)} (rejoinTimeout)"
    return Failure(Reason.REJOIN_TIMEOUT, message, new.ordinal)
