"""DrainCutover: all pods stop, their members are taken out, and all start with the other protocol (F3).

For profiles that may not be in one group together. What comes next is told by the world alone, so it goes on after a
crash wherever it was. Once begun it is finished whatever else is asked: everybody waits for it. What keeps it from
being finished has `rejoinTimeout`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from slackwater.api.annotations import ABORT
from slackwater.api.rollout import OnFailure
from slackwater.core.decision.acts import Act, Purpose, RemoveMembers, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason, waiting_for
from slackwater.core.decision.words import by_command, listing
from slackwater.core.fleet.turn import given, not_yet, turn_refusal
from slackwater.core.manifests.template import Template
from slackwater.core.members.ownership import find_strangers, given_ordinal, strangers_in_words
from slackwater.core.members.seen import was_in_it
from slackwater.core.rollout.ending import can_go_back, fail, may_fail
from slackwater.core.rollout.failure import Failure
from slackwater.core.rollout.gates import observation_is_fresh, rollout_is_allowed
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import GroupObservation, GroupState, refs
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import profile_in
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World

_SOON_S: Final = 1.0
_NOBODY: Final = (GroupState.EMPTY, GroupState.DEAD)


def is_due(world: World, workload: Workload, template: Template) -> bool:
    """Whether pods, or those that the StatefulSet would make, could meet pods with `template` that they must not."""
    upgrade = world.memory.upgrade
    if upgrade is None or not upgrade.drains:
        return False
    wanted = profile_in(template.body)
    if profile_in(workload.template) is not wanted or any(
        pod.protocol is not wanted for pod in _pods_that_count(world)
    ):
        return True
    if workload.replicas == 0 < world.replicas and wanted is upgrade.here:
        return True  # made again after it was deleted: members of the pods before may be in the group
    # Until the controller calls the new revision the current one, a pod parked by a change would come back as before.
    changed = workload.template_hash != template.hash
    return changed and workload.current_revision != workload.update_revision


def all_start(world: World, workload: Workload) -> bool:
    """All were stopped, and were started with a template of which nothing was noted yet, since the operator died right
    after: whoever ends meanwhile has to come back with it."""
    upgrade = world.memory.upgrade
    starts = upgrade is not None and upgrade.drains and upgrade.stopped_at is not None and workload.replicas > 0
    known = world.memory.revisions.get(workload.name, workload.current_revision)
    return starts and known == workload.current_revision != workload.update_revision


def made_again(world: World, made: WriteWorkload, template: Template) -> WriteWorkload:
    """A StatefulSet that was deleted meanwhile: it starts nobody before those of the other protocol have left."""
    upgrade = world.memory.upgrade
    waits = upgrade is not None and upgrade.drains and profile_in(template.body) is upgrade.here
    return replace(made, replicas=0) if waits else made


def _pods_that_count(world: World) -> Iterator[Pod]:
    """Without those that were told to stop and cannot end, as on a lost node: others were started without them."""
    upgrade = world.memory.upgrade
    stopped_at = upgrade.stopped_at if upgrade is not None else None
    return (pod for pod in world.pods if not pod.terminating or pod.created_at >= (stopped_at or 0.0))


def next_step(world: World, workload: Workload, template: Template) -> Decision:
    """The order is: stop, take the members out, start. The next of these, or what is being waited for."""
    world = _since_now_at_the_latest(world, workload)
    if world.replicas == 0 < workload.replicas:  # nothing is asked before that, as anywhere else
        act = _stop(world, workload)
        return Decision(_with_the_moment(world, act), act=act)
    following = _following(world, workload, template)
    if isinstance(following, Hold):
        return _stands_still(world, workload, following) or Decision(world.memory, hold=following)
    memory = _with_the_moment(world, following)
    if isinstance(following, RemoveMembers):  # who comes by an id after it is somebody else
        memory = replace(memory, removed={**memory.removed, **dict(following.members)})
    return Decision(memory, act=following)


def _since_now_at_the_latest(world: World, workload: Workload) -> World:
    """All pods were stopped before, as by `replicas: 0`, or the moment was lost with the status: it counts from now."""
    memory, upgrade = world.memory, world.memory.upgrade
    known = upgrade is None or upgrade.stopped_at is not None
    if known or workload.replicas > 0 or world.replicas == 0 or upgrade is None:
        return world
    return world.remembering(replace(memory, upgrade=replace(upgrade, stopped_at=world.now)))


def _with_the_moment(world: World, act: Act) -> RolloutMemory:
    """From when on nobody consumes. It stays when they are to start, which may fail; another stop has its own."""
    memory, upgrade = world.memory, world.memory.upgrade
    if upgrade is None or not isinstance(act, WriteWorkload) or act.purpose is not Purpose.DRAIN:
        return memory
    stopped = replace(memory, upgrade=replace(upgrade, stopped_at=world.now))
    return given(world, stopped) if world.replicas > 0 else stopped


def _is_overdue(world: World) -> bool:
    """All pods were stopped longer than `rejoinTimeout` ago."""
    upgrade, timeout_s = world.memory.upgrade, world.group.spec.rollout.rejoin_timeout_s
    return upgrade is not None and upgrade.stopped_at is not None and world.now - upgrade.stopped_at > timeout_s


def _stands_still(world: World, workload: Workload, hold: Hold) -> Decision | None:
    """Nobody consumes, and something has kept everybody from starting for too long: back, where `onFailure` says so.

    Also where Kafka does not show the group, as when `Describe` is denied. The way back then begins blind: since the
    stop no pod was started, so the members in the group are those of the pods that come back. A stranger there can at
    worst keep them out, and nobody consumes anyway. Where pods had the other protocol before the stop, the way back is
    a stop of its own (`is_due`), and starts nobody before the group was seen to be empty.
    """
    if workload.replicas > 0 or world.replicas == 0 or not _is_overdue(world) or _may_pass(world):
        return None
    message = f"all consumers are stopped, and nobody consumes: {hold.message}"
    goes_back = can_go_back(world.memory) and not world.memory.phase.goes_back
    if may_fail(world) and world.group.spec.rollout.on_failure is OnFailure.ROLLBACK and goes_back:
        return fail(world, Failure(Reason.DRAIN_STANDS_STILL, message, 0))
    way_on = f". {by_command(ABORT, world.group.name)} goes back" if goes_back else ""
    return Decision(world.memory, hold=Hold(Reason.DRAIN_STANDS_STILL, f"{message}{way_on}", _SOON_S))


def _may_pass(world: World) -> bool:
    """The group is out of sight, and has not been for all of `rejoinTimeout`. No version is given up for one look that
    failed or was refused, nor since an operator that has just started has not looked yet."""
    kafka, timeout_s = world.kafka, world.group.spec.rollout.rejoin_timeout_s
    return not isinstance(kafka, GroupObservation) and world.now - kafka.since <= timeout_s


def _are_lost(world: World, kafka: GroupObservation) -> bool:
    """The pods that are left cannot end, as on a node that is gone, and their members are out of the group: a client of
    theirs that came back could not join one with the other protocol, so that they harm nobody."""
    ending = not world.loose and all(pod.terminating for pod in world.pods)
    return ending and _is_overdue(world) and not kafka.members and kafka.state in _NOBODY


def _following(world: World, workload: Workload, template: Template) -> Act | Hold:
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation):
        return Hold(kafka.reason, kafka.message, _SOON_S)
    if workload.replicas > 0:
        return _may_not_begin(world, kafka) or _stop(world, workload)
    if not workload.settled or ((world.pods or world.loose) and not _are_lost(world, kafka)):
        names = listing(pod.name for pod in world.pods) or "all pods"
        return waiting_for(Reason.DRAINING, f"{names} to end", _SOON_S)
    ours = refs(member for member in kafka.members if given_ordinal(world, member) is not None)
    if ours and was_in_it(world):
        return RemoveMembers(ours, "their pods have ended, so that the group can change its protocol")
    if strangers := find_strangers(world, kafka):
        who = strangers_in_words(world, strangers)
        return Hold(Reason.FOREIGN_MEMBERS, f"members that we do not run keep the group: {who}. Stop them", _SOON_S)
    if kafka.state not in _NOBODY:
        return Hold(Reason.DRAINING, f"all pods have ended; waiting for the group, which is {kafka.state}", _SOON_S)
    return WriteWorkload(
        purpose=Purpose.START,
        template=template.body,
        replicas=world.replicas,
        strategy=UpdateStrategy.ROLLING_UPDATE,
        partition=0,
        resource_version=workload.resource_version,
        name=workload.name,
    )


def _may_not_begin(world: World, kafka: GroupObservation) -> Hold | None:
    if hold := turn_refusal(world):
        return hold
    nobody: frozenset[int] = frozenset()
    for gate in (observation_is_fresh, rollout_is_allowed):
        if hold := gate(world, kafka, nobody):
            return not_yet(world, hold)
    if strangers := find_strangers(world, kafka):
        who = strangers_in_words(world, strangers)
        message = f"members that we do not run are in the group: {who}. Stop them, or give them another group.id"
        return Hold(Reason.FOREIGN_MEMBERS, message, 5.0)
    return None


def _stop(world: World, workload: Workload) -> WriteWorkload:
    """With the template that stands there: nothing else changes."""
    return WriteWorkload(
        purpose=Purpose.DRAIN,
        template=workload.template,
        replicas=0,
        strategy=UpdateStrategy.ROLLING_UPDATE,
        partition=0,
        resource_version=workload.resource_version,
        name=workload.name,
    )
