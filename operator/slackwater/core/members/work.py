"""Does a pod work? Being a member is not enough: it has to own partitions and get on.

`find_stall` asks it of one pod that is back in the group; `standing`, of each of its partitions. `find_idle_pods` asks
it of all pods, for the status: which are Ready and own nothing, while there are partitions that no living member owns?
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import listing
from slackwater.core.members.death import has_ended
from slackwater.core.members.presence import absent_since, serves
from slackwater.core.members.subscriptions import asks_wrongly, forgotten_topics
from slackwater.core.world.behind import behind
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType, Member, TopicPartition
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

IDLE_FOR_S: Final = 10.0
"""Every restart makes a pod Ready a moment before its consumer has joined: that is no fault."""
MOST_END_WITHIN_S: Final = 10.0
"""Who commits seldom has not stopped for a rebalance that takes some seconds."""
REBALANCES_END_WITHIN_S: Final = 60.0
"""Most of those that a restart makes take some seconds, and some consumers commit once a minute."""
SELDOM_S: Final = 600.0
"""Hardly a consumer that works commits more seldom than that; and at rest its commits are seen a minute late."""
NOTICED_WITHIN_S: Final = 300.0
"""The clients' default for `metadata.max.age.ms`: so much later they learn of partitions that a topic was given."""
NEXT_WITHIN_S: Final = 3.0
"""Where records came into a partition this shortly before a pod, one comes this shortly after it owns it, as a rule."""
MARKERS_AT_MOST: Final = 100
"""So many unread offsets may be no records at all, but what transactions leave at a partition's end (F20)."""
_SETTLED: Final = (GroupState.STABLE, GroupState.EMPTY, GroupState.DEAD)


@dataclass(frozen=True, slots=True)
class Stall:
    """Why a pod that is in the group is not known to work, and since when it could have."""

    hold: Hold
    since: float


def find_stall(world: World, pod: Pod) -> Stall | None:
    """None when the pod gets on anywhere, or had nothing to do."""
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation):
        return None
    owned = owned_by(world, pod)
    since = owner_since(world, pod)
    if not owned:
        message = f"pod {pod.name} is back in the group but owns no partition"
        hold = Hold(Reason.MEMBER_OWNS_NOTHING, message, 1.0)
        return None if kafka.some_go_without else Stall(hold, _could_own_since(world, since))
    if wrong := asks_wrongly(world, pod):
        message = f"pod {pod.name} is back in the group but {wrong}"
        return Stall(Hold(Reason.MEMBER_OWNS_NOTHING, message, 1.0), since)
    history = world.history
    if any(history.commit_moved_after.get(partition, 0.0) >= since for partition in owned):
        return None
    waiting = [history.unread_since[partition] for partition in arrived(world, owned, since)]
    left = not waiting and any(_was_left_half_read(world, kafka, partition, since) for partition in owned)
    soon = any(_is_about_to_come(world, pod, partition, since) for partition in owned)
    if not kafka.commits or not (waiting or left or soon):
        return None  # the group keeps its offsets elsewhere, or there was nothing that could have been consumed
    message = f"pod {pod.name} owns {partitions_in_words(owned)} again, but has committed nothing there since it came"
    since = max(since, pod.up_since or 0.0, min(waiting, default=since))
    return Stall(Hold(Reason.OFFSETS_NOT_MOVING, message, 1.0), since)


def _could_own_since(world: World, since: float) -> float:
    """Of a pod that owns nothing. Where it came while there were more members than partitions, it was one too many:
    somebody has to leave first, or partitions to be added, and clients look for those every five minutes."""
    went_without_at = world.history.some_went_without_at
    return since if went_without_at is None or went_without_at < since else went_without_at + NOTICED_WITHIN_S


def owned_by(world: World, pod: Pod) -> frozenset[TopicPartition]:
    return frozenset(partition for member in world.members_of(pod) for partition in member.assignment)


def arrived(world: World, owned: Iterable[TopicPartition], since: float) -> list[TopicPartition]:
    """The partitions with records to read, into which some came since then."""
    history = world.history
    return [p for p in owned if p in history.unread_since and history.end_moved_after.get(p, 0.0) >= since]


def _is_about_to_come(world: World, pod: Pod, partition: TopicPartition, since: float) -> bool:
    """A record came into it shortly before the pod did, or while the group took it in, so that the next is waited for;
    with `stableFor: 0s`, too. The group does not take in a pod for longer than a rebalance lasts: one that it gives
    other partitions has been there."""
    came_at = world.history.end_moved_after.get(partition, 0.0)
    pod_came_at = min(since, max(pod.started_at or pod.created_at, since - REBALANCES_END_WITHIN_S))
    return world.now - since < NEXT_WITHIN_S and pod_came_at - NEXT_WITHIN_S <= came_at < since


