"""Does a pod whose consumer ended and runs again wait to be let into the group? Dynamic members of classic groups only.

A rebalance ends when every member has joined again. One that is blocked by a record sends its heartbeats and joins
nothing, for as long as `max.poll.interval.ms`, and so long whoever joins is given nothing.
"""

from __future__ import annotations

from typing import Final

from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType, Member
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
    if world.memory.phase.goes_back:
        return False  # no pod waits there for the group to be calm
    alive = [member for member in world.members_of(pod) if not world.history.predates(member, pod)]
    waits = all(_was_given_nothing(world, kafka, member, unsettled_since) for member in alive)
    return bool(alive) and waits and not _may_be_for_its_version(world, pod)


def _was_given_nothing(world: World, kafka: GroupObservation, member: Member, unsettled_since: float) -> bool:
    """It came while the group rebalanced. Some brokers show no assignment at all until that has ended; it may have, and
    begun again, between two looks: then somebody has come after it, or has committed meanwhile."""
    sighting = world.history.members.get(member.member_id)
    if member.assignment or sighting is None or sighting.absent_at is None or sighting.since < unsettled_since:
        return False
    came_later = any(each.since > sighting.since for each in world.history.members.values())
    have_committed = any(moment >= sighting.since for moment in world.history.commit_moved_after.values())
    return any(each.assignment for each in kafka.members) or not (came_later or have_committed)


def _may_be_for_its_version(world: World, pod: Pod) -> bool:
    """Another pod has the version that is rolled out already: that may be what keeps the rebalance from ending, and has
    yet to prove itself."""
    if world.memory.phase is not RolloutPhase.PROGRESSING:
        return False
    outdated = {each.ordinal for each in world.outdated}
    return any(each.ordinal not in outdated and each.ordinal != pod.ordinal for each in world.wanted_pods)
