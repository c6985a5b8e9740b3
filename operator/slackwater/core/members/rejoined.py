"""The readiness gate `slackwater.dev/rejoined`: a pod that has it is Ready only once it is in the group again.

What is not known changes nothing: while Kafka cannot be asked, a pod that was in the group stays Ready.
"""

from __future__ import annotations

from typing import NamedTuple

from slackwater.core.members.presence import Presence, presence
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World


class Mark(NamedTuple):
    """A pod whose gate says something else than what is known by now."""

    pod: Pod
    rejoined: bool


def marks_due(world: World) -> tuple[Mark, ...]:
    """By ordinal; pods that are on their way out are left alone."""
    gated = (pod for pod in world.all_pods if pod.rejoined is not None and not pod.terminating)
    found = (Mark(pod, rejoined) for pod in gated if (rejoined := _is_in(world, pod)) is not None)
    return tuple(mark for mark in found if mark.rejoined != mark.pod.rejoined)


def _is_in(world: World, pod: Pod) -> bool | None:
    """None: not known."""
    said = presence(world, pod)
    return None if said is Presence.UNKNOWN else said is Presence.YES
