"""Pods that a StatefulSet's controller should have made by now.

It tries again by itself, but after a failure it waits twice as long as before, up to 1,000 s, and nothing wakes it
where what it waits for belongs to another object: a pod of a StatefulSet that was deleted, a quota.
"""

from __future__ import annotations

from collections.abc import Mapping

from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World


def find_unmade(world: World) -> Mapping[str, Workload]:
    """Names of pods that are missing, while nobody else has the name → the StatefulSet that lacks them."""
    ours = (each for each in world.sets if each.owner_uid == world.group.metadata.uid and not each.is_ending)
    return {f"{each.name}-{ordinal}": each for each in ours for ordinal in _lacking(world, each)}


def _lacking(world: World, workload: Workload) -> list[int]:
    pods = {pod.ordinal: pod for pod in world.all_pods if pod.workload == workload.name}
    lacking = list[int]()
    for ordinal in workload.ordinals:
        if ordinal not in pods and ordinal not in world.loose:
            lacking.append(ordinal)
        if workload.in_order and (ordinal not in pods or not pods[ordinal].ready):
            break  # those above it are not made before it is Ready
    return lacking
