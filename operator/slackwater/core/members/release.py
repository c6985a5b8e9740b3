"""The ids of dead members of KIP-848 groups are released, so that their successors can join (F13).

A release moves no partition. What proves a death stands in `death`, what happens to an id in `succession`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from slackwater.core.decision.acts import ReleaseMembers
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.words import listing
from slackwater.core.members.death import came_back
from slackwater.core.members.succession import Dead, state_of_held
from slackwater.core.world.memory import Release
from slackwater.core.world.observation import GroupObservation, refs
from slackwater.core.world.world import World


def find_dead(world: World, kafka: GroupObservation) -> tuple[Dead, ...]:
    """The ids whose members keep their successors out: their processes have ended, though their pods are wanted."""
    states = (state_of_held(world, member) for member in kafka.members if not member.has_left)
    return tuple(state for state in states if isinstance(state, Dead))


def release_due(world: World) -> Decision | None:
    """Release the ids of the dead; what is remembered of it says by when each was free."""
    if not isinstance(world.kafka, GroupObservation):
        return None
    due = tuple(dead for dead in find_dead(world, world.kafka) if dead.is_due(world.now))
    if not due:
        return None
    members = refs(dead.member for dead in due)
    releases = {dead.member.instance_id or "": _release_of(world, dead) for dead in due}
    memory = replace(world.memory, released={**world.memory.released, **releases})
    why = f"the process behind {listing(ref.instance_id for ref in members)} has ended: its successor may join"
    return Decision(memory, ReleaseMembers(members, why))


def still_released(world: World) -> Mapping[str, Release]:
    """A release is history once a member has joined under the id since, or its pod is not wanted any more."""
    return {key: release for key, release in world.memory.released.items() if _matters(world, key, release)}


def _release_of(world: World, dead: Dead) -> Release:
    if dead.tries == 0:
        return Release(dead.member.member_id, world.now)
    before = world.memory.released[dead.member.instance_id or ""]
    return replace(before, released_at=world.now, tries=before.tries + 1)


def _matters(world: World, instance_id: str, release: Release) -> bool:
    ordinal = world.ordinal_of(instance_id)
    if ordinal is None or ordinal >= max(world.replicas, world.made):
        return False
    members = world.members_at(ordinal)
    another = any(m.instance_id == instance_id and m.member_id != release.member_id for m in members)
    return not another and not came_back(world, instance_id, release.member_id, release.released_at)
