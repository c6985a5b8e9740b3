"""The status of a ConsumerGroup, composed from a world and the plan made of it. Pure; written only when it changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from slackwater.api.annotations import GROUP_LABEL, PAUSE
from slackwater.api.conditions import ConditionStatus, ConditionType
from slackwater.api.timestamps import moment, timestamp
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.fleet.turn import has_to_wait
from slackwater.core.status.conditions import Verdict, merge, verdicts
from slackwater.core.status.recommendation import recommendation_status
from slackwater.core.world.behind import behind
from slackwater.core.world.memory import RolloutPhase, write_memory
from slackwater.core.world.observation import GroupType
from slackwater.core.world.profile import Profile, profile_shown
from slackwater.core.world.world import World

Json = dict[str, Any]

LAG_REPORT_INTERVAL_S: Final = 60.0
"""How often a changed lag alone is worth a write; the metrics have it exactly."""
LAG_REPORT_CHANGE: Final = 1000
"""Records; and half of what was reported before."""


def compose_status(world: World, plan: Decision, before: Mapping[str, Any]) -> Json:
    """The whole status. Equal to `before` when nothing that is worth a write has changed."""
    world = world.remembering(plan.memory)
    generation = world.group.metadata.generation
    said = verdicts(world, plan.hold, plan.refusal)
    status: Json = {
        "observedGeneration": generation,
        "phase": _phase(world, said),
        "replicas": len([pod for pod in world.pods if not pod.terminating]),
        "readyReplicas": sum(pod.ready and pod.rejoined is not False for pod in world.wanted_pods),
        "updatedReplicas": len(world.wanted_pods) - len(behind(world)),
        "selector": f"{GROUP_LABEL}={world.group.name}",
        "group": _group(world, before.get("group") or {}),
        "rollout": write_memory(plan.memory),
        "protocol": protocol_status(world, plan),
        "recommendation": recommendation_status(world),
        "conditions": merge(before.get("conditions") or (), said, world.now, generation),
    }
    if plan.memory.commands:
        status["commands"] = dict(plan.memory.commands)
    # An empty map that is applied over a filled one becomes null in the API server, which then refuses it.
    status = {key: value for key, value in status.items() if value != {}}
    if _without_lag(status) == _without_lag(before) and not _lag_is_news(status, before, world.now):
        status["group"] = before["group"]
    return status


_READY: Final = {ConditionStatus.TRUE: "Ready", ConditionStatus.FALSE: "NotReady", ConditionStatus.UNKNOWN: "Unknown"}
"""The phase where there is nothing to do, by the condition Ready: the two never contradict each other."""


def _phase(world: World, said: Iterable[Verdict]) -> str:
    if world.group.metadata.is_being_deleted:
        return "Deleting"
    if PAUSE in world.group.metadata.annotations:
        return "Paused"
    if has_to_wait(world):
        return "Waiting"
    if world.memory.phase not in (RolloutPhase.NONE, RolloutPhase.COMPLETE):
        return world.memory.phase.value
    return next(_READY[verdict.status] for verdict in said if verdict.type is ConditionType.READY)


def _group(world: World, before: Mapping[str, Any]) -> Json:
    if (kafka := world.seen) is None:
        return dict(before)  # the last thing known, with the moment at which it was known; a condition says the rest
    observed: Json = {
        "state": kafka.state.value,
        "type": kafka.type.value,
        "members": len(kafka.members),
        "partitions": len(kafka.partitions),
        "observedAt": timestamp(int(kafka.observed_at)),
    }
    if kafka.assignor:
        observed["assignor"] = kafka.assignor
    if kafka.lag is not None:
        observed["lag"] = kafka.lag
    return observed


def protocol_status(world: World, plan: Decision) -> Json:
    """What the group has, where it is going, by what, how far that is, and what is being waited for.

    `world`: with the plan's memory.
    """
    target, upgrade = world.group.spec.protocol.target, world.memory.upgrade
    protocol = {"current": _current_protocol(world), "target": target.value if target is not None else ""}
    if upgrade is not None:
        waits = plan.hold.message if plan.hold is not None else ""
        protocol |= {
            "from": upgrade.origin.value,
            "to": upgrade.target.value,
            "strategy": upgrade.strategy.value,
            "step": f"{upgrade.step} of {len(upgrade.path)}",
            "waitingFor": waits,
        }
    return {key: value for key, value in protocol.items() if value}


def _current_protocol(world: World) -> str:
    """As Kafka shows it; where nobody is in the group, what the pods were made for."""
    kafka = world.seen
    made_for = world.memory.upgrade.behind if world.memory.upgrade is not None else world.memory.protocol
    if kafka is None or not kafka.members:
        return made_for.value
    if kafka.type is GroupType.CONSUMER:
        return Profile.CONSUMER.value
    return (profile_shown(kafka.assignor) or made_for).value


def _without_lag(status: Mapping[str, Any]) -> Json:
    group = {key: value for key, value in (status.get("group") or {}).items() if key not in ("lag", "observedAt")}
    return {**status, "group": group}


def _lag_is_news(status: Mapping[str, Any], before: Mapping[str, Any], now: float) -> bool:
    old_group, new_group = before.get("group") or {}, status.get("group") or {}
    if "observedAt" not in old_group:
        return True
    old, new = old_group.get("lag", 0), new_group.get("lag", 0)
    changed = abs(new - old) > max(LAG_REPORT_CHANGE, old // 2)
    return changed and now - moment(old_group["observedAt"]) >= LAG_REPORT_INTERVAL_S


def degraded_status(obj: Mapping[str, Any], phase: str, reason: Reason, problem: str, now: float) -> Json:
    """The object's status with one thing more to say: it is Degraded, and why. All else stays as last reported."""
    return _status_with(obj, phase, Verdict(ConditionType.DEGRADED, ConditionStatus.TRUE, reason, problem), now)


def status_without_refusal(obj: Mapping[str, Any], phase: str, now: float) -> Json:
    """The object's status, no longer Degraded where it was so by what the API server refused. As it is, else."""
    before: Json = obj.get("status") or {}
    said: Json = next((c for c in before.get("conditions") or () if c["type"] == ConditionType.DEGRADED.value), {})
    if (said.get("status"), said.get("reason")) != (ConditionStatus.TRUE.value, Reason.CLUSTER_REFUSED.value):
        return before
    return _status_with(obj, phase, Verdict(ConditionType.DEGRADED, ConditionStatus.FALSE, Reason.AS_WANTED), now)


def _status_with(obj: Mapping[str, Any], phase: str, verdict: Verdict, now: float) -> Json:
    before, generation = obj.get("status") or {}, obj["metadata"].get("generation", 0)
    others = [c for c in before.get("conditions") or () if c["type"] != verdict.type.value]
    changed = merge(before.get("conditions") or (), (verdict,), now, generation)
    return {**before, "observedGeneration": generation, "phase": phase, "conditions": [*others, *changed]}
