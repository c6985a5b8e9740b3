"""Pods and what runs them, as kubectl tells them in JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from demo.modes import Kind

Json = Mapping[str, Any]

_PROFILE = "slackwater.dev/protocol"
"""The annotation by which the operator's pods tell which protocol's settings they were made with."""


@dataclass(frozen=True, slots=True)
class Pod:
    """One consumer's pod. `version` is what its template said, `profile` which protocol's settings the operator made it
    with, if it did; `state` is one word for a person."""

    name: str
    uid: str
    version: str
    ready: bool
    terminating: bool
    state: str
    restarts: int
    profile: str = ""
    runs: bool = False
    """Whether its process does, at this moment."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rollout is. `failed` is a sentence when it ended otherwise than by reaching its goal."""

    done: bool
    phase: str
    """For a person: what whoever rolls out says that it is doing."""
    rolled_back: bool = False
    failed: str = ""
    step: str = ""
    """The step of an upgrade that is in hand, such as "1 of 2"."""
    protocol: str = ""
    """Of an operator's group: the protocol that it has or, during an upgrade, from where to where and how."""


def consumer_pods(items: Iterable[Json]) -> tuple[Pod, ...]:
    """In the order of their names."""
    return tuple(sorted((_pod(item) for item in items), key=lambda pod: pod.name))


def progress(kind: Kind, workload: Json) -> Progress:
    """How far the rollout of the object's newest spec is, by its own status."""
    status = workload.get("status") or {}
    if status.get("observedGeneration", 0) < workload["metadata"]["generation"]:
        return Progress(done=False, phase="not noticed yet")
    if kind is Kind.CONSUMER_GROUP:
        return _consumer_group(status)
    replicas = workload["spec"]["replicas"]
    updated, ready = status.get("updatedReplicas", 0), status.get("readyReplicas", 0)
    phase = f"{updated} of {replicas} updated, {ready} ready"
    if kind is Kind.DEPLOYMENT:
        available = status.get("availableReplicas", 0)
        return Progress(updated == available == status.get("replicas", 0) == replicas, phase)
    one_revision = status.get("currentRevision") == status.get("updateRevision")
    return Progress(one_revision and updated == ready == replicas, phase)


def _consumer_group(status: Json) -> Progress:
    told = _protocol(status.get("protocol") or {})
    conditions = {condition["type"]: condition for condition in status.get("conditions", ())}
    progressing, gated = conditions.get("Progressing"), conditions.get("RolloutGated")
    if progressing is None:
        return replace(told, phase="no condition Progressing yet")
    if refusal := _refusal(conditions.get("ProtocolUpgrade"), told):
        return replace(told, done=True, phase=refusal, failed=refusal)
    if progressing["status"] != "False":
        is_held = gated is not None and gated["status"] == "True"
        why = f"{gated['reason']}: {gated['message']}" if is_held and gated else progressing["message"]
        return replace(told, phase=f"{progressing['reason']} · {why}")
    reason, message = progressing["reason"], progressing["message"]
    ended = replace(told, phase=f"{reason} · {message}")
    if reason == "RolloutComplete":
        return replace(ended, done=not told.step)
    if reason == "RolledBack":
        return replace(ended, done=True, rolled_back=True)
    if reason == "RolloutFailed":
        return replace(ended, done=True, failed=message)
    return ended


def _protocol(status: Json) -> Progress:
    """The part of the progress that is about the protocol."""
    step, current = status.get("step", ""), status.get("current", "")
    if not step:
        return Progress(done=False, phase="", protocol=current)
    way = f"{status.get('from', '')} → {status.get('to', '')}, {status.get('strategy', '')}, step {step}"
    return Progress(done=False, phase="", step=step, protocol=way)


def _refusal(upgrade: Json | None, told: Progress) -> str:
    """Why the operator does not take the group to the protocol that is asked for; empty when it does."""
    if upgrade is None or upgrade["status"] == "True" or upgrade["reason"] == "ProtocolAsWanted" or told.step:
        return ""
    return f"{upgrade['reason']}: {upgrade['message']}"


def _pod(item: Json) -> Pod:
    metadata, status = item["metadata"], item.get("status") or {}
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions", ()))
    containers = status.get("containerStatuses") or ()
    terminating = "deletionTimestamp" in metadata
    return Pod(
        name=metadata["name"],
        uid=metadata["uid"],
        version=_version(item["spec"]["containers"][0]),
        ready=ready,
        terminating=terminating,
        state=_state(status, containers, ready=ready, terminating=terminating),
        restarts=sum(container.get("restartCount", 0) for container in containers),
        profile=metadata.get("annotations", {}).get(_PROFILE, ""),
        runs=any("running" in container.get("state", {}) for container in containers),
    )


def _version(container: Json) -> str:
    return next((entry.get("value", "") for entry in container.get("env", ()) if entry["name"] == "VERSION"), "?")


def _state(status: Json, containers: Iterable[Json], *, ready: bool, terminating: bool) -> str:
    if terminating:
        return "ending"
    waiting = (container.get("state", {}).get("waiting", {}).get("reason") for container in containers)
    stuck = next((reason for reason in waiting if reason), None)
    if stuck is not None:
        return str(stuck)
    return "Ready" if ready else "starting" if status.get("phase") == "Running" else str(status.get("phase", "?"))
