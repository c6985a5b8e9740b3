"""How a rollout begins: what is remembered at its start, and which template it runs."""

from __future__ import annotations

from dataclasses import replace

from slackwater.api.annotations import TEMPLATE_HASH
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import start_note
from slackwater.core.manifests.template import Template, gave_the_same, wanted_template, what_people_gave
from slackwater.core.members.shortfall import lacks_members_for_good
from slackwater.core.members.subscriptions import asked_for_by_each
from slackwater.core.members.work import lag_at_the_start, what_is_read_if_calm
from slackwater.core.timeouts.adoption import at_rest, with_rollout
from slackwater.core.timeouts.classic import classic_timeouts
from slackwater.core.world.in_hand import step_of
from slackwater.core.world.made_with import ADOPTED
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.step import Step
from slackwater.core.world.two_sets import names_of
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World


def begin(world: World, template: Template) -> Decision:
    """A version that is neither rolled out nor known to have failed begins, and takes along the timeouts that wait.

    `template`: what is wanted, before those timeouts. Else recommended timeouts are adopted that cost no restart.
    """
    known = _same_version(world, template)
    if known is not None and not nothing_is_left(world):
        return at_rest(world.remembering(known))
    tuned = with_rollout(world)
    world = world.remembering(tuned.memory)
    version = wanted_template(world).hash
    started = _started(world, version)
    if world.memory.forced_hash == template.hash:  # it was forced before the timeouts that it takes along were known
        started = replace(started, forced_hash=version)
    return tuned.then(Decision(started, notes=(start_note(world, version),)))


def nothing_is_left(world: World) -> bool:
    """Of a group that went back: its StatefulSet was deleted, its pods, and the version to go back to with them.

    What is asked for is all that there is. It failed before; but nothing at all consumes now.
    """
    return world.memory.phase.goes_back and not world.sets and not world.pods and world.last_good_template is None


def note_lag(world: World) -> Decision:
    """The lag before the rollout, where Kafka was out of reach when it began."""
    missing = world.memory.lag_before is None and world.memory.phase.under_way
    if not missing or world.seen is None:
        return Decision(world.memory)
    return Decision(replace(world.memory, lag_before=lag_at_the_start(world.seen)))


def note_what_pods_are(world: World) -> Decision:
    """What the version that is asked for is made with, or that of the failed one; and of versions that pods still have.

    `world`: it is known whether a rollout begins. What is corrected without another template is true of pods that run.
    """
    memory = world.memory
    adopted = any(not each.template_hash for each in world.all_pods)
    at_rest_and_known = memory.phase.at_rest and memory.made_with == {memory.target_hash: world.asked_for}
    if (at_rest_and_known and not adopted) or world.bootstrap_servers is None:
        return Decision(memory)
    asked = world.once(wanted_template).hash
    kept = {memory.target_hash, memory.failed_hash, memory.last_good_hash}
    kept |= {each.template_hash for each in world.sets} | {each.template_hash or ADOPTED for each in world.all_pods}
    known = {key: made for key, made in memory.made_with.items() if key in kept}
    if adopted and memory.made_with.get(ADOPTED) == memory.made_with.get(asked):  # not known yet, or now corrected
        known[ADOPTED] = world.asked_for
    if asked in (memory.target_hash, memory.failed_hash):
        known[asked] = world.asked_for
    return Decision(memory if known == memory.made_with else replace(memory, made_with=known))


def note_revisions(world: World) -> Decision:
    """Which revisions came of our own writes."""
    known = {each.name: world.memory.revisions[each.name] for each in world.sets if each.name in world.memory.revisions}
    ours = {each.name: each.update_revision for each in world.sets if each.as_written and each.settled}
    known |= ours
    return Decision(world.memory if known == world.memory.revisions else replace(world.memory, revisions=known))


def note_pod_made(world: World) -> Decision:
    """A pod in hand was made: if it vanishes later, the new version is not to blame."""
    step = world.memory.step
    if step is None or not step.unmade:
        return Decision(world.memory)
    there = (pod for ordinal in step.unmade if (pod := world.pod(ordinal)) is not None)
    made = {pod.ordinal for pod in there if step.is_followed_by(pod)}
    return Decision(replace(world.memory, step=step.with_made(made)) if made else world.memory)


