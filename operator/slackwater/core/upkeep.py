"""What a group in Kafka needs whether a rollout is under way or not: its dead members taken care of, its settings kept.

None of it disturbs a consumer that works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from slackwater.api.annotations import PAUSE
from slackwater.core.decision.acts import Act, RemoveMembers
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.words import listing
from slackwater.core.members.death import find_outlived, known_holders
from slackwater.core.members.ownership import ids_given, never_ran
from slackwater.core.members.presence import serves
from slackwater.core.members.refused import overdue, restart_due, still_refused
from slackwater.core.members.release import release_due, still_released
from slackwater.core.members.scaled_away import ended_since, members_to_remove
from slackwater.core.members.seen import may_be_done, seen_in, tells_addresses, was_in_it
from slackwater.core.members.shortfall import is_short_for_good
from slackwater.core.members.taken import last_of_ours
from slackwater.core.members.work import find_unread, owned_by, what_is_read
from slackwater.core.timeouts.group_settings import change_due, settings_wanted
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType, MemberRef, refs
from slackwater.core.world.pods import Pod
from slackwater.core.world.step import Step
from slackwater.core.world.two_sets import is_handed_over
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World

MISSED_FOR_S: Final = 5.0
"""A group that is calm for so long does not rebalance by itself for what the last pod subscribes to."""
GROWN_FOR_S: Final = 30.0
"""A group that is calm for so long with partitions that nobody owns: a leader that looked out for them would have come
round, where its `metadata.max.age.ms` is not longer (5 min by default); to be early costs the same rebalance."""

TOGETHER_S: Final = 5.0

BACK_LATELY_S: Final = 3600.0
"""Since the last pod went back. What is read otherwise after that has other causes: a topic that was made, say."""

Care = Callable[[World, GroupObservation, Workload], Decision | None]


def note_members(world: World) -> Decision:
    """What is remembered of members, brought up to date; what does not matter any more is forgotten."""
    memory, given, holders = world.memory, ids_given(world), known_holders(world)
    released, refused, removed = still_released(world), still_refused(world), last_of_ours(world)
    ended, grown = ended_since(world), _still_grown(world)
    noted = replace(
        memory,
        ids_given=given,
        never_ran=never_ran(world),
        seen_in=seen_in(world),
        tells_addresses=tells_addresses(world),
        holders=holders,
        released=released,
        refused=refused,
        removed=removed,
        ended_since=ended,
        grown=grown,
    )
    return Decision(memory if noted == memory else noted)


def _still_grown(world: World) -> Mapping[str, int]:
    """A topic that was made again with fewer partitions may grow again."""
    known = world.memory.grown
    if world.seen is None or not known:
        return known
    sizes = sizes_of(world.seen)
    return {topic: size for topic, size in known.items() if sizes.get(topic, size) >= size}


def upkeep(world: World, workload: Workload) -> Decision | None:
    """The first of `CARE` that has something to do; None while the group or the StatefulSet is not known."""
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation) or not world.settled:
        return None
    found = (care(world, kafka, workload) for care in CARE)
    return next((each for each in found if each is not None and may_be_done(world, each.act)), None)


def not_done(world: World) -> Act | None:
    """What there is to do in Kafka, at rest, and is not done because no pod of ours was seen in the group."""
    kafka, workload = world.kafka, world.workload
    if was_in_it(world) or world.memory.phase.under_way or workload is None or not world.settled:
        return None
    if not isinstance(kafka, GroupObservation) or not world.wanted_pods:
        return None
    found = (care(world, kafka, workload) for care in CARE)
    return next((each.act for each in found if each is not None and not may_be_done(world, each.act)), None)


def remove_scaled_away(world: World, kafka: GroupObservation, workload: Workload) -> Decision | None:
    """Members whose pods were scaled away and have ended are taken out of the group, together (F10)."""
    gone = members_to_remove(world)
    if not gone:
        return None
    act = RemoveMembers(gone, f"their pods were scaled away: {listing(ref.instance_id for ref in gone)}")
    return Decision(replace(world.memory, removed={**world.memory.removed, **dict(gone)}), act)


def remove_outlived(world: World, kafka: GroupObservation, workload: Workload) -> Decision | None:
    """Members of a version before, with ids that the pod's new process will not ask for."""
    outlived = refs(find_outlived(world, kafka))
    if not outlived:
        return None
    names = listing(ref.instance_id for ref in outlived)
    return Decision(world.memory, RemoveMembers(outlived, f"their pods' new version has no such members: {names}"))


