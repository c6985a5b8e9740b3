"""Does a pod that has ended keep running? A process that ends and ends is in the group most of the time."""

from __future__ import annotations

from typing import Final

from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import seconds
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

LONGER_BY: Final = 2.0
"""What ended a run comes again after about as long; a run that has lasted so many times as long was not ended by it."""


KUBELET_FORGETS_S: Final = 600.0
"""After a run of that length it starts a process again at once. Only shorter ones come to CrashLoopBackOff, by which a
version fails; to wait for longer ones could go on for ever, since of many pods some always ended lately."""


def find_crashed(world: World, pod: Pod) -> Hold | None:
    """Its process ended by itself, and the one that runs has not lasted for so long that it can be trusted; or a
    container beside it did.

    It has to last for twice as long as the one before. One that had run for `rejoinTimeout` had proven itself.
    """
    if pod.last_run_s is not None and pod.runs_since is not None and not _may_have_been_fenced(world, pod):
        hold = _has_yet_to_last(world, f"pod {pod.name}", pod.last_run_s, pod.runs_since)
        if hold is not None:
            return hold
    for sidecar in pod.sidecars:
        hold = _has_yet_to_last(world, f"container {sidecar.name} of pod {pod.name}", sidecar.ran_s, sidecar.since)
        if hold is not None:
            return hold
    return None


def _has_yet_to_last(world: World, who: str, ran_s: float, since: float) -> Hold | None:
    longest_s = min(world.group.spec.rollout.rejoin_timeout_s, KUBELET_FORGETS_S)
    wanted_s, runs_for_s = min(LONGER_BY * ran_s, longest_s), world.now - since
    if ran_s >= longest_s or runs_for_s > wanted_s:
        return None
    message = f"{who} ended after {seconds(ran_s)}; now it has to run for {seconds(wanted_s)}"
    return Hold(Reason.POD_CRASHED, message, min(5.0, max(1.0, wanted_s - runs_for_s)))


def _may_have_been_fenced(world: World, pod: Pod) -> bool:
    """The run that ended had begun while another pod had its instance id, and that ended it: it is no crash.

    Of handovers before the last one it is not known when there was another pod: what ended before this one began was
    judged then.
    """
    handover = world.memory.handover
    if handover is None or pod.last_run_started_at is None or pod.ended_at is None:
        return False
    if handover.ordinal != pod.ordinal:
        return pod.ended_at <= handover.started_at
    return handover.alone_since is None or pod.last_run_started_at <= handover.alone_since
