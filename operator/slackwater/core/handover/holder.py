"""Who holds an ordinal that two pods have: the old one, or its replacement?

Only the member id says so (F41), and not on its own: an old process that ended and came back has another one as well. A
new id is the replacement's if the old pod's container has run without a break since before the replacement was made, or
ended only after the id had changed.

A process that loses its session joins again by itself, in the same run. So the replacement has taken over only what
passed from one member to the other between two looks. If nobody had the id in between, either may have joined. If the
id changed before the replacement's container started, the old process did.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

from slackwater.core.handover.arrival import has_no_room
from slackwater.core.handover.transitions import changed_ids, member_ids
from slackwater.core.members.clocks import CLOCKS_DIFFER_S
from slackwater.core.members.sessions import session_left_s
from slackwater.core.rollout.gates import Down
from slackwater.core.world.handover import Handover
from slackwater.core.world.history import TAKEOVERS_KEPT
from slackwater.core.world.pods import Pod
from slackwater.core.world.sighting import MemberSighting
from slackwater.core.world.world import World


class Holder(StrEnum):
    OLD = "old"
    """The pod that had the ids, or nobody, which is no reason to take anything away."""
    NEW = "new"
    """The replacement: every member of the pod is another one than before, and it is the replacement's."""
    PARTLY_NEW = "partly new"
    """The replacement, and some members are yet to come."""
    STARTING = "starting"
    """It can only be the replacement, whose start its node has not reported yet."""
    CAME_BACK = "came back"
    """The old one, as another member than before."""
    DOWN = "down"
    """The old one does not run just now, and it is not known whether the id is the replacement's."""
    NOBODY = "nobody"
    """The old one was down when the handover began, and still is."""
    UNCLEAR = "unclear"
    """Another member has the id: whose it is cannot be known, or that process has ended."""


HolderOfTwo = Literal[
    Holder.OLD,
    Holder.NEW,
    Holder.PARTLY_NEW,
    Holder.STARTING,
    Holder.CAME_BACK,
    Holder.DOWN,
    Holder.UNCLEAR,
]


def holder(world: World, handover: Handover, old: Pod | None, new: Pod | None) -> HolderOfTwo:
    """The old one had the ids when the handover began. `world`: of a group that Kafka described."""
    changed = changed_ids(world, handover)
    if not changed:
        return Holder.OLD
    if new is None or new.started_at is None:
        if old is None or not handover.held.runs_on(old):
            return Holder.CAME_BACK
        if new is None or new.terminating or not _runs_for_the_first_time(new):
            return Holder.UNCLEAR  # it has taken over, and crashed after that
        if has_no_room(new):
            return Holder.CAME_BACK
        return Holder.UNCLEAR if _is_overdue(world, changed) else Holder.STARTING
    if old is not None and all(_came_before(world, handover, old, new, instance_id) for instance_id in changed):
        return Holder.CAME_BACK
    if all(_is_the_new_ones(world, handover, old, new, instance_id) for instance_id in changed):
        return Holder.NEW if has_all(world, handover, new) else Holder.PARTLY_NEW
    return Holder.DOWN if old is not None and old.started_at is None else Holder.UNCLEAR


def _is_overdue(world: World, changed: Iterable[str]) -> bool:
    """The ids changed hands longer ago than `rejoinTimeout`, and the node still does not say that a new process runs:
    what it says of containers may be late (an image of another one is being pulled), but not for ever."""
    sightings = [world.history.members.get(key) for key in changed]
    timeout_s = world.group.spec.rollout.rejoin_timeout_s
    return all(each is not None and world.now - each.since > timeout_s for each in sightings)


def heir(
    world: World, handover: Handover, old: Pod | None, new: Pod | None, down: Down
) -> Literal[Holder.NEW, Holder.PARTLY_NEW, Holder.NOBODY, Holder.CAME_BACK]:
    """The old one was down when the handover began. `down`: ordinals of the pods that are known not to consume."""
    new = new if new is not None and new.started_at is not None else None
    never_ran = old is None or (old.started_at is None and handover.held.runs_on(old))
    is_from_it = new is not None and _is_not_from(world, handover, old, new)
    if new is not None and (never_ran or is_from_it) and has_all(world, handover, new):
        return Holder.NEW
    if old is None or old.ordinal in down:
        return Holder.NOBODY
    return Holder.PARTLY_NEW if is_from_it else Holder.CAME_BACK


