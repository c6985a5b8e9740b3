"""What should happen to a ConsumerGroup now, and why: the one entrance to all decisions.

`plan(world)` is a pure function. It says what to remember, then at most one act. Who carries a plan out must write the
memory first: it holds what a crash right after the act would otherwise lose.
"""

from __future__ import annotations

from dataclasses import replace

from slackwater.core import handover
from slackwater.core.commands import obey
from slackwater.core.decision.acts import Purpose
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note, notes_of, start_note, workload_note
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import listing
from slackwater.core.manifests.drift import holds
from slackwater.core.manifests.template import Template, render_template
from slackwater.core.manifests.writes import shape
from slackwater.core.members.refused import last_chance
from slackwater.core.protocol import cutover
from slackwater.core.protocol.upgrade import finish_step, set_course
from slackwater.core.rollout.beginning import (
    session_timeout_ms,
    started,
    template_to_run,
    with_pod_made,
)
from slackwater.core.rollout.ending import fail, may_fail, what_next
from slackwater.core.rollout.failure import find_failure
from slackwater.core.rollout.in_place import next_move
from slackwater.core.rollout.scaling import scale, scaled_if_it_stands, with_replicas
from slackwater.core.timeouts.adoption import at_rest, completed, with_rollout, with_tuning, without_what_is_asked
from slackwater.core.timeouts.group_settings import binding_bounds
from slackwater.core.upkeep import remembered, upkeep
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.profile import can_mix, profile_in
from slackwater.core.world.two_sets import Beside
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World


def plan(world: World) -> Decision:
    """Decide. At most one act; a hold says why there is none although there is work to do."""
    memory, notes = obey(world)
    servers = world.bootstrap_servers
    if servers is None:
        name = world.group.spec.connection_ref.name
        message = f"there is no usable KafkaConnection {name} in this namespace: apply one"
        return Decision(memory, hold=Hold(Reason.CONNECTION_MISSING, message, 30.0), notes=notes)
    foreign = world.workload
    if foreign is not None and foreign.owner_uid != world.group.metadata.uid:
        adoptable = foreign.name == world.group.name
        return Decision(memory, hold=_in_the_way(foreign.name, foreign.owner, adoptable=adoptable), notes=notes)
    memory = without_what_is_asked(world, memory)
    world, as_asked = with_tuning(world, memory), world
    memory = replace(remembered(world, memory), session_bounds=binding_bounds(world))
    course = set_course(world, memory)
    memory, notes = course.memory, (*notes, *course.notes)
    if world.workload is None and course.refusal is not None:
        return Decision(memory, hold=course.refusal, refusal=course.refusal, notes=notes)
    wanted = render_template(world.group, servers, memory.protocol, memory.session_bounds)
    starts = wanted.hash not in (memory.target_hash, memory.failed_hash)
    memory, of_tuning = with_rollout(as_asked, memory) if starts else at_rest(as_asked, memory)
    world, notes = with_tuning(as_asked, memory), (*notes, *of_tuning)
    if starts:
        wanted = render_template(world.group, servers, memory.protocol, memory.session_bounds)
        memory, notes = started(world, memory, wanted), (*notes, start_note(world, wanted.hash))
    memory = with_replicas(world, memory, starts=starts)
    if memory.lag_before is None and memory.phase.under_way and isinstance(world.kafka, GroupObservation):
        memory = replace(memory, lag_before=world.kafka.lag)  # Kafka was out of reach when the rollout began
    template = template_to_run(world, memory, wanted)
    if template is None:
        message = f"revision {memory.last_good_revision}, to go back to, cannot be read: apply a template that works"
        return Decision(memory, hold=Hold(Reason.LAST_GOOD_UNKNOWN, message, 60.0), notes=notes)
    world = world.remembering(with_pod_made(world, memory))
    decided = _decide(world, template)
    if decided.act is None:
        decided = replace(decided, memory=scaled_if_it_stands(world, decided.memory, decided.hold))
    return replace(decided, refusal=course.refusal, notes=(*notes, *decided.notes))


def _decide(world: World, template: Template) -> Decision:
    workload = world.workload
    if workload is None:
        note = workload_note(Purpose.CREATE, world)
        return Decision(world.memory, act=shape(world, template, Purpose.CREATE), notes=(note,))
    if world.beside is not None:
        return _hand_over(world, world.beside, template)
    if cutover.is_due(world, workload, template):
        return _cut_over(world, workload, template)
    edited = not workload.as_written and not holds(workload.template, template.body)
    if workload.template_hash != template.hash or edited:
        warm = workload.template_hash != template.hash and handover.is_asked_for(world)
        return _open_beside(world, workload, template) if warm else _take_up(world, template)
    if workload.replicas != world.replicas or workload.start > 0:
        return Decision(
            world.memory, act=scale(world, workload, template), notes=(workload_note(Purpose.SCALE, world),)
        )
    if care := upkeep(world, workload):
        return Decision(care.memory, act=care.act, notes=notes_of(care.act))
    return _go_on(world, workload, template)


def _go_on(world: World, workload: Workload, template: Template) -> Decision:
    if not world.memory.phase.under_way and world.memory.phase is not RolloutPhase.FAILED:
        return _at_rest(world, workload, template)
    if world.memory.phase is RolloutPhase.FAILED:
        hold = Hold(Reason.ROLLOUT_FAILED, what_next(world.memory), 60.0)
        open_ = workload.strategy is UpdateStrategy.ON_DELETE  # any pod that ends would come back with what failed
        return Decision(world.memory, shape(world, template, Purpose.CLOSE_OUT_OF_ORDER) if open_ else None, hold)
    if may_fail(world) and (failure := find_failure(world)):
        if chance := last_chance(world, workload, failure.ordinal):
            return Decision(chance[0], chance[1], notes=notes_of(chance[1]))
        return fail(world, failure)
    return _roll(world, workload, template)


