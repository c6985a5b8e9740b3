"""The StatefulSet as it is to be written, where no pod is to move by it."""

from __future__ import annotations

from dataclasses import replace

from slackwater.core.acts import Purpose, WriteWorkload
from slackwater.core.canary import canary_ahead
from slackwater.core.manifests import Template
from slackwater.core.memory import RolloutPhase
from slackwater.core.world import UpdateStrategy, Workload, World


def shape(world: World, template: Template, purpose: Purpose) -> WriteWorkload:
    """The StatefulSet with every pod held where it is."""
    return WriteWorkload(
        purpose=purpose,
        template=template.body,
        replicas=world.replicas,
        strategy=UpdateStrategy.ROLLING_UPDATE,
        partition=world.replicas,
        resource_version=world.workload.resource_version if world.workload is not None else "",
        name=world.workload.name if world.workload is not None else world.group.name,
    )


def scale(world: World, workload: Workload, template: Template) -> WriteWorkload:
    replicas = world.replicas
    parked = workload.partition >= workload.replicas
    in_doubt = world.memory.phase is RolloutPhase.FAILED or canary_ahead(world)
    held = parked or (in_doubt and replicas > workload.replicas)  # more pods must not mean more of an untried version
    partition = replicas if held else min(workload.partition, replicas)
    strategy = UpdateStrategy.ROLLING_UPDATE if held else workload.strategy
    return replace(shape(world, template, Purpose.SCALE), strategy=strategy, partition=partition)
