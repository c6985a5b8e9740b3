"""What the commands print for programs (`-o json`). Fields are added to these documents, never renamed. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any, Final

from slackwater.api.timestamps import timestamp
from slackwater.cli.pictures.pod_rows import PodRow, other_members, pod_rows
from slackwater.cli.words.explanation import Explanation, explain
from slackwater.cli.words.gates import GateVerdict
from slackwater.cli.words.protocol import Refusal, protocol_in_words, refused
from slackwater.core.decision.acts import (
    Act,
    AlterGroupSettings,
    DeleteGroup,
    DeletePod,
    DeleteWorkload,
    LetGo,
    ReleaseMembers,
    RemoveMembers,
    WriteWorkload,
)
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold
from slackwater.core.status.compose import protocol_status
from slackwater.core.world.memory import write_memory
from slackwater.core.world.observation import GroupObservation, Member, TopicPartition
from slackwater.core.world.world import World

Json = dict[str, Any]

VERSION: Final = 1


def plan_document(world: World, plan: Decision, explanation: Explanation) -> Json:
    """Of `slackwater plan`. `outcome` is act, hold or nothing; the gates come in their order."""
    return {
        **_heading(world),
        "outcome": explanation.outcome.value,
        "words": explanation.words,
        "act": None if plan.act is None else _act(world, plan.act),
        "hold": None if plan.hold is None else _hold(plan.hold),
        "refusal": None if plan.refusal is None else _hold(plan.refusal),
        "protocol": _protocol(world, plan),
        "gatesAsked": explanation.gates_asked,
        "gates": _gates(explanation.gates),
        "then": {"pods": list(explanation.follow), "words": explanation.afterwards},
        "notes": [{"reason": n.reason.value, "message": n.message, "warning": n.warning} for n in plan.notes],
        "rollout": write_memory(plan.memory),
    }


def status_document(world: World, plan: Decision) -> Json:
    """Of `slackwater status`: the operator's status, and beside it what was seen from here."""
    explanation = explain(world, plan)
    status = world.group.status
    return {
        **_heading(world),
        "groupId": world.group.group_id,
        "generation": world.group.metadata.generation,
        "status": dict(status),
        "group": _group(world),
        "protocol": _protocol(world, plan),
        "pods": [_pod(row) for row in pod_rows(world, plan, explanation)],
        "otherMembers": [_member(member) for member in other_members(world)],
        "gates": _gates(explanation.gates),
        "next": {"outcome": explanation.outcome.value, "reason": explanation.reason, "words": explanation.words},
        "then": {"pods": list(explanation.follow), "words": explanation.afterwards},
    }


def _heading(world: World) -> Json:
    return {
        "version": VERSION,
        "namespace": world.group.namespace,
        "name": world.group.name,
        "at": timestamp(world.now),
    }


def _act(world: World, act: Act) -> Json:
    heading = {"kind": type(act).__name__, "disruptive": act.disruptive}
    match act:
        case WriteWorkload():
            return {**heading, **_write(world, act)}
        case DeleteWorkload():
            alone = {"withoutItsPods": True} if act.orphans else {}
            return {**heading, "statefulSet": act.name, **alone, "why": act.why}
        case DeletePod():
            return {**heading, "pod": act.name, "ordinal": act.ordinal, "why": act.why}
        case RemoveMembers() | ReleaseMembers():
            members = [{"instanceId": ref.instance_id, "memberId": ref.member_id} for ref in act.members]
            return {**heading, "members": members, "why": act.why}
        case AlterGroupSettings():
            return {**heading, "values": dict(act.values)}
        case DeleteGroup():
            return heading
        case LetGo():
            return {**heading, "why": act.why}


def _write(world: World, act: WriteWorkload) -> Json:
    return {
        "purpose": act.purpose.name,
        "pod": None if act.ordinal is None else f"{act.name or world.group.name}-{act.ordinal}",
        "ordinal": act.ordinal,
        "also": list(act.also),
        "replicas": act.replicas,
        "strategy": act.strategy.value,
        "partition": act.partition,
    }


def _hold(hold: Hold) -> Json:
    return {"reason": hold.reason.value, "message": hold.message, "recheckSeconds": hold.recheck_s}


def _refusal(refusal: Refusal) -> Json:
    return {"reason": refusal.reason, "message": refusal.message, "recheckSeconds": refusal.recheck_s}


def _protocol(world: World, plan: Decision) -> Json:
    """As in the operator's status; and in words, with the reason where the group is not taken to its target."""
    refusal = refused(world, plan)
    return {
        **protocol_status(replace(world, memory=plan.memory), plan),
        "words": protocol_in_words(world, plan),
        "refusal": None if refusal is None else _refusal(refusal),
    }


def _gates(gates: Iterable[GateVerdict]) -> list[Json]:
    return [{**asdict(gate), "mark": gate.mark.value} for gate in gates]


def _group(world: World) -> Json:
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation):
        return {
            "observed": False,
            "reason": kafka.reason.value,
            "message": kafka.message,
            "since": timestamp(kafka.since),
        }
    return {
        "observed": True,
        "observedAt": timestamp(kafka.observed_at),
        "state": kafka.state.value,
        "type": kafka.type.value,
        "assignor": kafka.assignor,
        "members": len(kafka.members),
        "partitions": len(kafka.partitions),
        "calm": kafka.calm,
        "lag": kafka.lag,
        "settings": None if kafka.settings is None else dict(kafka.settings),
    }


def _pod(row: PodRow) -> Json:
    return {
        "name": row.name,
        "ordinal": row.ordinal,
        "version": row.version,
        "ready": row.ready,
        "joined": None if row.joined is None else row.joined.value,
        "restarts": row.restarts,
        "members": [_member(member) for member in row.members],
        "lag": row.lag,
        "note": row.note,
    }


def _member(member: Member) -> Json:
    return {
        "memberId": member.member_id,
        "instanceId": member.instance_id,
        "clientId": member.client_id,
        "host": member.host.lstrip("/"),
        "partitions": _partitions(member.assignment),
    }


def _partitions(partitions: Iterable[TopicPartition]) -> list[str]:
    return [str(partition) for partition in sorted(partitions)]
