"""What a group in Kafka needs whether a rollout is under way or not: its dead members taken care of, its settings kept.

None of it disturbs a consumer that works.
"""

from __future__ import annotations

from dataclasses import replace

from slackwater.core.decision.acts import RemoveMembers
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.words import listing
from slackwater.core.members.death import known_holders
from slackwater.core.members.ownership import find_left_behind, given_ordinal, ids_given, still_removed
from slackwater.core.members.refused import restart_due, still_refused
from slackwater.core.members.release import release_due, still_released
from slackwater.core.timeouts.group_settings import change_due, settings_wanted
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import GroupObservation, MemberRef
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World


def remembered(world: World, memory: RolloutMemory) -> RolloutMemory:
    """What is remembered of members, brought up to date; what does not matter any more is forgotten."""
    return replace(
        memory,
        ids_given=ids_given(world),
        holders=known_holders(world),
        released=still_released(world),
        refused=still_refused(world),
        removed=still_removed(world),
    )


def upkeep(world: World, workload: Workload) -> Decision | None:
    """What the group in Kafka needs whether a rollout is under way or not: dead members, its own settings."""
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation) or not world.settled:
        return None
    if gone := _gone(world, kafka):
        act = RemoveMembers(gone, f"their pods were scaled away: {listing(ref.instance_id for ref in gone)}")
        return Decision(replace(world.memory, removed={**world.memory.removed, **dict(gone)}), act)
    if due := release_due(world) or restart_due(world, workload):
        return Decision(due[0], due[1])
    if change := change_due(world):
        memory = replace(world.memory, group_settings=settings_wanted(world))
        return Decision(memory, change)
    return None


def _gone(world: World, kafka: GroupObservation) -> tuple[MemberRef, ...]:
    """Members whose pods were scaled away and have ended."""
    left = [(given_ordinal(world, member), member) for member in find_left_behind(world, kafka)]
    running = {*world.loose, *(pod.ordinal for pod in world.all_pods)}
    return tuple(MemberRef(m.instance_id, m.member_id) for o, m in left if m.instance_id and o not in running)
