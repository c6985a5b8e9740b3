"""Pods whose StatefulSet was deleted without them: one of its name takes them back, and no other one has their place.

A pod of the other StatefulSet would have the same instance id, and the two would fence each other as long as both live.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slackwater.api.annotations import ABORT, PAUSE
from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import by_command, listing
from slackwater.core.manifests.template import Template
from slackwater.core.manifests.writes import keeps_the_good_one, put_right, up_to_the_highest, written
from slackwater.core.members.presence import absent_since, serves
from slackwater.core.world.handover import Handover, TakenOver
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.two_sets import name_to_make, set_of
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World


def in_the_way(world: World) -> Hold | None:
    """Orphans of the other StatefulSet than the one that there is, or that is made next: nothing is made beside them.

    To make theirs again would end those above its number of pods, and which of them work nobody knows.
    """
    left = world.once(left_over)
    if not left:
        return None
    names = [left[ordinal] for ordinal in sorted(left)]
    message = (
        f"a StatefulSet was deleted without its pods {listing(names)}, whose instance ids those of {_made(world)} need."
        f" {_way_on(world, names)}"
    )
    return Hold(Reason.ORPHANED_PODS, message, 30.0)


def up_to_them(world: World, template: Template) -> WriteWorkload | None:
    """The StatefulSet with the pods that nobody is in the way of any more, without one that an orphan holds the ordinal
    of, and none above those that are wanted; None where it has just these.

    `template`: on the way back its pods keep what they have, and those that come get the last good version. So it is
    where a version was given up, and another one is asked for since.
    """
    workload, left = world.workload, world.once(left_over)
    if workload is None or not left or not workload.settled:
        return None
    if (good := _good_instead(world, workload, template)) is not None:
        return replace(put_right(workload, good), partition=up_to_the_highest(world))
    start, end = workload.start, workload.end
    if _are_made_again(world):
        start, end = (0, max(end, min(left))) if start == 0 else (min(start, max(left) + 1), end)
    if (ordinal := _gives_way(world, workload)) is not None:
        start, end = (start, end - 1) if ordinal == end - 1 else (start + 1, end)
    end = max(start, min(end, world.replicas))
    if (start, end) == (workload.start, workload.end):
        return None
    act = written(workload, Purpose.SCALE, start, end - start)
    keeps_it = start == 0 and keeps_the_good_one(world, workload)
    return replace(act, partition=min(workload.partition, act.partition)) if keeps_it else act


def _good_instead(world: World, workload: Workload, template: Template) -> Mapping[str, Any] | None:
    """The template that it is to have, where it holds a version that was given up. Kubernetes counts the pods that keep
    their version from ordinal 0."""
    memory, paused = world.memory, PAUSE in world.group.metadata.annotations
    if paused or world.replicas == 0 or workload.start > 0:
        return None
    if memory.phase.goes_back:
        return template.body if workload.template_hash != template.hash else None
    return world.last_good_template if _holds_what_was_given_up(world, workload) else None


def _holds_what_was_given_up(world: World, workload: Workload) -> bool:
    """And another one is rolled out since."""
    return workload.template_hash == world.memory.given_up_before != ""


def _gives_way(world: World, workload: Workload) -> int | None:
    """The ordinal that was being handed over when the other StatefulSet went, where its orphan works and our pod is on
    its way in, or out: as long as both live, each fences the other."""
    handover = world.memory.handover
    if handover is None or handover.over or handover.held.down or PAUSE in world.group.metadata.annotations:
        return None
    contended = handover.ordinal in world.once(left_over) and handover.ordinal in workload.ordinals
    has_taken_over = isinstance(handover.reached, TakenOver)
    is_ours = (handover.to == workload.name) == has_taken_over
    at_the_edge = handover.ordinal in (workload.start, workload.end - 1)
    return handover.ordinal if contended and at_the_edge and not is_ours and _is_listed(world, handover) else None


def _is_listed(world: World, handover: Handover) -> bool:
    """Whoever held the ordinal's ids has them still, as far as Kafka says."""
    now = {member.instance_id: member.member_id for member in world.members_at(handover.ordinal)}
    return bool(now) and now == dict(handover.held.ids)


def _way_on(world: World, names: list[str]) -> str:
    delete = f"kubectl delete pod -n {world.group.metadata.namespace}"
    if world.workload is None:
        return f"Delete them, and the others are taken back: {delete} {' '.join(names)}"
    phase, name, paused = world.memory.phase, world.group.name, PAUSE in world.group.metadata.annotations
    if phase is RolloutPhase.FAILED and world.replicas > 0:
        back = f"{by_command(ABORT, name)} first" if world.memory.last_good_revision else "apply another one first"
        return f"What would be made in their place has the version that failed: {back}"
    if phase.goes_back and world.replicas > 0 and not paused and not _are_made_again(world):
        return f"Delete them, and the last good version is made in their place: {delete} {' '.join(names)}"
    if paused:
        return f"Remove the annotation {PAUSE}, and they may go one after the other, as each is made again"
    if world.replicas == 0:
        return f"Delete them: {delete} {' '.join(names)}. None of them is made again"
    if away := _away(world, world.workload):
        return f"Once {away} is back in the group, they may go one after the other, as each is made again"
    first = names[0 if world.workload.start == 0 else -1]
    return f"Delete them, one after the other, as each is made again; first: {delete} {first}"


def _away(world: World, workload: Workload) -> str:
    """The name of a pod that is not back yet, of an ordinal that no orphan has; empty where none is waited for: one may
    have a version that never comes, or be refused by Kubernetes."""
    left = world.once(left_over)
    free = (each for each in workload.ordinals if each < world.replicas and each not in left)
    comes = (each for each in free if _may_come_yet(world, each))
    return next((f"{workload.name}-{ordinal}" for ordinal in comes), "")


def _may_come_yet(world: World, ordinal: int) -> bool:
    if (pod := world.pod(ordinal)) is None:
        return not world.why_not_made(ordinal)
    waited_for_s = world.now - absent_since(world, pod)
    return not serves(world, pod) and waited_for_s <= world.group.spec.rollout.rejoin_timeout_s


def _are_made_again(world: World) -> bool:
    """A pod that is deleted comes back at once with the version of the StatefulSet that there is."""
    memory, paused = world.memory, PAUSE in world.group.metadata.annotations
    workload = world.workload
    has_the_good_one = workload is not None and (workload.template_hash == memory.last_good_hash or workload.start == 0)
    gives_up = memory.phase is RolloutPhase.FAILED or (memory.phase.goes_back and not has_the_good_one)
    gives_up |= workload is not None and workload.start > 0 and _holds_what_was_given_up(world, workload)
    return world.replicas > 0 and not paused and not gives_up


def left_over(world: World) -> dict[int, str]:
    """By ordinal, those that no StatefulSet will take back."""
    taken_back = {_made(world), *(each.name for each in world.sets)}
    return {int(pod.rpartition("-")[2]): pod for pod in world.orphans if set_of(pod) not in taken_back}


def _made(world: World) -> str:
    return world.workload.name if world.workload is not None else name_to_make(world.group.name, world.orphans)
