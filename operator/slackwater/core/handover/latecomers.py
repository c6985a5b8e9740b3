"""A pod that a handover waits for, and that does not join: for how long it gets another try, and what people are told.

Going forward, a replacement that does not join is its version's failure (`arrival`). In any other case nobody but a
person knows what helps: on the way back, where the version is known to be good; and on the way to a third version,
where neither of the two is to stay.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import seconds
from slackwater.core.handover.arrival import has_no_room, is_overdue
from slackwater.core.handover.fencing import has_not_come, is_there
from slackwater.core.rollout.excuses import works
from slackwater.core.world.handover import Begun, Handover
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.two_sets import Beside, is_overtaken
from slackwater.core.world.world import World

TRIES: Final = 3
"""The first is for a process that was fenced unseen. A slow one has eight times `rejoinTimeout` after the third."""
LATER_S: Final = 5.0
_MEND: Final = "If its node is bad, cordon that and delete the pod; else make it start: see its log"
_OR_ANOTHER: Final = "; or apply another version"


def is_to_start_again(world: World, handover: Handover, pod: Pod) -> bool:
    """It was left alone and has not joined for `rejoinTimeout`; the next times, for twice and four times as long.

    Not while its startup probe goes on: how long that may take the probe says itself.
    """
    return not pod.starting and handover.not_come < TRIES and has_not_come(world, handover, pod, 2**handover.not_come)


def not_joining(world: World) -> Hold | None:
    """The pod that the last handover left alone has not joined within `rejoinTimeout`, whatever was tried."""
    handover = world.memory.handover
    pod = world.pod(handover.ordinal) if handover is not None else None
    if handover is None or pod is None or not handover.over or pod.starting or not _is_out(world, handover, pod):
        return None
    tried = f", and was started again {_times(handover.not_come)}" if handover.not_come else ""
    after = seconds(world.group.spec.rollout.rejoin_timeout_s)
    message = f"pod {pod.name} has not joined the group after {after} (rejoinTimeout){tried}. {_MEND}{_OR_ANOTHER}"
    return Hold(Reason.POD_NOT_JOINING, message, LATER_S)


def _is_out(world: World, handover: Handover, pod: Pod) -> bool:
    """Nobody has had its ids for `rejoinTimeout`, however often its container was started in that time."""
    if world.seen is None or is_there(world, pod):
        return False
    gone = world.departures_at(pod.ordinal).values()
    since = max(pod.created_at, handover.alone_since or 0.0, world.history.watched_since or world.now, *gone)
    return world.now - since > world.group.spec.rollout.rejoin_timeout_s


def not_taking_over(world: World, handover: Handover, old: Pod | None, new: Pod | None) -> Hold | None:
    """The replacement has not taken over within `rejoinTimeout`; a late one still may. `handover`: of that ordinal."""
    if isinstance(world.kafka, Unobserved) or not isinstance(handover.state, Begun):
        return None
    if new is None or new.terminating or has_no_room(new) or not is_overdue(world, handover, _at_first(new)):
        return None
    or_another = "" if _is_given_up(world, old) else _OR_ANOTHER
    whom = f" from {old.name}" if old is not None else ""
    after = seconds(world.group.spec.rollout.rejoin_timeout_s)
    message = f"pod {new.name} has not taken over{whom} after {after} (rejoinTimeout). {_MEND}{or_another}"
    return Hold(Reason.POD_NOT_JOINING, message)


def _at_first(new: Pod) -> Pod:
    """One that crashes has no new time with each start, or what is said of it would come and go."""
    return replace(new, started_at=None, ready_changed_at=new.created_at) if new.restarts else new


def keeps_a_third_waiting(world: World, beside: Beside) -> bool:
    """A third version is wanted; the older one's pod does not take over, and the younger one's works in its place.

    Not where the younger one has failed, or somebody gave it up: it may work and do the wrong thing.
    """
    handover, memory = world.memory.handover, world.memory
    overtaken = is_overtaken(beside, memory.target_hash) and not memory.phase.goes_back
    if handover is None or not overtaken or handover.to != beside.in_use.name:
        return False
    old = world.pod(handover.ordinal)
    if _is_given_up(world, old):
        return False
    new = next((pod for pod in beside.arriving if pod.ordinal == handover.ordinal), None)
    return old is not None and works(world, old) and not_taking_over(world, handover, old, new) is not None


def _is_given_up(world: World, pod: Pod | None) -> bool:
    """Its version has failed, or somebody aborted it: no other pod is to get it on the way to a third one."""
    return pod is not None and pod.template_hash in {world.memory.given_up_before, world.memory.failed_hash} - {""}


def _times(times: int) -> str:
    return "once" if times == 1 else f"{times} times"
