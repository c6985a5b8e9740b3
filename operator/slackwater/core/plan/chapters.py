"""What should happen to a ConsumerGroup now, and why: the one entrance to all decisions.

`plan(world)` is a pure function. It reads as chapters: what is wanted, which phase the rollout is in, which act is next
(`next_act`). Whoever carries a decision out must write its memory first: it holds what a crash right after the act
would otherwise lose. The memory is in the world and nowhere else: each chapter sees what the ones before it remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from slackwater.api.kafka_connection import allows
from slackwater.api.references import ConnectionKind
from slackwater.core.commands import obey, obey_force
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import notes_of
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import seconds, shown
from slackwater.core.fleet.life import with_turn
from slackwater.core.handover import note_what_is_over
from slackwater.core.manifests.template import Template, wanted_template
from slackwater.core.members.elsewhere import runs_elsewhere
from slackwater.core.members.sharing import (
    again_s,
    is_waited_for_s,
    note_claim,
    note_that_it_is_gone,
    who_has_the_group,
)
from slackwater.core.plan.foreign import in_the_way
from slackwater.core.plan.next_act import next_act
from slackwater.core.protocol.upgrade import set_course
from slackwater.core.rollout.beginning import (
    begin,
    last_good,
    note_lag,
    note_pod_made,
    note_revisions,
    note_what_pods_are,
)
from slackwater.core.rollout.canary import begins_again, is_held_at_canary, note_that_it_begins_again
from slackwater.core.rollout.duration import timed
from slackwater.core.rollout.scaling import keep_replicas, scaled_if_it_stands
from slackwater.core.timeouts.adoption import without_what_is_asked
from slackwater.core.timeouts.group_settings import note_bounds, note_settings
from slackwater.core.upkeep import note_members
from slackwater.core.world.claimed import Outranked
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.set_back import not_in_the_future
from slackwater.core.world.world import World

Chapter = Callable[[World], Decision]
"""A part of the plan. One that holds ends it."""


def nothing_is_in_the_future(world: World) -> Decision:
    """A clock was ahead when something was written down, and has been put right: it came now.

    Else no look would be newer than the step, no wait over and no pod newer than `retry` for as long as it was ahead.
    """
    return Decision(not_in_the_future(world.memory, world.now))


def connection_is_known(world: World) -> Decision:
    """Without its brokers' address no pod can be made, and nobody can be asked about the group."""
    if world.bootstrap_servers is not None:
        return Decision(world.memory)
    reference = world.group.spec.connection_ref
    where = "" if reference.kind is ConnectionKind.CLUSTER_KAFKA_CONNECTION else " in this namespace"
    message = f"there is no usable {reference}{where}: apply one"
    return Decision(world.memory, hold=Hold(Reason.CONNECTION_MISSING, message, 30.0))


def connection_allows_it(world: World) -> Decision:
    """Whoever wrote the KafkaConnection says which groups it may run; of another one nobody is asked."""
    if allows(world.allowed_groups, world.group.group_id):
        return Decision(world.memory)
    reference = world.group.spec.connection_ref
    if world.allowed_groups is None:
        message = f"{reference} is not for namespace {world.group.namespace}: have its spec.tenants extended"
        return Decision(world.memory, hold=Hold(Reason.GROUP_NOT_ALLOWED, message, 60.0))
    begin = " or ".join(map(shown, world.allowed_groups))
    by = "spec.groups" if reference.kind is ConnectionKind.KAFKA_CONNECTION else "spec.tenants or spec.groups"
    message = (
        f"{reference} runs only groups whose id begins with {begin}:"
        f" make this one again with such a groupId, or have {by} of the connection extended"
    )
    return Decision(world.memory, hold=Hold(Reason.GROUP_NOT_ALLOWED, message, 60.0))


def stateful_set_is_ours(world: World) -> Decision:
    """A StatefulSet of somebody else under the group's name is left alone."""
    found = world.foreign
    if found is None:
        return Decision(world.memory)
    adoptable = found.name == world.group.name
    return Decision(world.memory, hold=in_the_way(found.name, found.owner, adoptable=adoptable))