def last_good(world: World) -> Template | None:
    """The template of the last good version; None where it cannot be read."""
    if world.last_good_template is None:
        return None
    annotations = world.last_good_template.get("metadata", {}).get("annotations", {})
    return Template(annotations.get(TEMPLATE_HASH, ""), world.last_good_template)


def session_timeout_ms(world: World) -> int:
    """The classic session timeout of pods that are made now."""
    return classic_timeouts(world.timeouts, world.memory.session_bounds).session_ms


def _started(world: World, version: str) -> RolloutMemory:
    memory = world.memory
    given_up = memory.failed_hash or memory.given_up_before
    in_use = _workload_in_use(world) if memory.phase.at_rest and _is_lost(world) else None
    return replace(
        memory,
        phase=RolloutPhase.PROGRESSING,
        target_hash=version,
        failed_hash="",
        given_up_before="" if version == given_up else given_up,
        target_given=what_people_gave(world),
        last_good_revision=in_use.update_revision if in_use is not None else memory.last_good_revision,
        last_good_hash=in_use.template_hash if in_use is not None else memory.last_good_hash,
        started_at=world.now,
        stood_still=False,
        retried_at=None,
        lag_before=lag_at_the_start(world.seen),
        read_before=(memory.phase.at_rest and what_is_read_if_calm(world.seen)) or memory.read_before,
        read_by_each=asked_for_by_each(world) if memory.phase.at_rest else memory.read_by_each,
        # Applied again while pods have what was to replace it, the last good version is the remedy, as on a way back.
        forced_hash=version if _is_set_back(memory, version) else memory.forced_hash,
        session_timeout_ms=max(memory.session_timeout_ms, session_timeout_ms(world)),
        replicas=None,
        step=_failed_step(world),
        handover=replace(memory.handover, fenced=0, cold=False, returned=0) if memory.handover is not None else None,
        canary=None,
        onwards_hash="",
        message="",
    )


def _is_set_back(memory: RolloutMemory, version: str) -> bool:
    return version == memory.last_good_hash and not memory.phase.at_rest


def _failed_step(world: World) -> Step | None:
    """Of a version that failed, since partitions stood in the pod, or a member never came: that is the first to get the
    next one, and whatever is asked for before it has."""
    step, is_kept = world.memory.step, step_of(world.memory) is None
    if step is None or not (is_kept or world.memory.phase is RolloutPhase.FAILED):
        return None
    pod = world.pod(step.ordinal)
    return step if step.halted or (pod is not None and lacks_members_for_good(world, pod)) else None


def _same_version(world: World, template: Template) -> RolloutMemory | None:
    """The memory, where people ask for the version that is rolled out, or given up, already; None for another one.

    Of one that failed or was aborted their own part of the spec says so. Other brokers or bounds, or another operator,
    make another template of it, and it is what they gave up still: unless that is the last good version, as where the
    brokers were set back.
    """
    memory = world.memory
    if template.hash == memory.target_hash:
        is_known = memory.phase.at_rest or memory.target_given == world.once(what_people_gave)
        return memory if is_known else replace(memory, target_given=world.once(what_people_gave))
    if template.hash == memory.failed_hash:
        return memory
    gave_it_up = memory.phase.gave_up and memory.failed_hash == memory.target_hash
    if gave_it_up and gave_the_same(world) and template.hash != memory.last_good_hash:
        return replace(memory, target_hash=template.hash, failed_hash=template.hash)
    return None


def _is_lost(world: World) -> bool:
    """The last good version is not known, or its revision went with a StatefulSet that has been deleted."""
    owner, _, _ = world.memory.last_good_revision.rpartition("-")
    gone = {*names_of(world.group.name)} - {each.name for each in world.sets}
    return not world.memory.last_good_revision or owner in gone


def _workload_in_use(world: World) -> Workload | None:
    """What every pod runs, and is Ready with: the last good version, where the memory of it was lost."""
    pods = world.wanted_pods
    in_use = bool(pods) and all(pod.ready for pod in pods) and not world.outdated
    return world.workload if in_use and world.settled else None
