"""Pods and what runs them, as kubectl tells them in JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.demo.modes import Kind

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pod:
    """One consumer's pod. `version` is what its template said, `state` one word for a person."""

    name: str
    uid: str
    version: str
    ready: bool
    terminating: bool
    state: str
    restarts: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rollout is. `failed` is a sentence when it ended otherwise than by reaching its goal."""

    done: bool
    phase: str
    """For a person: what whoever rolls out says that it is doing."""
    rolled_back: bool = False
    failed: str = ""


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
    conditions = {condition["type"]: condition for condition in status.get("conditions", ())}
    progressing, gated = conditions.get("Progressing"), conditions.get("RolloutGated")
    if progressing is None:
        return Progress(done=False, phase="no condition Progressing yet")
    if progressing["status"] != "False":
        is_held = gated is not None and gated["status"] == "True"
        told = f"{gated['reason']}: {gated['message']}" if is_held and gated else progressing["message"]
        return Progress(done=False, phase=f"{progressing['reason']} · {told}")
    reason, message = progressing["reason"], progressing["message"]
    phase = f"{reason} · {message}"
    if reason == "RolloutComplete":
        return Progress(done=True, phase=phase)
    if reason == "RolledBack":
        return Progress(done=True, phase=phase, rolled_back=True)
    if reason == "RolloutFailed":
        return Progress(done=True, phase=phase, failed=message)
    return Progress(done=False, phase=phase)


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
