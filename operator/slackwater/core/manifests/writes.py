"""The StatefulSet as it is to be written, where no pod is to move by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.manifests.template import Template
from slackwater.core.world.two_sets import name_to_make, set_of
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World


def shape(world: World, template: Template, purpose: Purpose) -> WriteWorkload:
    """The StatefulSet with every pod held where it is; those that come where there is none have this template.

    Below the partition they would be made from the revision before: perhaps the version that they were stopped for, or
    on the way back the one that is given up.
    """
    workload = world.workload
    none_there = workload is not None and workload.replicas == 0 and not world.pods
    back = world.memory.phase.goes_back or _is_gone_back_to(world, template.hash)
    goes_back = purpose is Purpose.TAKE_TEMPLATE and back
    held = 0 if none_there else up_to_the_highest(world) if goes_back else world.replicas
    return WriteWorkload(
        purpose=purpose,
        template=template.body,
        replicas=world.replicas,
        strategy=UpdateStrategy.ROLLING_UPDATE,
        partition=held,
        resource_version=workload.resource_version if workload is not None else "",
        name=workload.name if workload is not None else name_to_make(world.group.name, world.orphans),
    )


def up_to_the_highest(world: World) -> int:
    """Of the pods that are there and do not end; also of those that the StatefulSet is yet to take back."""
    there = {pod.ordinal for pod in world.wanted_pods if not pod.terminating}
    name = world.workload.name if world.workload is not None else ""
    taken_back = {int(pod.rpartition("-")[2]) for pod in world.orphans if set_of(pod) == name}
    return max((ordinal + 1 for ordinal in there | taken_back if ordinal < world.replicas), default=0)


def keeps_the_good_one(world: World, workload: Workload) -> bool:
    """It holds the last good version, and another one is asked for, or was: what is made above its partition has the
    good one, and what is made below perhaps the one that was given up. Under `OnDelete` it has no partition, and its
    newest revision is not what its template says where somebody has edited it."""
    memory = world.memory
    by_partition = workload.strategy is UpdateStrategy.ROLLING_UPDATE
    is_ours = workload.as_written or memory.revisions.get(workload.name) == workload.update_revision
    return by_partition and is_ours and _is_gone_back_to(world, workload.template_hash)


def _is_gone_back_to(world: World, template_hash: str) -> bool:
    memory = world.memory
    another = memory.last_good_hash != memory.target_hash or bool(memory.given_up_before)
    return template_hash == memory.last_good_hash != "" and another


def written(
    workload: Workload, purpose: Purpose, start: int, replicas: int, ordinal: int | None = None
) -> WriteWorkload:
    """With the template that it has: what changes is how many pods it makes."""
    return WriteWorkload(
        purpose=purpose,
        template=workload.template,
        replicas=replicas,
        strategy=UpdateStrategy.ROLLING_UPDATE,
        partition=replicas,  # counted from `start`
        resource_version=workload.resource_version,
        ordinal=ordinal,
        name=workload.name,
        start=start,
    )


def opened(name: str, template: Mapping[str, Any]) -> WriteWorkload:
    """The second StatefulSet, without a pod yet."""
    return WriteWorkload(
        purpose=Purpose.OPEN_BESIDE,
        template=template,
        replicas=0,
        strategy=UpdateStrategy.ROLLING_UPDATE,
        partition=0,
        resource_version="",
        name=name,
    )


def put_right(workload: Workload, template: Mapping[str, Any]) -> WriteWorkload:
    """With the template that it was made with, after somebody has edited it; no pod moves."""
    return written(replace(workload, template=template), Purpose.TAKE_TEMPLATE, workload.start, workload.replicas)


def in_place(
    world: World, workload: Workload, template: Template, purpose: Purpose, partition: int, ordinal: int | None = None
) -> WriteWorkload:
    out_of_order = purpose is Purpose.OPEN_OUT_OF_ORDER
    return WriteWorkload(
        purpose=purpose,
        template=template.body,
        replicas=world.replicas,
        strategy=UpdateStrategy.ON_DELETE if out_of_order else UpdateStrategy.ROLLING_UPDATE,
        partition=partition,
        resource_version=workload.resource_version,
        ordinal=ordinal,
        name=workload.name,
    )
