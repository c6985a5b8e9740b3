"""Who holds an ordinal that two pods have: the old one, or its replacement?

Only the member id tells (F41), and not by itself: an old process that ended and came back has another one as well. A
new id is the replacement's when the old pod's container has run without a break since before the replacement was made,
or ended only after the id had changed.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Final

from slackwater.core.handover.foresight import joins_of
from slackwater.core.members.clocks import CLOCKS_DIFFER_S
from slackwater.core.members.presence import longest_session_s, serves
from slackwater.core.world.identity import ordinal_of
from slackwater.core.world.memory import Handover
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.pods import Pod
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World

JOINS_AGAIN_WITHIN_S: Final = 10.0
"""A process that is told that it is no member any more."""


class Holder(StrEnum):
    OLD = "old"
    NEW = "new"
    STARTING = "starting"
    """It can only be the new one's, whose start was not told yet."""
    CAME_BACK = "came back"
    """The old one, as another member than before."""
    DOWN = "down"
    """The old one does not run just now, and it is not known whether the id is the replacement's."""
    UNCLEAR = "unclear"
    """Another member has the id, and it cannot be told whose it is, or that one lives no more."""


def member_ids(world: World, ordinal: int) -> dict[str, str]:
    """Instance id → member id, of an ordinal's members; empty where Kafka could not be asked."""
    members = world.kafka.members if isinstance(world.kafka, GroupObservation) else ()
    ours = {m.instance_id: m.member_id for m in members if m.instance_id is not None}
    return {key: member_id for key, member_id in ours.items() if ordinal_of(key, world.group.name) == ordinal}


def begun(world: World, ordinal: int, to: Workload, old: Pod | None) -> Handover:
    """What has to be remembered before the replacement is made. `to`: the StatefulSet that makes it."""
    known = world.memory.handover
    return Handover(
        ordinal,
        to.name,
        world.now,
        before=member_ids(world, ordinal),
        holder_uid=old.uid if old is not None else "",
        holder_started_at=old.started_at if old is not None else None,
        holder_restarts=old.restarts if old is not None else 0,
        holder_down=old is None or not serves(world, old),
        alone_since=known.alone_since if known is not None and known.ordinal == ordinal else None,
        fenced=known.fenced if known is not None else 0,
        cold=known.cold if known is not None else False,
        version=to.template_hash,
        joined_after_s=joins_of(world, known, to.template_hash),
    )


def holder(world: World, handover: Handover, old: Pod | None, new: Pod | None) -> Holder:
    """Of an ordinal in both StatefulSets. `world`: of a group that Kafka described."""
    changed = {k: m for k, m in member_ids(world, handover.ordinal).items() if handover.before.get(k) != m}
    if not changed:
        return Holder.OLD  # or nobody, which is no reason to take anything away
    if new is None or new.started_at is None:
        if old is None or not runs_as_then(handover, old):
            return Holder.CAME_BACK
        crashed = new is None or new.terminating or new.restarts > 0 or new.ended_at is not None  # after it took over
        return Holder.UNCLEAR if crashed else Holder.STARTING
    if all(_is_news(world, handover, old, new, instance_id) for instance_id in changed):
        return Holder.NEW
    return Holder.DOWN if old is not None and old.started_at is None else Holder.UNCLEAR


def has_all(world: World, handover: Handover) -> bool:
    """Whether every member of the pod is another one than before."""
    now = member_ids(world, handover.ordinal)
    changed = [key for key, member_id in now.items() if handover.before.get(key) != member_id]
    return len(changed) >= world.group.spec.members_per_pod


def taken_over(world: World, handover: Handover, new: Pod) -> Handover:
    """The memory of it: from now on the replacement is the one that holds the ordinal.

    By its run of now, if that was seen to be under way before the id changed hands.
    """
    ids = member_ids(world, handover.ordinal)
    over = replace(handover, after=ids, holder_down=False, undone=False)
    if not all(_came_with(world, instance_id, new) for instance_id in ids):
        return replace(over, holder_uid="", holder_started_at=None, holder_restarts=0)
    return replace(over, holder_uid=new.uid, holder_started_at=new.started_at, holder_restarts=new.restarts)