def rebalance_for_other_topics(world: World, kafka: GroupObservation, workload: Workload) -> Decision | None:
    """A static member that returns rebalances no classic group, whatever it subscribes to by now. So when every pod has
    the version that reads another topic, the member of the last one is taken out while its pod is between two lives:
    the old pod has ended, since the new one has its name, and the new one has not joined yet.

    Where that moment was missed, or never came, as in a handover, it is taken out once while it lives, and joins again
    at its next heartbeat. So it is on the way back, where the group has rebalanced for what is given up. After a
    handover not before that is over: whoever has the id then would pass for another process that took it."""
    step, memory, why = _step_in_mind(world), world.memory, _reads_otherwise(world, kafka)
    pod = world.pod(step.ordinal) if step is not None and why else None
    if step is None or pod is None or kafka.type is not GroupType.CLASSIC or kafka.state is not GroupState.STABLE:
        return None
    all_have_it = not world.outdated and (world.beside is None or is_handed_over(world.beside))
    if not (all_have_it and _no_id_is_handed_over(world)) or not step.is_followed_by(pod):
        return None
    before = [m for m in world.members_of(pod) if step.members_before.get(m.instance_id or "") == m.member_id]
    if before:
        return Decision(memory, RemoveMembers(refs(before), why))
    there = refs(world.members_of(pod))
    was_missed = _is_calm_for_good(world, kafka)
    if _was_taken_out(step, there) or not there or not was_missed or not _all_serve(world):
        return None
    taken_out = {ref.instance_id: ref.member_id for ref in there}
    return Decision(replace(memory, step=replace(step, taken_out=taken_out)), RemoveMembers(there, why))


def rebalance_for_who_owns_nothing(world: World, kafka: GroupObservation, workload: Workload) -> Decision | None:
    """A static member that returns to a classic group is given what the one before it had (F59): nothing, where that
    read another topic. Such a member of the version that all are to have is taken out, once for each step, and joins
    again at its next heartbeat."""
    memory = world.memory
    if memory.phase is RolloutPhase.FAILED or kafka.some_go_without:
        return None
    if all(member.assignment for member in kafka.members):
        return None  # as nearly always, and this is asked in every pass
    step = _step_in_mind(world)
    is_stable = kafka.type is GroupType.CLASSIC and kafka.state is GroupState.STABLE and _is_calm_for_good(world, kafka)
    if not is_stable or not _no_id_is_handed_over(world):
        return None
    outdated = {pod.ordinal for pod in world.outdated}
    to_stay = (pod for pod in world.wanted_pods if pod.ordinal not in outdated and world.made_with(pod).is_static)
    idle = next((pod for pod in to_stay if not owned_by(world, pod)), None)
    there = refs(world.members_of(idle)) if idle is not None else ()
    if step is None or idle is None or not there or _was_taken_out(step, there) or not _all_serve(world):
        return None
    taken_out = {ref.instance_id: ref.member_id for ref in there}
    why = f"so that the group rebalances, and pod {idle.name}, which owns no partition, gets its share"
    return Decision(replace(memory, step=replace(step, taken_out=taken_out)), RemoveMembers(there, why))


def _step_in_mind(world: World) -> Step | None:
    """The one that is remembered; where it went with the status in the middle of a rollout, or came to nothing before a
    retry, the making of the pod that came last: it can have been no other. Pods that were made together were made by no
    step: but where there was a version before theirs, as where somebody deleted the StatefulSet, they have what its
    members had."""
    memory = world.memory
    is_lost = memory.step is None and memory.retried_at is None
    is_gone = memory.phase is RolloutPhase.PROGRESSING and (is_lost or _came_to_nothing(world, memory.step))
    if not is_gone or not world.wanted_pods:
        return memory.step
    pods = sorted(world.wanted_pods, key=lambda pod: pod.created_at)
    one_by_one = pods[-1].created_at - pods[0].created_at >= TOGETHER_S
    follow = memory.last_good_hash not in ("", memory.target_hash)
    return Step(pods[-1].ordinal, pods[-1].created_at) if one_by_one or follow else None


def _came_to_nothing(world: World, step: Step | None) -> bool:
    """It was on the way back, which ended without it: its pod has the version that is tried again, and was never
    restarted. So it is where somebody deleted the StatefulSet of the last good version."""
    if step is None or step.made or step.started_at >= (world.memory.retried_at or 0.0):
        return False
    pod = world.pod(step.ordinal)
    return pod is not None and pod not in world.outdated and not step.is_followed_by(pod)


def _was_taken_out(step: Step, there: tuple[MemberRef, ...]) -> bool:
    """Somebody was, and is not there any more; one who is was to be, and the operator died before."""
    return bool(step.taken_out) and not any(step.taken_out.get(ref.instance_id) == ref.member_id for ref in there)


