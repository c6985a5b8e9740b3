"""Does a pod that has ended keep running? A process that ends and ends is in the group most of the time."""

from __future__ import annotations

from typing import Final

from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import seconds
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

LONGER_BY: Final = 2.0
"""What ended a run comes again after about as long; a run that has lasted so many times as long was not ended by it."""


def find_crashed(world: World, pod: Pod) -> Hold | None:
    """Its process ended by itself, and the one that runs has not lasted for so long that it can be trusted.

    It has to last for twice as long as the one before, `rejoinTimeout` at most: no end of long ago keeps a rollout.
    """
    ran_s, since = pod.last_run_s, pod.runs_since
    if ran_s is None or since is None:
        return None
    wanted_s = min(LONGER_BY * ran_s, world.group.spec.rollout.rejoin_timeout_s)
    runs_for_s = world.now - since
    if runs_for_s > wanted_s:
        return None
    message = f"pod {pod.name} ended after {seconds(ran_s)}; now it has to run for {seconds(wanted_s)}"
    return Hold(Reason.POD_CRASHED, message, min(5.0, max(1.0, wanted_s - runs_for_s)))