def _was_left_half_read(world: World, kafka: GroupObservation, partition: TopicPartition, since: float) -> bool:
    """Whoever got on there last left records to read: shortly before the pod came, or all of these, whoever has had it
    since. What came later may be what an aborted transaction left.
    """
    history = world.history
    moved_at = history.commit_moved_after.get(partition, 0.0)
    lately = moved_at >= since - 2 * world.group.spec.rollout.rejoin_timeout_s
    all_were_there = partition in history.commit_moved_after and history.end_moved_after.get(partition, 0.0) <= moved_at
    return (lately or all_were_there) and _has_backlog(kafka, partition)


def _has_backlog(kafka: GroupObservation, partition: TopicPartition) -> bool:
    offsets = kafka.offsets.get(partition)
    return offsets is not None and (offsets.unread or 0) > MARKERS_AT_MOST


def find_unowned(world: World, kafka: GroupObservation) -> tuple[TopicPartition, ...]:
    """Partitions that somebody should own, and nobody does.

    A topic of which nobody owns anything, in a group that is calm and complete, is one that nobody reads. Where pods
    have another version still, the new one may be the first that does: it is asked for when all pods have that.
    """
    owned = {partition for member in kafka.members for partition in member.assignment}
    read = {partition.topic for partition in (owned if behind(world) else kafka.partitions)}
    return tuple(sorted(p for p in kafka.partitions if p not in owned and p.topic in read))


def find_unread(kafka: GroupObservation) -> tuple[TopicPartition, ...]:
    """Partitions of topics of which nobody owns anything."""
    read = {partition.topic for member in kafka.members for partition in member.assignment}
    return tuple(sorted(partition for partition in kafka.partitions if partition.topic not in read))


def what_is_read(kafka: GroupObservation) -> str:
    """A digest of the topics of which somebody owns a partition; there may be thousands."""
    topics = sorted({partition.topic for member in kafka.members for partition in member.assignment})
    return hashlib.sha256(json.dumps(topics).encode()).hexdigest()[:16]


def what_is_read_if_calm(kafka: GroupObservation | None) -> str:
    """Empty where it is not known."""
    return what_is_read(kafka) if kafka is not None and kafka.calm else ""


def lag_of_what_is_read(world: World, kafka: GroupObservation) -> int | None:
    """Where pods have another version still, without topics that nobody reads: the new one may be the first that does,
    and their lag falls no earlier. None where it is not known."""
    unread = frozenset(find_unread(kafka)) if behind(world) else frozenset[TopicPartition]()
    return kafka.lag_in(kafka.partitions - unread) if unread else kafka.lag


def lag_at_the_start(kafka: GroupObservation | None) -> int | None:
    """Of what is read before a version is rolled out: another topic may be asked for together with it."""
    if kafka is None or not kafka.calm:
        return None if kafka is None else kafka.lag
    return kafka.lag_in(kafka.partitions - frozenset(find_unread(kafka)))


def nobody_gets_on(world: World, pod: Pod) -> bool:
    """Pods of another version own partitions with records to read, and have committed nothing there for as long as a
    version is waited for; or where none is left, those of its own that got on before it came.

    They are the control group: where a database that all consumers write to is away, no version is to blame. Where no
    such pod has anything to do, nothing is known.
    """
    history, timeout_s = world.history, world.group.spec.rollout.rejoin_timeout_s
    others = [each for each in world.outdated or _got_on_before(world, pod) if serves(world, each)]
    owned = {partition for each in others for member in world.members_of(each) for partition in member.assignment}
    kafka = world.seen
    waiting = {p for p in owned if p in history.unread_since or (kafka is not None and _has_backlog(kafka, p))}
    moved_at = max((history.commit_moved_after.get(partition, 0.0) for partition in owned), default=0.0)
    return bool(waiting) and world.now - moved_at > timeout_s


def _got_on_before(world: World, pod: Pod) -> list[Pod]:
    """Those of the newest version that committed something since they came."""
    outdated, moved_after = {each.ordinal for each in world.outdated}, world.history.commit_moved_after
    return [
        each
        for each in world.wanted_pods
        if each.ordinal not in outdated | {pod.ordinal}
        and any(moved_after.get(p, 0.0) >= owner_since(world, each) for p in owned_by(world, each))
    ]


