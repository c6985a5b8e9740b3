"""How a group stands: what comes next, or why nothing does. Where the operator sees more, it has the word. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from slackwater.api.resources import ConsumerGroup
from slackwater.cli.words.conditions import conditions_of
from slackwater.cli.words.explanation import Explanation, Outcome
from slackwater.cli.words.protocol import cutover_ahead
from slackwater.cli.words.readiness import unready
from slackwater.cli.words.version import new_version_in_words, version_in_words
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import count, seconds
from slackwater.core.world.behind import behind
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.turn import TurnStanding
from slackwater.core.world.world import World

_ALARMS: Final = {"Degraded": "Degraded", "TimeoutsClamped": "Timeouts", "ScalingHeld": "Scaling"}
"""Conditions whose message is shown whole when they are true, and its label."""


class Standing(NamedTuple):
    holds: bool
    reason: str
    words: str
    unready: str = ""
    """Where nothing is to be done: the reason for which the group is not Ready, or not known to be."""


def standing_of(world: World, explanation: Explanation) -> Standing:
    if told := told_by_the_operator(world, explanation):
        holds = told.get("status") == "True"
        if told.get("reason") == Reason.NOT_ROLLING and (lacks := unready(world)) is not None:
            return Standing(False, "", lacks.words, lacks.reason)
        return Standing(holds, str(told.get("reason")) if holds else "", str(told.get("message")))
    holds = explanation.outcome is Outcome.HOLD
    return Standing(holds, explanation.reason, explanation.words, explanation.unready)


def where_to_read(reason: str) -> str:
    """The command that tells more of a reason that is shown."""
    return f"slackwater reason {reason} says what to do"


def unseen_in_words(world: World, kafka: Unobserved) -> str:
    """That Kafka does not tell us of the group, why, and what to do."""
    group = world.group
    words = f"group {group.group_id} cannot be seen from here: {kafka.message}"
    if kafka.reason is Reason.KAFKA_UNREACHABLE:
        servers = f"spec.bootstrapServers of {group.spec.connection_ref}"
        return f"{words}: see that it runs and that {servers} fits, or ask from where that leads to it, as in a pod"
    return f"{words} (slackwater reason {kafka.reason} says more)"


def told_by_the_operator(world: World, explanation: Explanation) -> Mapping[str, Any]:
    """Its condition about the gates, where it can see more than we; empty where we see for ourselves.

    It has watched the group for longer than a command that has just begun to. Of one that is being deleted it says no
    more what the gates say.
    """
    if world.group.metadata.is_being_deleted:
        return {}
    told = next((c for c in conditions_of(world) if c["type"] == "RolloutGated"), {})
    sees_more = (
        explanation.unsure
        or explanation.reason == Reason.AWAITING_TURN  # who the fleets are, only it knows
        or (explanation.outcome is Outcome.ACT and _is_refused(told))
        or (explanation.outcome is Outcome.HOLD and _says_why(world, told, explanation))
    )
    return told if isinstance(world.kafka, Unobserved) or (sees_more and taken_up(world.group)) else {}


def _is_refused(told: Mapping[str, Any]) -> bool:
    """The API server has refused the very act that is next; from here nobody has tried it."""
    return told.get("status") == "True" and told.get("reason") == Reason.CLUSTER_REFUSED


def _says_why(world: World, told: Mapping[str, Any], explanation: Explanation) -> bool:
    """The same hold, and what is not read from here: Events of the pod that is waited for, other ConsumerGroups."""
    if (told.get("status"), told.get("reason")) != ("True", explanation.reason):
        return False
    if told.get("message") == explanation.words:
        return False
    waits_for_a_pod = explanation.reason in (Reason.POD_MISSING, Reason.POD_NOT_READY, Reason.RESTART_IN_HAND)
    return explanation.reason == Reason.GROUP_ID_SHARED or (waits_for_a_pod and _lacks_a_reason(world))


def _lacks_a_reason(world: World) -> bool:
    """A pod is missing or not started, and nothing but Events says why."""
    wanted = (world.pod(ordinal) for ordinal in range(world.replicas))
    return any(pod is None or not (pod.waiting or pod.has_run) for pod in wanted)


def taken_up(group: ConsumerGroup) -> bool:
    """Its last change was looked at by the operator. That it is deleted makes a new generation, too, which the operator
    takes up without a word."""
    return group.metadata.is_being_deleted or group.status.get("observedGeneration") == group.metadata.generation


def alarms(world: World, explanation: Explanation) -> Iterator[tuple[str, str]]:
    """What is not as it should be and stands nowhere else: not in what comes next, and not as a gate's word."""
    said = standing_of(world, explanation).words
    for condition in conditions_of(world):
        label, message = _ALARMS.get(str(condition["type"])), str(condition.get("message") or "")
        if label and condition["status"] == "True" and message and message.rstrip(".") not in said:
            yield label, message


def rollout_in_words(world: World, plan: Decision) -> str:
    if world.group.metadata.is_being_deleted:
        return "being deleted"
    memory, phase = plan.memory, plan.memory.phase
    if phase is RolloutPhase.NONE:
        return "nothing was rolled out yet"
    if phase is RolloutPhase.COMPLETE or (not phase.under_way and not memory.message):
        return f"{phase.value}, {version_in_words(world, memory)}"
    if not phase.under_way:
        return f"{phase.value}: {memory.message}"
    lacking = len(behind(world.remembering(plan.memory)))
    done = 0 if cutover_ahead(world, plan) is not None else len(world.wanted_pods) - lacking
    have = "has" if world.replicas == 1 else "have"
    what = "went back to the last good version" if phase.goes_back else f"{have} {new_version_in_words(world, memory)}"
    turn = memory.turn
    waits = world.turn.standing is TurnStanding.WAITS and turn is not None and turn.asks
    began_at = turn.asked_at if waits and turn is not None else memory.started_at
    since = "" if began_at is None else f", for {seconds(max(0.0, world.now - began_at))}"
    return f"{'Waiting' if waits else phase.value}{since}: {done} of {count(world.replicas, 'pod')} {what}"
