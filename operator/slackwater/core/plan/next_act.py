"""Which act is next, where it is known what is wanted and which phase the rollout is in.

The order of `ACTS` is the order of precedence: the first that has something to do or to wait for decides. Each is asked
only where those before it had nothing to say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from slackwater.core import handover
from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import listing
from slackwater.core.manifests.drift import holds
from slackwater.core.manifests.objects import with_service_account
from slackwater.core.manifests.template import Template
from slackwater.core.manifests.writes import shape
from slackwater.core.members.refused import last_chance
from slackwater.core.plan.first_pods import first_pods
from slackwater.core.plan.foreign import in_the_way
from slackwater.core.plan.rolled import rolled
from slackwater.core.protocol import cutover
from slackwater.core.protocol.upgrade import finish_step
from slackwater.core.rollout import orphans
from slackwater.core.rollout.canary import is_broken_off
from slackwater.core.rollout.ending import can_go_back, fail, go_back, is_proven, is_well, may_fail, what_next
from slackwater.core.rollout.failure import find_failure
from slackwater.core.rollout.in_place import lets_go, next_move, stays_for_another
from slackwater.core.rollout.scaling import put_back, rests_as_scaled, scale, scaled_by_turn
from slackwater.core.rollout.volumes import are_worth_waiting_for, change_claims
from slackwater.core.upkeep import upkeep
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.profile import can_mix, profile_in
from slackwater.core.world.two_sets import Beside
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World

FoundAct = Callable[[World, Workload, Template], Decision | None]
"""What is to be done, of one kind; None where nothing of that kind is."""


def next_act(world: World, template: Template) -> Decision:
    """At most one act. `template`: what all pods are to be made with in the end."""
    workload, orphaned = world.workload, orphans.in_the_way(world)
    if orphaned is not None:
        return _around(world, workload, template, orphaned)
    if workload is None:
        return first_pods(world, template)
    found = (act(world, workload, template) for act in ACTS)
    return next((decision for decision in found if decision is not None), Decision(world.memory))


def _around(world: World, workload: Workload | None, template: Template, orphaned: Hold) -> Decision:
    """What is done while orphans keep the rollout: a version that has failed spreads no further."""
    if workload is None or (act := orphans.up_to_them(world, template)) is not None:
        return Decision(world.memory, None if workload is None else act, orphaned)
    return give_up(world, workload, template) or upkeep(world, workload) or Decision(world.memory, hold=orphaned)


def hand_over(world: World, workload: Workload, template: Template) -> Decision | None:
    """While there are two StatefulSets: first what is under way, then the next ordinal."""
    return _between_two(world, world.beside, workload, template) if world.beside is not None else None


def cut_over(world: World, workload: Workload, template: Template) -> Decision | None:
    """Protocols that cannot share a group: stop everybody, take the members out, start."""
    if not cutover.is_due(world, workload, template):
        return None
    step = cutover.next_step(world, workload, template)
    waits_to_begin = step.act is None and workload.replicas > 0
    return (_meanwhile(world, workload) if waits_to_begin else None) or step


def keep_claims(world: World, workload: Workload, template: Template) -> Decision | None:
    """Volumes are asked for otherwise than the StatefulSet has them. Before a template that may mount them: a rollout
    that is under way needs none, nor does the way back."""
    changed = change_claims(world, workload, template)
    if changed is None or changed.hold is None:
        return changed
    world = world.remembering(changed.memory)
    needs_none = world.memory.phase.under_way and workload.template_hash == template.hash
    if changed.hold.reason is Reason.VOLUME_CLAIMS_FIXED:
        if needs_none or world.memory.phase is RolloutPhase.ROLLING_BACK:
            return Decision(changed.memory, notes=changed.notes) if changed.notes else None
        if given_up := give_up(world, workload, template):
            return replace(changed, hold=None).then(given_up)
    waits = world.replicas > workload.replicas and are_worth_waiting_for(world, workload, changed.hold)
    meanwhile = care_for_members(world, workload, template) if waits else _meanwhile(world, workload)
    return changed if meanwhile is None else replace(changed, hold=None).then(meanwhile)


def take_up_template(world: World, workload: Workload, template: Template) -> Decision | None:
    """The StatefulSet does not hold the template: it is new, or somebody has edited it. No pod moves by this."""
    is_new = workload.template_hash != template.hash
    if not is_new and not _is_edited(world, workload, template):
        return None
    if not is_new and not workload.settled:
        message = "the StatefulSet controller has not taken up the last change yet, so it is not known who made it"
        return Decision(world.memory, hold=Hold(Reason.STATEFUL_SET_NOT_OBSERVED, message, 1.0))
    warm = is_new and handover.is_asked_for(world)
    taken = _open_beside(world, workload, template) if warm else _take_up(world, template)
    if not is_new:
        taken = _going_on_with_the_step(world, workload, taken)
    return taken if taken.act is not None else _meanwhile(world, workload) or taken


def change_replicas(world: World, workload: Workload, template: Template) -> Decision | None:
    """The StatefulSet has another number of pods than there are to be now."""
    if workload.replicas == world.replicas and workload.start == 0:
        return None
    if workload.replicas_by:
        return put_back(world, workload, scale(world, workload, template))
    scaled = scaled_by_turn(world, workload, template)
    return scaled if scaled.act is not None else care_for_members(world, workload, template) or scaled


def rest_as_scaled(world: World, workload: Workload, template: Template) -> Decision | None:
    """Somebody else scales the StatefulSet again and again: nothing but its number is left to them, for a while.

    A canary that fails meanwhile is given up all the same.
    """
    hold = rests_as_scaled(world, workload)
    return None if hold is None else give_up(world, workload, template) or Decision(world.memory, hold=hold)


def care_for_members(world: World, workload: Workload, template: Template) -> Decision | None:
    """What the group in Kafka needs, whatever else goes on."""
    return upkeep(world, workload)


def stay_stopped(world: World, workload: Workload, template: Template) -> Decision | None:
    """A rollout that has failed moves no pod until a person says how it goes on."""
    memory = world.memory
    if memory.phase is not RolloutPhase.FAILED:
        return None
    if world.replicas == 0 and not world.pods and can_go_back(memory):
        # Its controller counts a set without pods as updated: whatever it holds is what all pods get that come next.
        note = Note(Reason.ROLLING_BACK, "no pod is left: those that come next get the last good version", warning=True)
        return Decision(go_back(memory, memory.message), hold=_stopped(world), notes=(note,))
    if not memory.last_good_revision and world.pods and is_well(world):
        return rolled(world, workload, template)  # slow to start; there is no other version that it could be
    # Any pod that ends would come back with what failed.
    act = shape(world, template, Purpose.CLOSE_OUT_OF_ORDER) if lets_go(world, workload) else None
    return Decision(memory, act, _stopped(world))


def _stopped(world: World) -> Hold:
    return Hold(Reason.ROLLOUT_FAILED, what_next(world), 60.0)


def rest(world: World, workload: Workload, template: Template) -> Decision | None:
    """No rollout is under way: begin one where pods are outdated, finish an upgrade, or hold every pod in place."""
    if world.memory.phase.under_way:
        return None
    if workload.settled and (world.outdated or _is_unproven(world)):
        return _resumed(world)
    if world.memory.upgrade is not None and world.memory.phase is RolloutPhase.COMPLETE:
        # The target was turned back when the next step had not begun: the pods have what the way back asks for.
        step = finish_step(world, workload)
        return replace(step, hold=step.refusal, refusal=None)
    in_order = workload.strategy is UpdateStrategy.ROLLING_UPDATE
    if in_order and workload.partition == workload.replicas:
        return Decision(world.memory)
    if not workload.settled or workload.current_revision != workload.update_revision:
        return Decision(world.memory)  # parked now, a pod that is evicted would come back with the old version
    return Decision(world.memory, act=shape(world, template, Purpose.PARK))


def _is_unproven(world: World) -> bool:
    """A version that was rolled out while there was no pod, and that pods have now: it is judged as any other."""
    memory = world.memory
    unproven = memory.phase is RolloutPhase.COMPLETE and not is_proven(memory)
    return unproven and memory.upgrade is None and bool(world.wanted_pods)


def give_up(world: World, workload: Workload, template: Template) -> Decision | None:
    """The version that is being rolled out has failed. A process that was only refused its id gets a last chance."""
    failure = find_failure(world) if may_fail(world) else None
    return None if failure is None else last_chance(world, workload, failure.ordinal) or fail(world, failure)


def roll(world: World, workload: Workload, template: Template) -> Decision:
    """The next step of the rollout in place; where no pod is left to be replaced, its end."""
    if is_broken_off(world):
        message = "no pod is wanted; those that come get the last good version, and the canary begins again"
        return Decision(world.memory, hold=Hold(Reason.CANARY_HOLD, message, 60.0))
    move = next_move(world, workload, template)
    return move if move.settles else rolled(world.remembering(move.memory), workload, template)


ACTS: Final[tuple[FoundAct, ...]] = (
    hand_over,
    cut_over,
    keep_claims,
    take_up_template,
    change_replicas,
    care_for_members,
    rest_as_scaled,
    stay_stopped,
    rest,
    give_up,
    roll,
)


def _is_edited(world: World, workload: Workload, template: Template) -> bool:
    """Somebody else has changed the template. After a restart of the operator its newest revision tells."""
    known = workload.settled and world.memory.revisions.get(workload.name) == workload.update_revision
    return not workload.as_written and not known and not holds(workload.template, with_service_account(template.body))


def _meanwhile(world: World, workload: Workload) -> Decision | None:
    """What need not wait until the template can be taken up: how many pods there are, and who needs care."""
    as_it_is = Template(workload.template_hash, workload.template)
    return change_replicas(world, workload, as_it_is) or care_for_members(world, workload, as_it_is)


def _take_up(world: World, template: Template) -> Decision:
    apart = [pod for pod in world.pods if not can_mix(pod.protocol, profile_in(template.body))]
    if apart:  # no strategy leads here; were one wrong, this is where it would stop
        names = listing(pod.name for pod in apart)
        other = profile_in(template.body).words
        message = f"{names} cannot share a group with pods of {other}: set protocol.target back"
        return Decision(world.memory, hold=Hold(Reason.CANNOT_MIX, message, 60.0))
    return Decision(world.memory, act=shape(world, template, Purpose.TAKE_TEMPLATE))


def _going_on_with_the_step(world: World, workload: Workload, taken: Decision) -> Decision:
    """What was edited is put right without taking a step in hand back: a pod that ends, or has yet to be made, comes
    back with the version that it was let go for."""
    step, act, all_start = world.memory.step, taken.act, cutover.all_start(world, workload)
    ordinal = 0 if all_start else min(step.unmade, default=None) if step is not None else None
    if not isinstance(act, WriteWorkload) or ordinal is None or not world.memory.phase.under_way:
        return taken
    if workload.strategy is UpdateStrategy.ON_DELETE:
        return replace(taken, act=replace(act, strategy=UpdateStrategy.ON_DELETE))
    if stays_for_another(world):
        return taken
    return replace(taken, act=replace(act, partition=min(act.partition, max(workload.partition, ordinal))))


def _open_beside(world: World, workload: Workload, template: Template) -> Decision:
    if hold := handover.may_not_begin(world):
        return Decision(world.memory, hold=hold)
    name = handover.other_name(world.group.name, workload.name)
    if name in world.names_taken:
        return Decision(world.memory, hold=in_the_way(name, world.names_taken[name]))
    return Decision(world.memory, act=handover.opened(name, template.body))


def _between_two(world: World, beside: Beside, workload: Workload, template: Template) -> Decision:
    memory = world.memory
    way = handover.direction_of(beside, template.hash, memory)
    if not way.forward and memory.onwards_hash != template.hash and handover.leads_nowhere(world, beside):
        message = f"back leads nowhere: all pods get version {beside.newcomer.template_hash} before {template.hash}"
        note = Note(Reason.HANDING_OVER, message, warning=True)
        return Decision(replace(memory, onwards_hash=template.hash), notes=(note,))
    is_wanted = beside.newcomer.template_hash == template.hash
    if is_wanted and _is_edited(world, beside.newcomer, template):
        return Decision(memory, act=handover.put_right(beside.newcomer, template.body))
    move = handover.at_once(world, beside, way)
    if move is None or move.act is None:
        if care := upkeep(world, workload):
            return care
        if may_fail(world) and is_wanted and (failure := handover.failing(world, beside)):
            return fail(world, failure)
    move = move or handover.afterwards(world, beside)
    if memory.phase is RolloutPhase.FAILED and (move is None or move.act is None):
        return Decision(memory, hold=_stopped(world))
    if move is None and not memory.phase.under_way:
        return _resumed(world)
    return move or handover.onwards(world, beside, way)


def _resumed(world: World) -> Decision:
    """Pods of another version are there although no rollout is under way: one is."""
    phase = RolloutPhase.ROLLING_BACK if world.memory.phase.goes_back else RolloutPhase.PROGRESSING
    return Decision(replace(world.memory, phase=phase, started_at=world.now, lag_before=None))  # see `note_lag`
