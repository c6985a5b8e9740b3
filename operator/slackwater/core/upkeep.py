"""What a group in Kafka needs whether a rollout is under way or not: its dead members taken care of, its settings kept.

None of it disturbs a consumer that works.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from slackwater.api.annotations import PAUSE
from slackwater.core.decision.acts import Act, RemoveMembers
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.words import listing
from slackwater.core.members.death import find_outlived, known_holders
from slackwater.core.members.ownership import ids_given, never_ran
from slackwater.core.members.rebalancing import (
    rebalance_for_more_partitions,
    rebalance_for_other_topics,
    rebalance_for_what_was_not_assigned,
    rebalance_for_who_owns_nothing,
    sizes_of,
)
from slackwater.core.members.refused import overdue, restart_due, still_refused
from slackwater.core.members.release import release_due, still_released
from slackwater.core.members.scaled_away import ended_since, members_to_remove
from slackwater.core.members.seen import may_be_done, seen_in, tells_addresses, was_in_it
from slackwater.core.members.taken import last_of_ours
from slackwater.core.timeouts.group_settings import change_due, settings_wanted
from slackwater.core.world.observation import GroupObservation, refs
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World

Care = Callable[[World, GroupObservation, Workload], Decision | None]


def note_members(world: World) -> Decision:
    """What is remembered of members, brought up to date; what does not matter any more is forgotten."""
    memory, given, holders = world.memory, ids_given(world), known_holders(world)
    released, refused, removed = still_released(world), still_refused(world), last_of_ours(world)
    ended, grown = ended_since(world), _still_grown(world)
    noted = replace(
        memory,
        ids_given=given,
        never_ran=never_ran(world),
        seen_in=seen_in(world),
        tells_addresses=tells_addresses(world),
        holders=holders,
        released=released,
        refused=refused,
        removed=removed,
        ended_since=ended,
        grown=grown,
    )
    return Decision(memory if noted == memory else noted)


def _still_grown(world: World) -> Mapping[str, int]:
    """A topic that was made again with fewer partitions may grow again."""
    known = world.memory.grown
    if world.seen is None or not known:
        return known
    sizes = sizes_of(world.seen)
    return {topic: size for topic, size in known.items() if sizes.get(topic, size) >= size}


def upkeep(world: World, workload: Workload) -> Decision | None:
    """The first of `CARE` that has something to do; None while the group or the StatefulSet is not known."""
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation) or not world.settled:
        return None
    found = (care(world, kafka, workload) for care in CARE)
    return next((each for each in found if each is not None and may_be_done(world, each.act)), None)


def not_done(world: World) -> Act | None:
    """What there is to do in Kafka, at rest, and is not done because no pod of ours was seen in the group."""
    kafka, workload = world.kafka, world.workload
    if was_in_it(world) or world.memory.phase.under_way or workload is None or not world.settled:
        return None
    if not isinstance(kafka, GroupObservation) or not world.wanted_pods:
        return None
    found = (care(world, kafka, workload) for care in CARE)
    return next((each.act for each in found if each is not None and not may_be_done(world, each.act)), None)


def remove_scaled_away(world: World, kafka: GroupObservation, workload: Workload) -> Decision | None:
    """Members whose pods were scaled away and have ended are taken out of the group, together (F10)."""
    gone = members_to_remove(world)
    if not gone:
        return None
    act = RemoveMembers(gone, f"their pods were scaled away: {listing(ref.instance_id for ref in gone)}")
    return Decision(replace(world.memory, removed={**world.memory.removed, **dict(gone)}), act)


def remove_outlived(world: World, kafka: GroupObservation, workload: Workload) -> Decision | None:
    """Members of a version before, with ids that the pod's new process will not ask for."""
    outlived = refs(find_outlived(world, kafka))
    if not outlived:
        return None
    names = listing(ref.instance_id for ref in outlived)
    return Decision(world.memory, RemoveMembers(outlived, f"their pods' new version has no such members: {names}"))


def release_the_dead(world: World, kafka: GroupObservation, workload: Workload) -> Decision | None:
    """Ids of dead members are given free, so that their successors can join (F13)."""
    return release_due(world)


def restart_the_refused(world: World, kafka: GroupObservation, workload: Workload) -> Decision | None:
    """A pod whose process was refused before its id was free never joins by itself (F13). Where people have paused the
    group, no pod is deleted: they may be looking at it."""
    if PAUSE in world.group.metadata.annotations:
        return None
    return restart_due(world, workload) or overdue(world, workload)


def keep_settings(world: World, kafka: GroupObservation, workload: Workload) -> Decision | None:
    """The group's own settings in Kafka (F23). One that is taken back is remembered until it is seen to be gone."""
    change = change_due(world)
    if change is None:
        return None
    made = {**world.memory.group_settings, **settings_wanted(world)}
    return Decision(replace(world.memory, group_settings=made), change)


CARE: Final[tuple[Care, ...]] = (
    remove_scaled_away,
    remove_outlived,
    rebalance_for_other_topics,
    rebalance_for_who_owns_nothing,
    rebalance_for_more_partitions,
    rebalance_for_what_was_not_assigned,
    release_the_dead,
    restart_the_refused,
    keep_settings,
)
