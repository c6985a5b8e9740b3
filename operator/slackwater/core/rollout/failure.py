"""Has the version that is being rolled out failed? Judged by the pods that already run it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import seconds
from slackwater.core.members.presence import Presence, absent_since, presence, serves
from slackwater.core.members.work import find_stall, is_stalled
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

STUCK: Final = ("ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError")
"""States of a container that no waiting mends."""
CRASHES_BEFORE_STUCK: Final = 3
"""A first crash may be chance, and the kubelet's pauses are still short."""


@dataclass(frozen=True, slots=True)
class Failure:
    reason: Reason
    message: str
    ordinal: int


def find_failure(world: World) -> Failure | None:
    """The highest pod of the newest version that is stuck, or not back after `rejoinTimeout`."""
    if world.workload is None or not world.settled or world.seen is None:
        return None  # without Kafka no consumer gets Ready, and none is to blame
    for ordinal in range(world.replicas - 1, -1, -1):
        pod = world.pod(ordinal)
        if pod is None:
            if failure := _never_made(world, ordinal):
                return failure
            continue
        judged = pod.revision == world.workload.update_revision and not _awaits_another_chance(world, pod)
        if judged and (failure := _failed(world, pod)):
            return failure
    return None


def _failed(world: World, pod: Pod) -> Failure | None:
    if pod.terminating:
        return None
    if not pod.ready and is_stuck(pod):
        message = f"pod {pod.name} is stuck in {pod.waiting}: {pod.waiting_message or 'see its events'}"
        return Failure(Reason.POD_STUCK, message, pod.ordinal)
    timeout_s = world.group.spec.rollout.rejoin_timeout_s
    if serves(world, pod):
        stall = find_stall(world, pod) if is_stalled(world, pod) else None
        message = f"{stall.hold.message}, for more than {seconds(timeout_s)}" if stall is not None else ""
        return Failure(Reason.REJOIN_TIMEOUT, message, pod.ordinal) if stall is not None else None
    unknown = pod.ready and presence(world, pod) is not Presence.NO
    if unknown or world.now - absent_since(world, pod) <= timeout_s:
        return None
    what = "is not Ready" if not pod.ready else "is Ready but has not joined the group"
    message = f"pod {pod.name} {what} after {seconds(timeout_s)} (rejoinTimeout)"
    return Failure(Reason.REJOIN_TIMEOUT, message, pod.ordinal)


def _never_made(world: World, ordinal: int) -> Failure | None:
    """Only of the pod in hand: another one's absence is not the new version's doing."""
    step = world.memory.step
    timeout_s = world.group.spec.rollout.rejoin_timeout_s
    if step is None or step.made or step.ordinal != ordinal or world.now - step.started_at <= timeout_s:
        return None
    message = f"pod {world.pod_name(ordinal)} was not made within {seconds(timeout_s)}: see the StatefulSet's events"
    return Failure(Reason.REJOIN_TIMEOUT, message, ordinal)


def is_stuck(pod: Pod) -> bool:
    """No waiting mends it."""
    return pod.waiting in STUCK or (pod.waiting == "CrashLoopBackOff" and pod.restarts >= CRASHES_BEFORE_STUCK)


def _awaits_another_chance(world: World, pod: Pod) -> bool:
    retried_at = world.memory.retried_at
    return retried_at is not None and pod.created_at < int(retried_at)
