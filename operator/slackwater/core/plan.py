"""What should happen to a ConsumerGroup now, and why: the one entrance to all decisions.

`plan(world)` is a pure function. It says what to remember, then at most one act. Who carries a plan out must write the
memory first: it holds what a crash right after the act would otherwise lose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from slackwater.api.annotations import PAUSE, TEMPLATE_HASH
from slackwater.api.rollout import OnFailure
from slackwater.core import handover
from slackwater.core.acts import (
    Act,
    Note,
    Purpose,
)
from slackwater.core.commands import can_go_back, go_back, obey
from slackwater.core.drift import holds
from slackwater.core.failure import Failure, find_failure
from slackwater.core.group_settings import binding_bounds
from slackwater.core.manifests import Template, render_template
from slackwater.core.memory import RolloutMemory, RolloutPhase
from slackwater.core.notes import notes_of, start_note, workload_note
from slackwater.core.observation import GroupObservation
from slackwater.core.protocol import cutover
from slackwater.core.protocol.profile import can_mix, profile_in
from slackwater.core.protocol.upgrade import Course, finish_step, set_course
from slackwater.core.reasons import Hold, Reason
from slackwater.core.refused import last_chance
from slackwater.core.rollout import next_move
from slackwater.core.scaling import scaled_if_it_stands, with_replicas
from slackwater.core.shapes import scale, shape
from slackwater.core.text import listing
from slackwater.core.timeouts import classic_timeouts
from slackwater.core.tuning.adoption import at_rest, completed, with_rollout, with_tuning, without_what_is_asked
from slackwater.core.upkeep import remembered, upkeep
from slackwater.core.world import Beside, UpdateStrategy, Workload, World

_AT_REST_WELL: Final = (RolloutPhase.NONE, RolloutPhase.COMPLETE)


@dataclass(frozen=True, slots=True)
class Plan:
    memory: RolloutMemory
    act: Act | None = None
    hold: Hold | None = None
    refusal: Hold | None = None
    """Why the group is not taken to the protocol that is asked for; everything else goes on."""
    notes: tuple[Note, ...] = ()


def plan(world: World) -> Plan:
    """Decide. At most one act; a hold says why there is none although there is work to do."""
    memory, notes = obey(world)
    servers = world.bootstrap_servers
    if servers is None:
        name = world.group.spec.connection_ref.name
        message = f"there is no usable KafkaConnection {name} in this namespace: apply one"
        return Plan(memory, hold=Hold(Reason.CONNECTION_MISSING, message, 30.0), notes=notes)
    foreign = world.workload
    if foreign is not None and foreign.owner_uid != world.group.metadata.uid:
        adoptable = foreign.name == world.group.name
        return Plan(memory, hold=_in_the_way(foreign.name, foreign.owner, adoptable=adoptable), notes=notes)
    memory = without_what_is_asked(world, memory)
    world, as_asked = with_tuning(world, memory), world
    memory = replace(remembered(world, memory), session_bounds=binding_bounds(world))
    course = set_course(world, memory)
    memory, notes = course.memory, (*notes, *course.notes)
    if world.workload is None and course.refusal is not None:
        return Plan(memory, hold=course.refusal, refusal=course.refusal, notes=notes)
    wanted = render_template(world.group, servers, memory.protocol, memory.session_bounds)
    starts = wanted.hash not in (memory.target_hash, memory.failed_hash)
    memory, of_tuning = with_rollout(as_asked, memory) if starts else at_rest(as_asked, memory)
    world, notes = with_tuning(as_asked, memory), (*notes, *of_tuning)
    if starts:
        wanted = render_template(world.group, servers, memory.protocol, memory.session_bounds)
        memory, notes = _started(world, memory, wanted), (*notes, start_note(world, wanted))
    memory = with_replicas(world, memory, starts=starts)
    if memory.lag_before is None and memory.phase.under_way and isinstance(world.kafka, GroupObservation):
        memory = replace(memory, lag_before=world.kafka.lag)  # Kafka was out of reach when the rollout began
    template = _template_to_run(world, memory, wanted)
    if template is None:
        message = f"revision {memory.last_good_revision}, to go back to, cannot be read: apply a template that works"
        return Plan(memory, hold=Hold(Reason.LAST_GOOD_UNKNOWN, message, 60.0), notes=notes)
    world = handover.seen_anew(replace(world, memory=_with_pod_made(world, memory)))
    decided = _decide(world, template)
    if decided.act is None:
        decided = replace(decided, memory=scaled_if_it_stands(world, decided.memory, decided.hold))
    return replace(decided, refusal=course.refusal, notes=(*notes, *decided.notes))


def _decide(world: World, template: Template) -> Plan:
    workload = world.workload
    if workload is None:
        note = workload_note(Purpose.CREATE, world)
        return Plan(world.memory, act=shape(world, template, Purpose.CREATE), notes=(note,))
    if world.beside is not None:
        return _hand_over(world, world.beside, template)
    if cutover.is_due(world, workload, template):
        return _cut_over(world, workload, template)
    edited = not workload.as_written and not holds(workload.template, template.body)
    if workload.template_hash != template.hash or edited:
        warm = workload.template_hash != template.hash and handover.is_asked_for(world)
        return _open_beside(world, workload, template) if warm else _take_up(world, template)
    if workload.replicas != world.replicas or workload.start > 0:
        return Plan(world.memory, act=scale(world, workload, template), notes=(workload_note(Purpose.SCALE, world),))
    if care := upkeep(world, workload):
        return Plan(care.memory, act=care.act, notes=notes_of(care.act))
    return _go_on(world, workload, template)


def _go_on(world: World, workload: Workload, template: Template) -> Plan:
    if not world.memory.phase.under_way and world.memory.phase is not RolloutPhase.FAILED:
        return _at_rest(world, workload, template)
    if world.memory.phase is RolloutPhase.FAILED:
        hold = Hold(Reason.ROLLOUT_FAILED, _what_next(world.memory), 60.0)
        open_ = workload.strategy is UpdateStrategy.ON_DELETE  # any pod that ends would come back with what failed
        return Plan(world.memory, shape(world, template, Purpose.CLOSE_OUT_OF_ORDER) if open_ else None, hold)
    if _may_fail(world) and (failure := find_failure(world)):
        if chance := last_chance(world, workload, failure.ordinal):
            return Plan(chance[0], chance[1], notes=notes_of(chance[1]))
        return _fail(world, failure)
    return _roll(world, workload, template)


def _cut_over(world: World, workload: Workload, template: Template) -> Plan:
    """The order is: stop, take the members out, start."""
    following = cutover.next_act(world, workload, template)
    if isinstance(following, Hold):
        return Plan(world.memory, hold=following)
    return Plan(world.memory, act=following, notes=notes_of(following))


def _take_up(world: World, template: Template) -> Plan:
    apart = [pod for pod in world.pods if not can_mix(pod.protocol, profile_in(template.body))]
    if apart:  # no strategy leads here; were one wrong, this is where it would stop
        names = listing(pod.name for pod in apart)
        other = profile_in(template.body).words
        message = f"{names} cannot share a group with pods of {other}: set protocol.target back"
        return Plan(world.memory, hold=Hold(Reason.CANNOT_MIX, message, 60.0))
    return Plan(world.memory, act=shape(world, template, Purpose.TAKE_TEMPLATE))


def _open_beside(world: World, workload: Workload, template: Template) -> Plan:
    if hold := handover.may_not_begin(world):
        return Plan(world.memory, hold=hold)
    name = handover.other_name(world.group.name, workload.name)
    if name in world.names_taken:
        return Plan(world.memory, hold=_in_the_way(name, world.names_taken[name]))
    return Plan(world.memory, act=handover.opened(name, template.body))


def _in_the_way(name: str, owner: str, *, adoptable: bool = False) -> Hold:
    adopt = f"kubectl slackwater adopt {name} takes it over without a restart; else " if adoptable else ""
    theirs, nobodys = f"belongs to {owner}: give one of the two", f"is not ours: {adopt}delete it, or give this group"
    message = f"StatefulSet {name} is there already and {theirs if owner else nobodys} another name"
    return Hold(Reason.FOREIGN_STATEFUL_SET, message, 60.0)


def _hand_over(world: World, beside: Beside, template: Template) -> Plan:
    """Two StatefulSets: first what is under way, then the next ordinal."""
    way, workload, memory = handover.way_of(beside, template.hash), world.workload, world.memory
    assert workload is not None
    if way.forward and not beside.newcomer.as_written and not holds(beside.newcomer.template, template.body):
        return Plan(memory, act=handover.put_right(beside.newcomer, template.body))
    move = handover.at_once(world, beside, way)
    if move is None or move.act is None:
        if care := upkeep(world, workload):
            return Plan(care.memory, act=care.act, notes=notes_of(care.act))
        if _may_fail(world) and way.forward and (failure := handover.failing(world, beside)):
            return _fail(world, failure)
    move = move or handover.afterwards(world, beside)
    if memory.phase is RolloutPhase.FAILED and (move is None or move.act is None):
        return Plan(memory, hold=Hold(Reason.ROLLOUT_FAILED, _what_next(memory), 60.0))
    if move is None and not memory.phase.under_way:
        phase = RolloutPhase.ROLLING_BACK if memory.phase.goes_back else RolloutPhase.PROGRESSING
        return Plan(replace(memory, phase=phase, started_at=world.now))
    move = move or handover.onwards(world, beside, way)
    return Plan(move.memory, act=move.act, hold=move.hold, notes=(*move.notes, *notes_of(move.act)))


def _roll(world: World, workload: Workload, template: Template) -> Plan:
    move = next_move(world, workload, template)
    if move.act is not None or move.hold is not None:
        return Plan(move.memory, act=move.act, hold=move.hold, notes=notes_of(move.act))
    back = world.memory.phase is RolloutPhase.ROLLING_BACK
    course = Course(move.memory) if back else finish_step(world, workload, move.memory)
    if course.refusal is not None:
        return Plan(move.memory, hold=course.refusal)
    done = replace(
        course.memory,
        phase=RolloutPhase.ROLLED_BACK if back else RolloutPhase.COMPLETE,
        retried_at=None,
        canary=None,
    )
    if world.replicas > 0:  # a version that no pod has run is not known to be good
        done = replace(done, last_good_revision=workload.update_revision, last_good_hash=template.hash)
    if not back:  # after a rollback the pods have the session timeout of an earlier spec
        done = replace(completed(done), session_timeout_ms=_session_timeout_ms(world))
    what = "every pod runs the last good version again" if back else "every pod runs the new version"
    return Plan(done, notes=(Note(Reason.ROLLED_BACK if back else Reason.ROLLOUT_COMPLETE, what), *course.notes))


def _at_rest(world: World, workload: Workload, template: Template) -> Plan:
    if workload.settled and world.outdated:
        back = world.memory.phase.goes_back
        phase = RolloutPhase.ROLLING_BACK if back else RolloutPhase.PROGRESSING
        return Plan(replace(world.memory, phase=phase, started_at=world.now))
    if world.memory.upgrade is not None and world.memory.phase is RolloutPhase.COMPLETE:
        # The target was turned back when the next step had not begun: the pods have what the way back asks for.
        course = finish_step(world, workload, world.memory)
        return Plan(course.memory, hold=course.refusal, notes=course.notes)
    in_order = workload.strategy is UpdateStrategy.ROLLING_UPDATE
    if in_order and workload.partition == workload.replicas:
        return Plan(world.memory)
    if not workload.settled or workload.current_revision != workload.update_revision:
        return Plan(world.memory)  # parked now, a pod that is evicted would come back with the old version
    return Plan(world.memory, act=shape(world, template, Purpose.PARK))


def _may_fail(world: World) -> bool:
    """Not a version that is the last good one already: to give it up would stop everything, and lead nowhere."""
    memory = world.memory
    known_good = bool(memory.last_good_revision) and memory.last_good_hash == memory.target_hash
    return memory.phase is RolloutPhase.PROGRESSING and PAUSE not in world.group.metadata.annotations and not known_good


def _fail(world: World, failure: Failure) -> Plan:
    wants_back = world.group.spec.rollout.on_failure is OnFailure.ROLLBACK
    if wants_back and can_go_back(world.memory):
        memory = go_back(world.memory, failure.message)
        note = Note(Reason.ROLLING_BACK, f"{failure.message}; going back to the last good version", warning=True)
    else:
        memory = replace(
            world.memory,
            phase=RolloutPhase.FAILED,
            failed_hash=world.memory.target_hash,
            retried_at=None,
            message=failure.message,
        )
        note = Note(failure.reason, f"{_what_next(memory)}", warning=True)
    return Plan(memory, hold=Hold(failure.reason, failure.message, 0.0), notes=(note,))


def _what_next(memory: RolloutMemory) -> str:
    back = ", or abort to go back to the last good version" if can_go_back(memory) else ""
    return f"{memory.message}. The rollout has stopped: apply another template, annotate retry to try again{back}"


def _session_timeout_ms(world: World) -> int:
    return classic_timeouts(world.group.spec.timeouts, world.memory.session_bounds).session_ms


def _started(world: World, memory: RolloutMemory, wanted: Template) -> RolloutMemory:
    lag = world.kafka.lag if isinstance(world.kafka, GroupObservation) else None
    workload = _workload_in_use(world) if not memory.last_good_revision and memory.phase in _AT_REST_WELL else None
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
        session_timeout_ms=max(memory.session_timeout_ms, _session_timeout_ms(world)),
        step=None,
        handover=replace(memory.handover, fenced=0, cold=False) if memory.handover is not None else None,
        canary=None,
        message="",
    )


def _workload_in_use(world: World) -> Workload | None:
    """What every pod runs, and is Ready with: the last good version, where the memory of it was lost."""
    pods = world.wanted_pods
    in_use = bool(pods) and all(pod.ready for pod in pods) and not world.outdated
    return world.workload if in_use and world.workload is not None and world.workload.settled else None


def _with_pod_made(world: World, memory: RolloutMemory) -> RolloutMemory:
    step = memory.step
    pod = world.pod(step.ordinal) if step is not None else None
    if step is None or step.made or pod is None or pod.created_at < int(step.started_at):
        return memory
    return replace(memory, step=replace(step, made=True))


def _template_to_run(world: World, memory: RolloutMemory, wanted: Template) -> Template | None:
    if not memory.phase.goes_back:
        return wanted
    if world.last_good_template is None:
        return None
    annotations = world.last_good_template.get("metadata", {}).get("annotations", {})
    return Template(annotations.get(TEMPLATE_HASH, ""), world.last_good_template)
