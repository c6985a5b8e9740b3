"""Has the pod that is left of two been fenced by the other one, which has ended since?

A fenced process is dead to the group, whatever its pod looks like (decision 9). Asked only of a handover that is over:
as long as there are two pods, `holder` judges.
"""

from __future__ import annotations

from typing import Final

from slackwater.core.handover.transitions import member_ids
from slackwater.core.members.sessions import longest_session_s
from slackwater.core.world.handover import Begun, Handover, Undone
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

JOINS_AGAIN_WITHIN_S: Final = 10.0
"""A process that learns that it is no member any more, and was not fenced, has joined again by then."""
COMMITS_WITHIN_S: Final = 60.0
"""So long after the first look a pod may prove by a commit that the id is its own, where nobody saw whose it became."""


def is_fenced(world: World, handover: Handover, pod: Pod) -> bool:
    """Another process took the id from the pod that holds the ordinal, and this one's container still runs.

    What a container that was started again brought is its own, and so is what came when no other process was left.
    Where the other one's session has ended meanwhile, nobody has the id: a process that was not fenced would have
    joined again. One that is in the group without its id has nothing to be fenced from.
    """
    held = handover.held
    if world.nameless_members_of(pod):
        return False
    runs = not held.down and pod.started_at is not None and held.runs_on(pod)
    return runs and _has_changed_hands(world, handover)


def ended_when_fenced(world: World, handover: Handover, pod: Pod) -> bool:
    """Another process took the id from the pod, whose container has ended and was started again."""
    run = handover.held.run
    started_again = run is not None and pod.uid == run.uid and pod.restarts > run.restarts
    return started_again and _has_changed_hands(world, handover)


def has_not_come(world: World, handover: Handover, pod: Pod, times: int = 1) -> bool:
    """A pod that has been alone for all of `rejoinTimeout` is not in the group: it may have been fenced.

    One that is there without the id that it was given has not been: its version takes none.

    `times`: or for so many times as long.
    """
    if world.seen is None or is_there(world, pod) or pod.started_at is None:
        return False
    alone_s = world.now - max(pod.started_at, handover.alone_since or 0.0)
    return alone_s > times * world.group.spec.rollout.rejoin_timeout_s


def is_there(world: World, pod: Pod) -> bool:
    """Somebody has an id of the ordinal, or the pod is in the group without the one that it was given."""
    return bool(member_ids(world, pod.ordinal) or world.nameless_members_of(pod))


def _has_changed_hands(world: World, handover: Handover) -> bool:
    if isinstance(handover.reached, Begun):
        return False  # nobody saw who joined last: no member is known to be the pod's own
    now = member_ids(world, handover.ordinal)
    return any(
        _another_took_it(world, handover, instance_id)
        if now.get(instance_id, own) != own
        else _went_with_the_other(world, handover, instance_id)
        for instance_id, own in handover.held.ids.items()
    )


def _another_took_it(world: World, handover: Handover, instance_id: str) -> bool:
    """The member that has the id came before the pod was alone, or may have.

    A replacement that has not taken over may have come no more than the pod itself where nobody had the id for a moment
    (somebody removed the member, its session ended). Then commits prove the pod, or the session of a process that has
    ended does (`_went_with_the_other`): one that works is not restarted because it may have been fenced.
    """
    history, alone_since = world.history, handover.alone_since
    sighting = history.members.get(instance_id)
    if sighting is None or alone_since is None:
        return True
    if any(history.commit_moved_after.get(partition, 0.0) >= alone_since for partition in sighting.assignment):
        return False  # who commits is no process that has ended
    if sighting.absent_at is None:
        return history.watched_since is not None and world.now - history.watched_since >= COMMITS_WITHIN_S
    not_taken_over = isinstance(handover.reached, Undone)
    return sighting.absent_at < (handover.started_at if not_taken_over else alone_since)


def _went_with_the_other(world: World, handover: Handover, instance_id: str) -> bool:
    """Nobody has the id since the other one's session ended at the latest; what goes later has another cause."""
    missing_since = world.history.departures.get(instance_id)
    if missing_since is None or handover.alone_since is None or world.seen is None:
        return False
    by_then = handover.alone_since + longest_session_s(world) + JOINS_AGAIN_WITHIN_S
    return missing_since <= by_then and world.now - missing_since >= JOINS_AGAIN_WITHIN_S