def is_stalled(world: World, pod: Pod) -> bool:
    """In the group, and for longer than `rejoinTimeout` not known to work there."""
    stall = find_stall(world, pod) if serves(world, pod) else None
    if stall is None:
        return False
    timeout_s = world.group.spec.rollout.rejoin_timeout_ms / 1000
    return world.now - max(absent_since(world, pod), stall.since) > timeout_s


def find_idle_pods(world: World) -> tuple[Pod, ...]:
    """Pods that should work and do not, where nothing about them or the group has changed for a while."""
    kafka, unchanged_since = world.kafka, world.history.unchanged_since
    if not isinstance(kafka, GroupObservation) or unchanged_since is None:
        return ()
    # A classic group names no assignments while it rebalances; a KIP-848 one is never Stable while a member is away.
    if kafka.type is not GroupType.CONSUMER and kafka.state not in _SETTLED:
        return ()
    alive = [member for member in kafka.members if not member.has_left and not has_ended(world, member)]
    if kafka.partitions <= {partition for member in alive for partition in member.assignment}:
        return ()
    return tuple(pod for pod in world.wanted_pods if _is_idle(world, pod, alive, unchanged_since))


def idle_in_words(world: World) -> str:
    """Which pods own nothing while there is something to own; empty: none."""
    idle = world.once(find_idle_pods)
    own = "owns" if len(idle) == 1 else "own"
    return f"{listing(pod.name for pod in idle)} {own} nothing, while partitions have no live owner" if idle else ""


def left_unread(world: World) -> str:
    """Which pods own nothing while there is something to own, or which topics no pod asks for; empty: none."""
    if idle := idle_in_words(world):
        return idle
    kafka = world.seen
    if kafka is None or world.memory.phase is not RolloutPhase.COMPLETE or world.history.calm_for(kafka) < IDLE_FOR_S:
        return ""
    if forgotten := forgotten_topics(world, kafka):
        return f"no pod reads {listing(forgotten)}, which spec.topics names: correct the version, or spec.topics"
    return ""


def nobody_consumes(world: World) -> bool:
    """There is something to read, and nobody is in the group; or nothing has been committed for longer than any of the
    rebalances takes that restarts make, or, where somebody owns partitions and is not waited for to join again, than
    three times `rejoinTimeout`."""
    kafka, history = world.seen, world.history
    if kafka is None or world.replicas == 0 or not kafka.partitions:
        return False
    if not kafka.members:
        return history.unchanged_since is not None and world.now - history.unchanged_since >= IDLE_FOR_S
    if not kafka.commits or not history.unread_since:
        return False
    moved_at = max((history.commit_moved_after.get(partition, 0.0) for partition in kafka.partitions), default=0.0)
    begun = min(*history.unread_since.values(), history.unsettled_since or world.now)
    waited_s = world.now - max(moved_at, begun)
    # Of those who own something, some commit seldom. Before a rollout has ended, it may be of what was read before.
    owned = (partition for member in kafka.members for partition in member.assignment)
    may_go_on = any(world.outdated or partition.topic in world.group.spec.topics for partition in owned)
    if may_go_on and kafka.state is not GroupState.PREPARING_REBALANCE:
        wait_s = max(SELDOM_S, 3 * world.group.spec.rollout.rejoin_timeout_s)
        return waited_s > wait_s and _records_come(history, world.now - wait_s)
    rebalances_s = world.now - (history.unsettled_since or world.now)
    is_long = rebalances_s >= (REBALANCES_END_WITHIN_S if may_go_on else MOST_END_WITHIN_S)
    return waited_s > REBALANCES_END_WITHIN_S and (is_long or kafka.calm)


def _records_come(history: GroupHistory, since: float) -> bool:
    """Unread ones, and not only once: what an aborted transaction leaves is never committed by some clients."""
    return any(history.end_moved_after.get(p, 0.0) >= max(since, first) for p, first in history.unread_since.items())


def partitions_in_words(partitions: Iterable[TopicPartition]) -> str:
    return listing(f"{p.topic}-{p.partition}" for p in sorted(partitions))


def _is_idle(world: World, pod: Pod, alive: list[Member], unchanged_since: float) -> bool:
    if not pod.ready or pod.terminating:
        return False
    since = max(unchanged_since, pod.ready_changed_at or pod.created_at, pod.started_at or 0.0)
    works = any(member.assignment for member in world.members_of(pod) if member in alive)
    return not works and world.now - since >= IDLE_FOR_S


def owner_since(world: World, pod: Pod) -> float:
    """What was committed earlier may be the work of whoever had the partitions then."""
    sightings = [world.history.members.get(m.instance_id or m.member_id) for m in world.members_of(pod)]
    moments = [sighting.assigned_since for sighting in sightings if sighting is not None]
    return max([pod.started_at or pod.created_at, *moments])