def _is_calm_for_good(world: World, kafka: GroupObservation) -> bool:
    return world.history.calm_for(kafka) >= max(world.group.spec.rollout.stable_for_s, MISSED_FOR_S)


def _no_id_is_handed_over(world: World) -> bool:
    return world.memory.handover is None or world.memory.handover.over


def _all_serve(world: World) -> bool:
    """Nobody is away whom the rebalance would wait for; and nobody has asked that the group be left alone.

    A pod that is thought to be static, and whose consumer is in the group without an id, is not away; nor is one that
    lacks a member for good."""
    pods, there = world.wanted_pods, (serves, _is_there_nameless, is_short_for_good)
    whole = len(pods) == world.replicas and all(any(is_so(world, each) for is_so in there) for each in pods)
    return whole and PAUSE not in world.group.metadata.annotations


def _is_there_nameless(world: World, pod: Pod) -> bool:
    there = world.nameless_members_of(pod)
    up = pod.ready and not pod.terminating
    return up and bool(there) and not any(world.history.predates(member, pod) for member in there)


def _reads_otherwise(world: World, kafka: GroupObservation) -> str:
    """Why the group has to rebalance once every pod has its version; empty where it need not."""
    memory = world.memory
    if memory.phase is RolloutPhase.PROGRESSING and (unread := find_unread(kafka)):
        return f"so that the group rebalances, and somebody reads {listing(sorted({each.topic for each in unread}))}"
    lately = memory.step is not None and world.now - memory.step.started_at <= BACK_LATELY_S
    if memory.phase.goes_back and lately and memory.read_before not in ("", what_is_read(kafka)):
        return "so that the group rebalances, and reads what it read before the rollout"
    return ""


def rebalance_for_more_partitions(world: World, kafka: GroupObservation, workload: Workload) -> Decision | None:
    """A topic has grown, and nobody has seen it: only a classic group's leader looks out for that, and a static leader
    that was restarted does so no more (F57). So one member is taken out, and joins again at its next heartbeat.

    Once for each size of a topic, in a calm group whose pods all work; with a live leader it would come by itself.
    """
    memory = world.memory
    calm_for_s = max(world.group.spec.rollout.stable_for_s, GROWN_FOR_S)
    calm = kafka.state is GroupState.STABLE and world.history.calm_for(kafka) >= calm_for_s
    if kafka.type is not GroupType.CLASSIC or not calm or world.beside or PAUSE in world.group.metadata.annotations:
        return None
    owned = {partition for member in kafka.members for partition in member.assignment}
    more = kafka.partitions - owned
    if not more:
        return None
    read, sizes = {partition.topic for partition in owned}, sizes_of(kafka)
    topics = sorted({p.topic for p in more if p.topic in read and memory.grown.get(p.topic, 0) < sizes[p.topic]})
    who = next((refs(world.members_of(pod)) for pod in world.wanted_pods), ())
    if not topics or not who or not _all_serve(world):
        return None
    why = f"so that the group rebalances, and somebody reads the new partitions of {listing(topics)}"
    noted = replace(memory, grown={**memory.grown, **{topic: sizes[topic] for topic in topics}})
    return Decision(noted, RemoveMembers(who[:1], why))


def sizes_of(kafka: GroupObservation) -> Mapping[str, int]:
    """How many partitions each topic has."""
    return Counter(partition.topic for partition in kafka.partitions)


def release_the_dead(world: World, kafka: GroupObservation, workload: Workload) -> Decision | None:
    """Ids of dead members are given free, so that their successors can join (F13)."""
    return release_due(world)


def restart_the_refused(world: World, kafka: GroupObservation, workload: Workload) -> Decision | None:
    """A pod whose process was refused before its id was free never joins by itself (F13). Where people have paused the
    group, no pod is deleted: they may be looking at it."""
    if PAUSE in world.group.metadata.annotations:
        return None
    return restart_due(world, workload) or overdue(world, workload)


def keep_settings(world: World, kafka: GroupObservation, workload: Workload) -> Decision | None:
    """The group's own settings in Kafka (F23). One that is taken back is remembered until it is seen to be gone."""
    change = change_due(world)
    if change is None:
        return None
    made = {**world.memory.group_settings, **settings_wanted(world)}
    return Decision(replace(world.memory, group_settings=made), change)


CARE: Final[tuple[Care, ...]] = (
    remove_scaled_away,
    remove_outlived,
    rebalance_for_other_topics,
    rebalance_for_who_owns_nothing,
    rebalance_for_more_partitions,
    release_the_dead,
    restart_the_refused,
    keep_settings,
)