def _came_with(world: World, instance_id: str, pod: Pod) -> bool:
    sighting = world.history.members.get(instance_id)
    if sighting is None or sighting.absent_at is None or pod.started_at is None:
        return False
    return sighting.absent_at >= pod.started_at


def is_fenced(world: World, handover: Handover, pod: Pod) -> bool:
    """Whether another process has taken the id from the pod that holds the ordinal, since the handover was over.

    What a container brought that was started anew since is its own, and so is what came when no other process was
    left. Where the other one's session has ended meanwhile, nobody has the id: a process that was not fenced would have
    joined again.
    """
    held = not handover.holder_down and pod.started_at is not None
    return held and runs_as_then(handover, pod) and _has_changed_hands(world, handover)


def ended_when_fenced(world: World, handover: Handover, pod: Pod) -> bool:
    """The same of a pod whose container has been started anew since."""
    same = pod.uid == handover.holder_uid and pod.restarts > handover.holder_restarts
    return same and _has_changed_hands(world, handover)


def _has_changed_hands(world: World, handover: Handover) -> bool:
    own = handover.before if handover.undone else handover.after
    now = member_ids(world, handover.ordinal)
    return any(_is_taken(world, handover, now.get(key, member_id) != member_id, key) for key, member_id in own.items())


def has_not_come(world: World, handover: Handover, pod: Pod) -> bool:
    """Whether a pod that has been alone for all of `rejoinTimeout` is not in the group: it may have been fenced."""
    if not isinstance(world.kafka, GroupObservation) or member_ids(world, pod.ordinal) or pod.started_at is None:
        return False
    alone_s = world.now - max(pod.started_at, handover.alone_since or 0.0)
    return alone_s > world.group.spec.rollout.rejoin_timeout_ms / 1000


def _is_taken(world: World, handover: Handover, is_another: bool, instance_id: str) -> bool:
    sighting = world.history.members.get(instance_id)
    if not is_another:
        return _is_gone(world, handover, instance_id)
    if sighting is None or sighting.absent_at is None or handover.alone_since is None:
        return True
    return sighting.absent_at < handover.alone_since


def _is_gone(world: World, handover: Handover, instance_id: str) -> bool:
    """By the end of the other one's session; what goes later is another matter."""
    missing_since, kafka = world.history.departures.get(instance_id), world.kafka
    if missing_since is None or handover.alone_since is None or not isinstance(kafka, GroupObservation):
        return False
    by_then = handover.alone_since + longest_session_s(world) + JOINS_AGAIN_WITHIN_S
    return missing_since <= by_then and world.now - missing_since >= JOINS_AGAIN_WITHIN_S


def runs_as_then(handover: Handover, pod: Pod) -> bool:
    """Whether the pod that holds the ordinal is in the same run as when that was written down, or still in none."""
    run = (pod.uid, pod.started_at, pod.restarts)
    return run == (handover.holder_uid, handover.holder_started_at, handover.holder_restarts)


def _is_news(world: World, handover: Handover, old: Pod | None, new: Pod, instance_id: str) -> bool:
    if old is None:
        return True
    if runs_as_then(handover, old):
        return True
    sighting = world.history.members.get(instance_id)
    if sighting is None or old.ended_at is None or new.started_at is None:
        return False
    before_its_end = sighting.since + CLOCKS_DIFFER_S < old.ended_at
    if old.uid == handover.holder_uid and before_its_end and sighting.since >= new.started_at:
        return True
    moved = world.history.commit_moved_after
    lives = any(moved.get(partition, 0.0) > old.ended_at + CLOCKS_DIFFER_S for partition in sighting.assignment)
    return old.started_at is None and lives
