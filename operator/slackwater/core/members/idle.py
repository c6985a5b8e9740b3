"""Pods that should work and do not: Ready, owning nothing, while there are partitions that nobody alive owns."""

from __future__ import annotations

from typing import Final

from slackwater.core.members.death import has_ended
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType, Member
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

IDLE_FOR_S: Final = 10.0
"""Every restart makes a pod Ready a moment before its consumer has joined: that is no fault."""
_SETTLED: Final = (GroupState.STABLE, GroupState.EMPTY, GroupState.DEAD)


def find_idle_pods(world: World) -> tuple[Pod, ...]:
    """Nothing about them, nor about the group, has changed for a while."""
    kafka, unchanged_since = world.kafka, world.history.unchanged_since
    if not isinstance(kafka, GroupObservation) or unchanged_since is None:
        return ()
    # A classic group tells no assignments while it rebalances; a KIP-848 one is never Stable while a member is away.
    if kafka.type is not GroupType.CONSUMER and kafka.state not in _SETTLED:
        return ()
    alive = [member for member in kafka.members if _is_alive(world, member)]
    if kafka.partitions <= {partition for member in alive for partition in member.assignment}:
        return ()
    return tuple(pod for pod in world.wanted_pods if _is_idle(world, pod, alive, unchanged_since))


def _is_alive(world: World, member: Member) -> bool:
    """As far as is known."""
    has_left = member.epoch is not None and member.epoch < 0
    return not has_left and not has_ended(world, member)


def _is_idle(world: World, pod: Pod, alive: list[Member], unchanged_since: float) -> bool:
    if not pod.ready or pod.terminating:
        return False
    since = max(unchanged_since, pod.ready_changed_at or pod.created_at, pod.started_at or 0.0)
    works = any(member.assignment for member in world.members_of(pod) if member in alive)
    return not works and world.now - since >= IDLE_FOR_S
