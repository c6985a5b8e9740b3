"""Why a group at rest is not Ready, or not known to be: what its condition Ready says. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from slackwater.api.conditions import ConditionStatus, ConditionType
from slackwater.cli.words.conditions import conditions_in
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import listing
from slackwater.core.world.world import World


class Unready(NamedTuple):
    reason: str
    """As the operator says it, which may be of a later version than we are."""
    words: str


def unready(world: World) -> Unready | None:
    """None where the group is Ready. A pod that is not Ready has a row of its own, which says why.

    The operator has watched the group for longer than a command that has just begun to; a topic that is missing both
    see at once.
    """
    kafka = world.seen
    if kafka is not None and kafka.blind_to is not None and _all_pods_are_ready(world):
        return _in_words(ConditionStatus.UNKNOWN, kafka.blind_to.reason, kafka.blind_to.message)
    if world.group.status.get("observedGeneration") != world.group.metadata.generation:
        return None
    told = ready_condition(world.group.status)
    if not told or told.get("status") == ConditionStatus.TRUE or told.get("reason") == Reason.NOT_ALL_READY:
        return None
    return _in_words(str(told.get("status")), str(told.get("reason")), str(told.get("message")))


def ready_condition(status: Mapping[str, Any]) -> Mapping[str, Any]:
    """Empty where the operator has not reported it."""
    return condition_of(status, ConditionType.READY)


def surplus(world: World) -> str:
    """Pods that are to be scaled away, in words; empty where there are none. The condition Ready is of all others."""
    names = [pod.name for pod in world.pods if pod.ordinal >= world.replicas]
    return f"{listing(names)} {'has' if len(names) == 1 else 'have'} yet to end" if names else ""


def nothing_is_to_be_rolled_out(status: Mapping[str, Any]) -> bool:
    """By the operator's word: a group that is paused may be as its spec wants it all the same."""
    return condition_of(status, ConditionType.ROLLOUT_GATED).get("reason") == Reason.NOT_ROLLING


def condition_of(status: Mapping[str, Any], kind: ConditionType) -> Mapping[str, Any]:
    """Empty where the operator has not reported it."""
    return next((c for c in conditions_in(status) if c.get("type") == kind), {})


def _all_pods_are_ready(world: World) -> bool:
    return 0 < world.replicas <= sum(pod.ready for pod in world.wanted_pods)


def _in_words(status: str, reason: str, message: str) -> Unready:
    unknown = status == ConditionStatus.UNKNOWN
    what = "it is not known whether the group is Ready" if unknown else "the group is not Ready"
    return Unready(reason, f"nothing to roll out, but {what}, {reason}: {message}")
