"""A member that works is taken out of the group once, and joins again at its next heartbeat: the group rebalances then,
where it would not by itself and somebody goes without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from slackwater.api.annotations import PAUSE
from slackwater.core.decision.acts import RemoveMembers
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.words import listing
from slackwater.core.members.presence import serves
from slackwater.core.members.shortfall import is_short_for_good
from slackwater.core.members.work import find_unowned, find_unread, owned_by, partitions_in_words, what_is_read
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType, MemberRef, refs
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile
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


def rebalance_for_what_was_not_assigned(world: World, kafka: GroupObservation, workload: Workload) -> Decision | None:
    """A KIP-848 group that was made of a classic one in the middle of its rebalance has the assignment that there was
    then, and a static member that returns raises no epoch: nothing else is assigned until somebody joins or leaves. So
    one member is taken out, once for each step, one that owns nothing where there is one, and joins again."""
    memory, calm_for_s = world.memory, max(world.group.spec.rollout.stable_for_s, GROWN_FOR_S)
    is_stable = kafka.type is GroupType.CONSUMER and kafka.state is GroupState.STABLE
    if not is_stable or memory.phase is RolloutPhase.FAILED or world.history.calm_for(kafka) < calm_for_s:
        return None
    why = _what_was_not_assigned(world, kafka)
    if not why or not _no_id_is_handed_over(world):
        return None
    step = _step_in_mind(world)
    there = next((found for pod in _to_take_out(world) if (found := refs(world.members_of(pod)))), ())
    was_done = step is not None and step.taken_at_epoch not in (None, kafka.epoch)
    if step is None or was_done or not there or not _all_serve(world):
        return None
    taken_out = {ref.instance_id: ref.member_id for ref in there}
    noted = replace(memory, step=replace(step, taken_out=taken_out, taken_at_epoch=kafka.epoch))
    return Decision(noted, RemoveMembers(there, why))


def _what_was_not_assigned(world: World, kafka: GroupObservation) -> str:
    """Why a new assignment is worth it; empty where it is not. A topic that nobody asks for is assigned to nobody,
    however often members join, and who asks for none that there is gets nothing."""
    asked_for = {topic for member in kafka.members for topic in member.subscribed or ()}
    unowned = find_unowned(world, kafka)
    if unowned:
        asked_for.update(partition.topic for member in kafka.members for partition in member.assignment)
    if left := [partition for partition in unowned if partition.topic in asked_for]:
        return f"so that the group assigns {partitions_in_words(left)}, which nobody owns"
    if kafka.some_go_without or all(member.assignment for member in kafka.members):
        return ""
    there = {partition.topic for partition in kafka.partitions}
    idle = next((pod for pod in _to_take_out(world) if not owned_by(world, pod)), None)
    asks = idle is not None and any(there.intersection(each.subscribed or ()) for each in world.members_of(idle))
    name = idle.name if idle is not None else ""
    return f"so that the group rebalances, and pod {name}, which owns no partition, gets its share" if asks else ""


def _to_take_out(world: World) -> list[Pod]:
    """Static ones, those with the fewest partitions first. Not the only one of KIP-848 beside classic ones: without it,
    the group would be a classic one again."""
    pods = world.wanted_pods
    modern = [pod for pod in pods if pod.protocol is Profile.CONSUMER]
    kept = modern if len(modern) == 1 < len(pods) else []
    static = (pod for pod in pods if pod not in kept and world.made_with(pod).is_static)
    return sorted(static, key=lambda pod: len(owned_by(world, pod)))


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
