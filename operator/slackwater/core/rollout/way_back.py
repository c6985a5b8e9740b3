"""The way back to the last good version, pod by pod: who is waited for there, and for how long.

A forced rollout goes the same way: there it is the new version that is the remedy.
"""

from __future__ import annotations

from typing import Final

from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import seconds
from slackwater.core.members.presence import Presence, absent_since, is_down, lives, presence
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.world import World

_SOON_S: Final = 1.0


def is_on_the_way_back(world: World) -> bool:
    """Until every pod has the version; then it is over when the group is whole again, or after `rejoinTimeout`."""
    if not world.memory.phase.goes_back and not world.memory.is_forced:
        return False
    step, timeout_s = world.memory.step, world.group.spec.rollout.rejoin_timeout_s
    return bool(world.outdated) or step is None or world.now - step.started_at > timeout_s


def the_pod_before_is_back(world: World, kafka: GroupObservation, down: frozenset[int]) -> Hold | None:
    """On the way back, instead of the gates from the fourth on: each pod of the good version is back.

    Where a member of it lives, or no pod of the failed version works, it is waited for no longer than `rejoinTimeout`.

    What the failed version did to the group is no reason to leave it there: it may never be calm with such pods in it,
    nor own every partition.
    """
    outdated, timeout_s = {pod.ordinal for pod in world.outdated}, world.group.spec.rollout.rejoin_timeout_s
    if hold := _one_may_be_coming_back(world):
        return hold
    for pod in reversed(world.wanted_pods):
        back = presence(world, pod) is Presence.YES or has_had_its_time(world, pod.ordinal)
        if pod.ordinal in outdated or back:
            continue
        overdue = world.now - absent_since(world, pod) > timeout_s
        message = f"pod {pod.name} has the version that all are to have, and is not yet known to be back in the group"
        if overdue:
            message += (
                f" after {seconds(timeout_s)} (rejoinTimeout). Delete it if its node is to blame, or apply another"
            )
            message += " version: pods of the failed one still work, and none of them is taken away meanwhile"
        return Hold(Reason.MEMBER_NOT_REJOINED, message, _SOON_S)
    return None


def has_had_its_time(world: World, ordinal: int) -> bool:
    """On the way back or where it is forced: a pod that is to be as it is, or is missing, is waited for no longer.

    After `rejoinTimeout`, where a member of it lives, or no pod of the failed version works: those would be taken away
    for one that does not come. One that is ending, or whose startup probe goes on, is about to be away, or to be there.
    """
    if not is_on_the_way_back(world) or ordinal in world.once(_to_go):
        return False
    pod, step = world.pod(ordinal), world.memory.step
    begun = (world.history.watched_since or world.now, step.started_at if step is not None else world.now)
    since = absent_since(world, pod) if pod is not None else max(begun)
    if world.now - since <= world.group.spec.rollout.rejoin_timeout_s:
        return False
    lives_itself = pod is not None and not (pod.terminating or pod.starting) and lives(world, pod)
    return lives_itself or not any(lives(world, each) for each in world.outdated)


def _to_go(world: World) -> frozenset[int]:
    return frozenset(pod.ordinal for pod in world.outdated)


def _one_may_be_coming_back(world: World) -> Hold | None:
    """Of the pods that are still to go, all but the next: with one of them away, a second would be."""
    for pod in world.outdated[:-1]:
        waits = world.now - absent_since(world, pod) <= world.group.spec.rollout.rejoin_timeout_s
        if waits and not (lives(world, pod) or is_down(world, pod)):
            message = (
                f"it is not known yet whether pod {pod.name} is in the group, and the next one would be a second away"
            )
            return Hold(Reason.MEMBER_NOT_REJOINED, message, _SOON_S)
    return None
