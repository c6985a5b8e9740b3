"""The upgrade in hand: when one begins, which step comes next, and how it turns back.

A step is begun by the memory alone: the next pass renders the template with the step's profile, which is a rollout like
any other. So a change of the template, of the replicas or a rollback in the middle needs nothing of its own here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.manifests.template import gave_the_same
from slackwater.core.protocol.origin import group_shows
from slackwater.core.protocol.preflight import Way, can_make, find_way
from slackwater.core.world.memory import RolloutPhase, Upgrade
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.profile import Profile, StrategyName, profile_in, profile_of
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World

_SOON_S: Final = 1.0


def set_course(world: World) -> Decision:
    """The profile that pods are to be given now, and how it goes on from there."""
    memory, target = world.memory, world.group.spec.protocol.target
    upgrade = memory.upgrade
    if world.workload is None and memory.phase is RolloutPhase.NONE:
        wanted = profile_of(target) if target is not None else Profile.OWN_CHOICE
        return Decision(replace(memory, protocol=wanted), refusal=can_make(world, wanted))
    if world.workload is not None and not memory.target_hash:  # the status was lost, or the StatefulSet adopted
        here = _shown_by_pods(world, profile_in(world.workload.template))
        memory = replace(memory, protocol=here, upgrade=_two_bounces_in_hand(world, here))
        upgrade = memory.upgrade
        world = world.remembering(memory)
    world = _still_asked_for(world)
    memory, upgrade = world.memory, world.memory.upgrade
    if target is None:
        return _without_target(world)
    wanted = profile_of(target)
    if upgrade is not None:
        return _turn(world, upgrade, wanted) if wanted is not upgrade.target else Decision(memory)
    return Decision(memory) if wanted is memory.protocol else _begin(world, wanted)


def _without_target(world: World) -> Decision:
    """A group keeps what it has, and finishes what is in hand; but not what was given up: nobody asks for it now."""
    memory, upgrade = world.memory, world.memory.upgrade
    if upgrade is None or upgrade.returning or not memory.phase.gave_up:
        return Decision(memory)
    if not memory.target_given or gave_the_same(world):  # an operator before this one did not note what was given
        return Decision(memory)
    before = {pod.protocol for pod in world.pods} - {upgrade.here}
    return _go_back(world, upgrade, before.pop() if len(before) == 1 else upgrade.way_back)


def _still_asked_for(world: World) -> World:
    """A step that no pod is given is dropped where its target is another one by now, or none, or where the permission
    to stop all for it was taken away. So is the undoing of one for which nobody may be stopped any more."""
    memory, upgrade, target = world.memory, world.memory.upgrade, world.group.spec.protocol.target
    if upgrade is None or _has_begun(world, upgrade):
        return world
    given_up = memory.phase.gave_up and gave_the_same(world)
    permitted = given_up or not _stops_without_permission(world, upgrade)
    asked_for = upgrade.returning or (target is not None and profile_of(target) is upgrade.target)
    if asked_for and permitted:
        return world
    has = upgrade.origin if upgrade.returning else upgrade.way_back
    return world.remembering(replace(memory, upgrade=None, protocol=_shown_by_pods(world, has)))


def _stops_without_permission(world: World, upgrade: Upgrade) -> bool:
    somebody = isinstance(world.kafka, GroupObservation) and bool(world.kafka.members)
    return upgrade.drains and somebody and not world.group.spec.protocol.allow_downtime


def _has_begun(world: World, upgrade: Upgrade) -> bool:
    """Some pod has its profile, or would be made with it; or all were stopped for it."""
    stopped = upgrade.stopped_at is not None and any(each.replicas == 0 for each in world.sets)
    made = (profile_in(each.template) for each in world.sets if each.partition < each.end)
    return upgrade.step > 1 or stopped or upgrade.here in {*(pod.protocol for pod in world.all_pods), *made}


def _shown_by_pods(world: World, of_template: Profile) -> Profile:
    """Where the group is: a template that no pod has was written, and its rollout had not begun with any."""
    found = {pod.protocol for pod in world.pods}
    return found.pop() if len(found) == 1 else of_template


def _two_bounces_in_hand(world: World, here: Profile) -> Upgrade | None:
    """Which pods are still at, as they show: what was remembered of it went with the status.

    No other way needs that: there is nothing after its first step, or the pods may not mix and none is left behind.
    """
    target, behind = world.group.spec.protocol.target, {pod.protocol for pod in world.pods} - {here}
    if here is not Profile.EAGER_AND_COOPERATIVE or target is None or len(behind) != 1:
        return None
    origin, wanted = behind.pop(), profile_of(target)
    if {origin, wanted} != {Profile.EAGER, Profile.COOPERATIVE}:
        return None
    return Upgrade(origin, StrategyName.TWO_BOUNCE, (here, wanted), started_at=world.now)


def finish_step(world: World, workload: Workload) -> Decision:
    """Every pod is on the revision and all gates hold: is the step proven, and what comes next?"""
    memory, upgrade = world.memory, world.memory.upgrade
    if upgrade is None:
        return Decision(memory)
    if hold := _unproven(world, workload, upgrade):
        return Decision(memory, refusal=hold)
    step = f"step {upgrade.step} of {len(upgrade.path)}"
    done = Note(Reason.UPGRADE_STEP_DONE, f"{step} is done: the group is on {upgrade.here.words}")
    if upgrade.step < len(upgrade.path):
        following = replace(upgrade, step=upgrade.step + 1)
        return Decision(replace(memory, upgrade=following, protocol=following.here), notes=(done,))
    what = f"the group is on {upgrade.target.words}, by {upgrade.strategy}"
    if upgrade.returning:
        what = f"the step was undone: the group is on {upgrade.target.words} again"
    return Decision(replace(memory, upgrade=None), notes=(Note(Reason.UPGRADE_COMPLETE, what),))


def _begin(world: World, wanted: Profile) -> Decision:
    memory, way = world.memory, find_way(world, world.memory.protocol, wanted)
    if not isinstance(way, Way):
        return Decision(memory, refusal=way)
    if memory.phase.gave_up and gave_the_same(world):
        return Decision(memory)  # the target was asked for together with what failed
    made_with = memory.protocol if memory.protocol is not way.origin else None
    upgrade = Upgrade(way.origin, way.strategy.name, way.strategy.path, started_at=world.now, made_with=made_with)
    over = ", ".join(profile.words for profile in upgrade.path)
    what = f"from {way.origin.words} over {over} by {upgrade.strategy}" if len(upgrade.path) > 1 else ""
    what = what or f"from {way.origin.words} to {wanted.words} by {upgrade.strategy}"
    note = Note(Reason.UPGRADE_STARTED, f"taking the group {what}")
    return Decision(replace(memory, upgrade=upgrade, protocol=upgrade.here), notes=(note,))


def _turn(world: World, upgrade: Upgrade, wanted: Profile) -> Decision:
    """Another target in the middle of a step: first undo the step, since from there the way is known to be open."""
    memory = world.memory
    if upgrade.here is wanted:  # the step in hand leads there, and no further step is needed
        return Decision(replace(memory, upgrade=replace(upgrade, path=upgrade.path[: upgrade.step])))
    if upgrade.returning and wanted is not upgrade.origin:
        return Decision(memory)
    return _go_back(world, upgrade, upgrade.way_back)


def _go_back(world: World, upgrade: Upgrade, to: Profile) -> Decision:
    if _stops_without_permission(world, upgrade):
        message = (
            f"pods have {upgrade.here.words} and may not meet any with {to.words}, so undoing the step stops all"
            f" consumers once more: set protocol.allowDowntime to true, or protocol.target to {upgrade.here}"
        )
        return Decision(world.memory, refusal=Hold(Reason.MIXED_ASSIGNORS_UNSUPPORTED, message, 30.0))
    back = Upgrade(upgrade.here, upgrade.strategy, (to,), returning=True, started_at=upgrade.started_at)
    what = f"the target changed in the middle of a step: its pods go back to {to.words} first"
    if world.group.spec.protocol.target is None:
        what = f"the target of a step that was given up was taken away: its pods go back to {to.words}"
    note = Note(Reason.UPGRADE_RETURNING, what)
    return Decision(replace(world.memory, upgrade=back, protocol=back.here), notes=(note,))


def _unproven(world: World, workload: Workload, upgrade: Upgrade) -> Hold | None:
    if workload.current_revision != workload.update_revision:
        # Until then a pod that is evicted comes back with the profile before: one too far from the next (F2).
        message = "every pod has the new settings; waiting for the StatefulSet controller to make them the current ones"
        return Hold(Reason.STATEFUL_SET_NOT_OBSERVED, message, _SOON_S)
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation):
        return Hold(kafka.reason, kafka.message, _SOON_S)
    if world.replicas == 0 or upgrade.here is Profile.OWN_CHOICE:
        return None
    if not group_shows(kafka, upgrade.here, world.group.spec.client.library):
        seen = f"a {kafka.type} group with assignor {kafka.assignor or 'none'}"
        message = (
            f"every pod has the settings of {upgrade.here.words}, but Kafka shows {seen}: do the consumers use them?"
        )
        return Hold(Reason.STEP_NOT_PROVEN, message, 5.0)
    return None