def _cut_over(world: World, workload: Workload, template: Template) -> Decision:
    """The order is: stop, take the members out, start."""
    following = cutover.next_act(world, workload, template)
    if isinstance(following, Hold):
        return Decision(world.memory, hold=following)
    return Decision(world.memory, act=following, notes=notes_of(following))


def _take_up(world: World, template: Template) -> Decision:
    apart = [pod for pod in world.pods if not can_mix(pod.protocol, profile_in(template.body))]
    if apart:  # no strategy leads here; were one wrong, this is where it would stop
        names = listing(pod.name for pod in apart)
        other = profile_in(template.body).words
        message = f"{names} cannot share a group with pods of {other}: set protocol.target back"
        return Decision(world.memory, hold=Hold(Reason.CANNOT_MIX, message, 60.0))
    return Decision(world.memory, act=shape(world, template, Purpose.TAKE_TEMPLATE))


def _open_beside(world: World, workload: Workload, template: Template) -> Decision:
    if hold := handover.may_not_begin(world):
        return Decision(world.memory, hold=hold)
    name = handover.other_name(world.group.name, workload.name)
    if name in world.names_taken:
        return Decision(world.memory, hold=_in_the_way(name, world.names_taken[name]))
    return Decision(world.memory, act=handover.opened(name, template.body))


def _in_the_way(name: str, owner: str, *, adoptable: bool = False) -> Hold:
    adopt = f"kubectl slackwater adopt {name} takes it over without a restart; else " if adoptable else ""
    theirs, nobodys = f"belongs to {owner}: give one of the two", f"is not ours: {adopt}delete it, or give this group"
    message = f"StatefulSet {name} is there already and {theirs if owner else nobodys} another name"
    return Hold(Reason.FOREIGN_STATEFUL_SET, message, 60.0)


def _hand_over(world: World, beside: Beside, template: Template) -> Decision:
    """Two StatefulSets: first what is under way, then the next ordinal."""
    way, workload, memory = handover.direction_of(beside, template.hash), world.workload, world.memory
    assert workload is not None
    if way.forward and not beside.newcomer.as_written and not holds(beside.newcomer.template, template.body):
        return Decision(memory, act=handover.put_right(beside.newcomer, template.body))
    move = handover.at_once(world, beside, way)
    if move is None or move.act is None:
        if care := upkeep(world, workload):
            return Decision(care.memory, act=care.act, notes=notes_of(care.act))
        if may_fail(world) and way.forward and (failure := handover.failing(world, beside)):
            return fail(world, failure)
    move = move or handover.afterwards(world, beside)
    if memory.phase is RolloutPhase.FAILED and (move is None or move.act is None):
        return Decision(memory, hold=Hold(Reason.ROLLOUT_FAILED, what_next(memory), 60.0))
    if move is None and not memory.phase.under_way:
        phase = RolloutPhase.ROLLING_BACK if memory.phase.goes_back else RolloutPhase.PROGRESSING
        return Decision(replace(memory, phase=phase, started_at=world.now))
    move = move or handover.onwards(world, beside, way)
    return Decision(move.memory, act=move.act, hold=move.hold, notes=(*move.notes, *notes_of(move.act)))


def _roll(world: World, workload: Workload, template: Template) -> Decision:
    move = next_move(world, workload, template)
    if move.act is not None or move.hold is not None:
        return Decision(move.memory, act=move.act, hold=move.hold, notes=notes_of(move.act))
    back = world.memory.phase is RolloutPhase.ROLLING_BACK
    course = Decision(move.memory) if back else finish_step(world, workload, move.memory)
    if course.refusal is not None:
        return Decision(move.memory, hold=course.refusal)
    done = replace(
        course.memory,
        phase=RolloutPhase.ROLLED_BACK if back else RolloutPhase.COMPLETE,
        retried_at=None,
        canary=None,
    )
    if world.replicas > 0:  # a version that no pod has run is not known to be good
        done = replace(done, last_good_revision=workload.update_revision, last_good_hash=template.hash)
    if not back:  # after a rollback the pods have the session timeout of an earlier spec
        done = replace(completed(done), session_timeout_ms=session_timeout_ms(world))
    what = "every pod runs the last good version again" if back else "every pod runs the new version"
    return Decision(done, notes=(Note(Reason.ROLLED_BACK if back else Reason.ROLLOUT_COMPLETE, what), *course.notes))


def _at_rest(world: World, workload: Workload, template: Template) -> Decision:
    if workload.settled and world.outdated:
        back = world.memory.phase.goes_back
        phase = RolloutPhase.ROLLING_BACK if back else RolloutPhase.PROGRESSING
        return Decision(replace(world.memory, phase=phase, started_at=world.now))
    if world.memory.upgrade is not None and world.memory.phase is RolloutPhase.COMPLETE:
        # The target was turned back when the next step had not begun: the pods have what the way back asks for.
        course = finish_step(world, workload, world.memory)
        return Decision(course.memory, hold=course.refusal, notes=course.notes)
    in_order = workload.strategy is UpdateStrategy.ROLLING_UPDATE
    if in_order and workload.partition == workload.replicas:
        return Decision(world.memory)
    if not workload.settled or workload.current_revision != workload.update_revision:
        return Decision(world.memory)  # parked now, a pod that is evicted would come back with the old version
    return Decision(world.memory, act=shape(world, template, Purpose.PARK))
