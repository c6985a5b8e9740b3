"""How a rollout begins: what is remembered at its start, and which template it runs."""

from __future__ import annotations

from dataclasses import replace

from slackwater.api.annotations import TEMPLATE_HASH
from slackwater.core.manifests.template import Template
from slackwater.core.timeouts.classic import classic_timeouts
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World


def session_timeout_ms(world: World) -> int:
    return classic_timeouts(world.group.spec.timeouts, world.memory.session_bounds).session_ms


def started(world: World, memory: RolloutMemory, wanted: Template) -> RolloutMemory:
    lag = world.kafka.lag if isinstance(world.kafka, GroupObservation) else None
    workload = _workload_in_use(world) if not memory.last_good_revision and memory.phase.at_rest else None
    return replace(
        memory,
        phase=RolloutPhase.PROGRESSING,
        target_hash=wanted.hash,
        failed_hash="",
        last_good_revision=workload.update_revision if workload is not None else memory.last_good_revision,
        last_good_hash=workload.template_hash if workload is not None else memory.last_good_hash,
        started_at=world.now,
        retried_at=None,
        lag_before=lag,
        session_timeout_ms=max(memory.session_timeout_ms, session_timeout_ms(world)),
        step=None,
        handover=replace(memory.handover, fenced=0, cold=False) if memory.handover is not None else None,
        canary=None,
        message="",
    )


def _workload_in_use(world: World) -> Workload | None:
    """What every pod runs, and is Ready with: the last good version, where the memory of it was lost."""
    pods = world.wanted_pods
    in_use = bool(pods) and all(pod.ready for pod in pods) and not world.outdated
    return world.workload if in_use and world.settled else None


def with_pod_made(world: World, memory: RolloutMemory) -> RolloutMemory:
    step = memory.step
    pod = world.pod(step.ordinal) if step is not None else None
    if step is None or step.made or pod is None or pod.created_at < int(step.started_at):
        return memory
    return replace(memory, step=replace(step, made=True))


def template_to_run(world: World, memory: RolloutMemory, wanted: Template) -> Template | None:
    if not memory.phase.goes_back:
        return wanted
    if world.last_good_template is None:
        return None
    annotations = world.last_good_template.get("metadata", {}).get("annotations", {})
    return Template(annotations.get(TEMPLATE_HASH, ""), world.last_good_template)