def _is_not_from(world: World, handover: Handover, old: Pod | None, new: Pod) -> bool:
    """There are new members, and none is the old pod's, which was in no group at first and runs on as it did."""
    changed = changed_ids(world, handover)
    if old is None or not old.ready or not handover.held.runs_on(old) or not changed:
        return False
    return all(_joined_from(world, handover, old, new, instance_id) is new for instance_id in changed)


def _joined_from(world: World, handover: Handover, old: Pod, new: Pod, instance_id: str) -> Pod:
    """Where nobody had the id, the address that is listed is that of whoever joined first since (F41), from whom it may
    have gone to the other one. Where no address tells, a process that had not joined for `rejoinTimeout` until the
    handover began has not just when its replacement started, and one that was away for seconds may have."""
    at = {pod.address: pod for pod in (old, new) if pod.address}
    listed = (member.address for member in world.members_at(old.ordinal) if member.instance_id == instance_id)
    first = next((at[each] for each in listed if each in at), None)
    sighting = world.history.members.get(instance_id)
    passed_on = sum(moment > handover.started_at for moment in sighting.takeovers) if sighting is not None else 0
    if first and len(at) == 2 and instance_id not in handover.before and passed_on < TAKEOVERS_KEPT:
        return {old.address: new, new.address: old}[first.address] if passed_on % 2 else first
    return new if handover.held.idle and not _came_before(world, handover, old, new, instance_id) else old


def keeper(world: World, handover: Handover) -> Literal[Holder.NEW, Holder.UNCLEAR]:
    """The replacement has taken over: does it still hold every id?"""
    others = member_ids(world, handover.ordinal).items() - handover.held.ids.items()
    return Holder.UNCLEAR if others else Holder.NEW


def has_all(world: World, handover: Handover, new: Pod) -> bool:
    """Every member of the pod is another one than before. `new` may be of an older version than its StatefulSet has."""
    return len(changed_ids(world, handover)) >= world.made_with(new).members_per_pod


def _is_the_new_ones(world: World, handover: Handover, old: Pod | None, new: Pod, instance_id: str) -> bool:
    """The old pod's process cannot have brought this member."""
    if old is None or _has_all_its_own(world, handover, old, instance_id):
        return True
    sighting = world.history.members.get(instance_id)
    if handover.held.runs_on(old):
        after_nobody = sighting is not None and sighting.after_nobody
        return not after_nobody and not _came_before(world, handover, old, new, instance_id)
    if sighting is None or new.runs_since is None:
        return False
    if old.started_at is None and _outlives(world, sighting, old):
        return True
    if old.ended_at is None:
        return False
    run = handover.held.run
    same_pod = run is not None and run.uid == old.uid
    joined_before_its_end = sighting.came_by + CLOCKS_DIFFER_S < old.ended_at
    return same_pod and joined_before_its_end and sighting.since >= new.runs_since and not sighting.after_nobody


def _outlives(world: World, sighting: MemberSighting, old: Pod) -> bool:
    """The member lives, or would be gone by now: it is not that of the old pod's last process, which has ended.

    A pod in the old one's place that has not run was made when that process had ended.
    """
    ended_at, moved = old.ended_at or old.created_at, world.history.commit_moved_after
    lives = any(moved.get(partition, 0.0) > ended_at + CLOCKS_DIFFER_S for partition in sighting.assignment)
    observed_at = world.seen.observed_at if world.seen is not None else ended_at
    return lives or session_left_s(world, observed_at, ended_at) <= 0


def _has_all_its_own(world: World, handover: Handover, old: Pod, instance_id: str) -> bool:
    """The old pod's members are what they were, and none of them has this id: they have others, or take none."""
    held = handover.held
    if not held.runs_on(old) or instance_id in held.ids:
        return False
    takes_none = len(world.nameless_members_of(old)) >= world.made_with(old).members_per_pod
    now = member_ids(world, old.ordinal)
    return takes_none or (bool(held.ids) and all(now.get(key) == member for key, member in held.ids.items()))


def _came_before(world: World, handover: Handover, old: Pod, new: Pod, instance_id: str) -> bool:
    """The old pod's process joined again by itself: its replacement's had not started by then."""
    sighting = world.history.members.get(instance_id)
    if sighting is None or new.runs_since is None or not _runs_for_the_first_time(new):
        return False
    return handover.held.runs_on(old) and sighting.came_by + CLOCKS_DIFFER_S < new.runs_since


def _runs_for_the_first_time(pod: Pod) -> bool:
    return pod.restarts == 0 and pod.ended_at is None
