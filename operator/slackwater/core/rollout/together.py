"""Several pods at a time, in place (`rollout.maxUnavailable`, decision 24).

The first pod of a version goes alone and has to prove itself. Then as many are let go by one write as may be away.
"""

from __future__ import annotations

from typing import Final

from slackwater.api.amounts import amount_of
from slackwater.api.annotations import PAUSE
from slackwater.core.decision.acts import Cause, DeletePod
from slackwater.core.decision.decision import Decision
from slackwater.core.members.presence import serves
from slackwater.core.members.work import owned_by, owner_since
from slackwater.core.rollout.canary import room_before_the_next_step
from slackwater.core.world.in_hand import step_of
from slackwater.core.world.pods import Pod
from slackwater.core.world.step import Step
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World

AT_ONCE_S: Final = 30.0
"""To delete a hundred pods, one after the other, takes less."""


def let_go_together(world: World, workload: Workload, candidates: tuple[Pod, ...]) -> tuple[Pod, ...]:
    """Of the pods to be replaced, highest ordinal first, those that go next: one at least."""
    room = _room(world, workload)
    proven = world.memory.phase.goes_back or any(_has_proven_it(world, workload, pod) for pod in world.wanted_pods)
    if not proven:
        room = min(room, _idle(world, candidates))
    return candidates[: max(1, room)]


def most_away(world: World, workload: Workload) -> int:
    """How many pods the rollout may have away at once, with a version that has proven itself."""
    # Pods that come back with another protocol rebalance the group, which would wait for all that are away. And under
    # OrderedReady a batch is made one after the other: the last pod would be away for the sum of all starts.
    one_by_one = world.memory.upgrade is not None or workload.in_order
    return 1 if one_by_one else amount_of(world.group.spec.rollout.max_unavailable, world.replicas)


def haste(world: World, workload: Workload) -> Decision | None:
    """Delete the next pod that is let go and still has the old version: its controller restarts one at a time.

    Not before that has read the partition, or it would make the pod with the old version. And not while Kafka is out of
    sight or people have paused the rollout: whoever is let go is in the controller's hands. Nor where the others went a
    while ago, as where the operator was killed, and are not all back: one of them may have failed.
    """
    step = step_of(world.memory)
    if step is None or not step.also or world.seen is None or PAUSE in world.group.metadata.annotations:
        return None
    if not workload.settled or workload.strategy is not UpdateStrategy.ROLLING_UPDATE:
        return None
    left = (pod for pod in let_go_and_left(world, workload) if pod.ordinal in step.also)
    pod = next(left, None)
    if pod is None or not (world.now - step.started_at <= AT_ONCE_S or _all_restarted_serve(world, workload, step)):
        return None
    return Decision(world.memory, DeletePod(pod.name, pod.uid, pod.ordinal, Cause.TOGETHER))


def _all_restarted_serve(world: World, workload: Workload, step: Step) -> bool:
    pods = [world.pod(ordinal) for ordinal in step.ordinals if ordinal < world.replicas]
    return all(pod is not None and (pod.revision != workload.update_revision or serves(world, pod)) for pod in pods)


def let_go_and_left(world: World, workload: Workload) -> tuple[Pod, ...]:
    """Pods that the partition has let go, and that still have another version, highest ordinal first."""
    left = (pod for pod in reversed(world.outdated) if pod.ordinal >= workload.partition)
    return tuple(pod for pod in left if not pod.terminating)


def is_left_open(world: World, workload: Workload) -> bool:
    """Pods of a batch have yet to be restarted by its controller, as where the operator was killed."""
    step = world.memory.step
    return step is not None and bool(step.also) and bool(let_go_and_left(world, workload))


def _room(world: World, workload: Workload) -> int:
    """How many more may be away. One goes alone until a pod that has the version serves."""
    most = most_away(world, workload)
    if most == 1 or not any(serves(world, pod) for pod in _with_it(world, workload)):
        return 1
    pods = (world.pod(ordinal) for ordinal in range(world.replicas))
    away = sum(pod is None or not serves(world, pod) for pod in pods)
    return min(most - away, room_before_the_next_step(world, workload))


def _has_proven_it(world: World, workload: Workload, pod: Pod) -> bool:
    """It has the version and gets on; or is of the last step, and the gates have asked it. One that owns nothing, as
    where there are more pods than partitions, could not show it."""
    if pod.revision != workload.update_revision or not serves(world, pod):
        return False
    owned, since, step = owned_by(world, pod), owner_since(world, pod), step_of(world.memory)
    gets_on = any(world.history.commit_moved_after.get(partition, 0.0) >= since for partition in owned)
    return gets_on or (bool(owned) and step is not None and pod.ordinal in step.ordinals)


def _idle(world: World, candidates: tuple[Pod, ...]) -> int:
    """How many of the next own nothing, and are owed nothing when they are back with the same id."""
    owners = (pod for pod in candidates if owned_by(world, pod) or not world.made_with(pod).is_static)
    first = next(owners, None)
    return len(candidates) if first is None else candidates.index(first)


def a_pod_has_it(world: World, workload: Workload) -> bool:
    """The first pod that goes alone has gone."""
    return bool(_with_it(world, workload))


def _with_it(world: World, workload: Workload) -> list[Pod]:
    """Pods that got the version in this rollout, by its last step. What else is asked of those that serve, the gates
    have asked."""
    step = step_of(world.memory)
    pods = (world.pod(ordinal) for ordinal in step.ordinals) if step is not None else ()
    return [pod for pod in pods if pod is not None and pod.revision == workload.update_revision]