def group_is_ours(world: World) -> Decision:
    """Of all ConsumerGroups with one group in Kafka the first that began there has it; nothing is done for the others.

    Where that one is gone, it is waited for a while: it may be made again.
    """
    if owner := who_has_the_group(world):
        what = "make this one again with another groupId, or delete the other"
        message = f"{owner} and came first: it has the group in Kafka, and nothing is done for this one; {what}"
        return Decision(
            replace(world.memory, outranked=Outranked()), hold=Hold(Reason.GROUP_ID_SHARED, message, again_s(world))
        )
    if (wait_s := is_waited_for_s(world)) > 0.0:
        message = f"whoever had the group in Kafka is gone; it may be made again, which is waited for {seconds(wait_s)}"
        return Decision(
            note_that_it_is_gone(world), hold=Hold(Reason.GROUP_ID_SHARED, message, min(wait_s, again_s(world)))
        )
    if world.claims and world.cluster_id is None and isinstance(world.kafka, Unobserved) and not world.sets:
        return Decision(world.memory, hold=Hold(world.kafka.reason, world.kafka.message, 1.0))  # where would it begin?
    if hold := runs_elsewhere(world):
        return Decision(world.memory, hold=hold)
    return Decision(note_claim(world))


def course_is_set(world: World) -> Decision:
    """Which protocol pods are given. A group that has none yet, and cannot have the one asked for, is not begun.

    One that ran before has one: if its StatefulSet was deleted, it is made again with that.
    """
    course = set_course(world)
    begun = world.workload is not None or world.memory.phase is not RolloutPhase.NONE
    return course if begun else replace(course, hold=course.refusal)


WANTED: Final[tuple[Chapter, ...]] = (
    nothing_is_in_the_future,
    obey,
    connection_is_known,
    connection_allows_it,
    stateful_set_is_ours,
    group_is_ours,
    without_what_is_asked,
    note_members,
    note_bounds,
    note_settings,
    course_is_set,
    obey_force,
)
"""What is wanted: commands, connection, ownership, timeouts, members, the brokers' bounds and the protocol. All of them
together decide the template; what the operator made in Kafka is brought up to date on the way."""

PHASE: Final[tuple[Chapter, ...]] = (
    note_what_pods_are,
    note_revisions,
    keep_replicas,
    note_that_it_begins_again,
    note_lag,
    note_pod_made,
    note_what_is_over,
)
"""Which phase the rollout is in, once it is known whether one begins."""


def plan(world: World) -> Decision:
    """Decide. At most one act; a hold says why there is none although there is work to do."""
    decided = _plan(world)
    is_canary_held = is_held_at_canary(world.remembering(decided.memory))
    return timed(world, with_turn(world, decided, is_canary_held=is_canary_held))


def ends_before_anything_begins(world: World) -> bool:
    """The plan comes to no rollout in this pass, whatever is asked for: as without a connection."""
    return _read(WANTED, Decision(world.memory), world).settles


def _plan(world: World) -> Decision:
    wanted = _read(WANTED, Decision(world.memory), world)
    if wanted.settles:
        return wanted
    world = world.remembering(wanted.memory)
    template = world.once(wanted_template)
    begun = wanted.then(begin(world, template))
    phase = _read(PHASE, begun, world)
    world = world.remembering(phase.memory)
    to_run = _template_to_run(world, template)
    if isinstance(to_run, Hold):
        return phase.then(Decision(world.memory, hold=to_run))
    act = next_act(world, to_run)
    act = replace(act, notes=(*act.notes, *notes_of(act.act)))
    return phase.then(scaled_if_it_stands(world.remembering(act.memory), act))


def _read(chapters: tuple[Chapter, ...], so_far: Decision, world: World) -> Decision:
    for chapter in chapters:
        so_far = so_far.then(chapter(world.remembering(so_far.memory)))
        if so_far.settles:
            break
    return so_far


def _template_to_run(world: World, template: Template) -> Template | Hold:
    """The one asked for, with the timeouts that came along when it began; on the way back, or before a canary that has
    to begin again, the last good one."""
    if world.workload is not None and begins_again(world, world.workload):
        return last_good(world) or template
    if not world.memory.phase.goes_back:
        return template if template.hash == world.memory.target_hash else wanted_template(world)
    revision = world.memory.last_good_revision
    message = f"revision {revision}, to go back to, cannot be read: apply a template that works"
    return last_good(world) or Hold(Reason.LAST_GOOD_UNKNOWN, message, 60.0)
