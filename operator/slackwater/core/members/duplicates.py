"""Is one instance id used by two processes? A second group of that name, perhaps, or a consumer that is run by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.members.clocks import CLOCKS_DIFFER_S
from slackwater.core.members.sharing import sharers_in_words
from slackwater.core.world.history import TAKEOVERS_KEPT
from slackwater.core.world.pods import Pod
from slackwater.core.world.sighting import MemberSighting
from slackwater.core.world.world import World

DUPLICATE_FORGOTTEN_S: Final = 300.0
"""An instance id that has had one holder for so long is not being fought over."""
REPORTED_WITHIN_S: Final = 10.0
"""A kubelet that is busy reports a container's start so late at most; its process may be in the group by then."""
LATER_S: Final = 5.0
_NEVER: Final = float("inf")


def an_id_is_used_twice(world: World) -> Hold | None:
    """Two processes take it from one another, or one took it while the pod that it was given to did not run."""
    for instance_id, sighting in world.history.members.items():
        ordinal = world.ordinal_of(instance_id)
        pod = world.pod(ordinal) if ordinal is not None else None
        if pod is not None and (how := _how_it_is_used_twice(world, pod, sighting)):
            shared = f" ({shared_with})" if (shared_with := sharers_in_words(world)) else ""
            message = f"instance id {instance_id} {how}: two processes use it{shared}"
            return Hold(Reason.DUPLICATE_INSTANCE_ID, message, LATER_S)
    return None


def was_taken_from(world: World, pod: Pod) -> str:
    """An instance id of the pod that changed hands twice in one run of it since the last step, of which once by its own
    process; empty where none did. No proof: a process may join anew by itself."""
    step = world.memory.step
    since = step.started_at if step is not None else 0.0
    began = [at for at in (pod.last_run_started_at, pod.runs_since) if at is not None]
    runs = list(pairwise((*began, _NEVER)))
    for member in world.members_of(pod) if began else ():
        sighting = world.history.members.get(member.instance_id or "")
        taken = sighting.takeovers if sighting is not None else ()
        if any(sum(max(start, since) < moment <= end for moment in taken) > 1 for start, end in runs):
            return member.instance_id or ""
    return ""


def _how_it_is_used_twice(world: World, pod: Pod, sighting: MemberSighting) -> str:
    """In words; empty where it is not."""
    if _changes_hands(world, pod, sighting):
        return "changes hands again and again"
    return "was taken while the container of its pod was down" if _was_taken_meanwhile(world, pod, sighting) else ""


def _changes_hands(world: World, pod: Pod, sighting: MemberSighting) -> bool:
    """Lately, and more often than by the one takeover with which the pod itself joined after it started."""
    if pod.started_at is None or world.now - sighting.since > DUPLICATE_FORGOTTEN_S:
        return False
    return sum(moment > pod.started_at for moment in sighting.takeovers) >= TAKEOVERS_KEPT


def _was_taken_meanwhile(world: World, pod: Pod, sighting: MemberSighting) -> bool:
    """A process took the id while the pod's container did not run: a look after its end had not seen that process yet.

    Consumers that end when they are fenced change hands with each start of their containers, which proves nothing.
    """
    if world.beside is not None or pod.ended_at is None:
        return False
    runs_again_at = pod.runs_since if pod.runs_since is not None else world.now - REPORTED_WITHIN_S
    after_its_end = sighting.absent_at is not None and sighting.absent_at > pod.ended_at + CLOCKS_DIFFER_S
    return after_its_end and sighting.came_by < runs_again_at - CLOCKS_DIFFER_S
