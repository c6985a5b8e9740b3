"""Does a pod whose consumer ended and runs again wait to be let into the group? Dynamic members of classic groups only.

A rebalance ends when every member has joined again. One that is blocked by a record sends its heartbeats and joins
nothing, for as long as `max.poll.interval.ms`, and so long whoever joins is given nothing.
"""

from __future__ import annotations

from typing import Final

from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

LONG_S: Final = 10.0
"""Most rebalances are over by then; whoever waits in one of those is about to consume."""


def is_kept_out(world: World, pod: Pod) -> bool:
    """It consumes nothing, and has not since its container started again: a replacement disturbs nobody."""
    kafka, unsettled_since = world.kafka, world.history.unsettled_since
    if not isinstance(kafka, GroupObservation) or kafka.type is not GroupType.CLASSIC or unsettled_since is None:
        return False
    in_a_long_one = kafka.state is GroupState.PREPARING_REBALANCE and world.now - unsettled_since >= LONG_S
    if not in_a_long_one or not (pod.ready and pod.restarts) or world.made_with(pod).is_static:
        return False
    alive = [member for member in world.members_of(pod) if not world.history.predates(member, pod)]
    gets_nothing = not any(member.assignment for member in alive)
    return bool(alive) and gets_nothing and not _may_be_for_the_step(world, pod, unsettled_since)


def _may_be_for_the_step(world: World, pod: Pod, unsettled_since: float) -> bool:
    """The version that another pod was given in this rollout may be what keeps the rebalance from ending."""
    step = world.memory.step
    goes_forward = world.memory.phase is RolloutPhase.PROGRESSING
    if step is None or not goes_forward or step.ordinal == pod.ordinal:
        return False
    return step.started_at <= unsettled_since
