"""Members of pods that were scaled away, and when they are taken out: once their pods have ended, and all at once.

Each removal rebalances those that are left. Pods of one scale-down are told to end in the same moment, and end within
seconds of one another; so who has ended first waits for the others, and one rebalance does for all.

It does not wait long: what it had is read by nobody meanwhile. A pod on a lost node never ends, and one may take all of
its grace, which can be hours. A rebalance costs all of the group a few seconds of reading, and the wait a part of it
`LATE_FOR_S` at most: about as much. So the wait is not as long as the others' grace. Where the session of a member is
shorter, the broker takes it out before that.
"""

from __future__ import annotations

from typing import Final

from slackwater.core.members.ownership import find_left_behind, given_ordinal
from slackwater.core.world.observation import Member, MemberRef, refs
from slackwater.core.world.world import World

LATE_FOR_S: Final = 10.0
"""Counted from when the first of them was seen to have ended."""


def members_to_remove(world: World) -> tuple[MemberRef, ...]:
    """Those whose pods have ended; nobody while they wait for others."""
    return () if wait_s(world) > 0.0 else refs(_ended(world))


def ended_since(world: World) -> float | None:
    """What is remembered of the wait, brought up to date: as long as somebody waits for somebody."""
    if world.seen is None or not world.settled:
        return world.memory.ended_since
    if not _ended(world) or not _late(world):
        return None
    return world.now if world.memory.ended_since is None else world.memory.ended_since


def wait_s(world: World) -> float:
    """How long those that have ended still wait for others; 0: no longer, or there is nobody to be waited for."""
    since = world.memory.ended_since
    return 0.0 if since is None else max(0.0, LATE_FOR_S - (world.now - since))


def _ended(world: World) -> tuple[Member, ...]:
    running = {*world.loose, *(pod.ordinal for pod in world.all_pods)}
    return tuple(m for m in find_left_behind(world) if given_ordinal(world, m) not in running)


def _late(world: World) -> bool:
    """Somebody's pod is about to end: it is there, not wanted, and no StatefulSet makes it any more."""
    ending = {pod.ordinal for pod in world.all_pods if pod.ordinal >= max(world.made, world.replicas)}
    return any(given_ordinal(world, member) in ending for member in find_left_behind(world))
