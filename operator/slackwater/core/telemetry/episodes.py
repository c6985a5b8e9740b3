"""What is known of a member that has ended, and what becomes known while it is away."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from slackwater.api.telemetry.words import RestartMode, RestartReason
from slackwater.core.telemetry.causes import with_reason
from slackwater.core.telemetry.holdings import Holding
from slackwater.core.telemetry.lives import Episode, Life
from slackwater.core.telemetry.sight import Sight
from slackwater.core.world.observation import TopicPartition
from slackwater.core.world.world import World


def episode_id(sight: Sight, place: str, member_ids: frozenset[str]) -> str:
    return sight.fact_id("episode", place, *sorted(member_ids))


def episode_of(sight: Sight, life: Life) -> Episode:
    pod, told = sight.world.pod(life.ordinal), sight.ends.get(life.pod_uid)
    by_pod = pod.ended_at if pod is not None and pod.uid == life.pod_uid else None
    by_watch = told.ended_at if told is not None else None
    stopped_at = next((at for at in (by_pod, by_watch) if at is not None and at >= life.started_at), None)
    next_start = pod.started_at if pod is not None and pod.started_at is not None else sight.world.now
    member_ids = life.members_at(stopped_at if stopped_at is not None else next_start)
    episode = Episode(
        id=episode_id(sight, life.place, member_ids),
        place=life.place,
        ordinal=life.ordinal,
        instance_id=life.instance_id,
        pod=life.pod,
        reason=RestartReason.UNKNOWN,
        mode=RestartMode.IN_PLACE,
        member_ids=member_ids,
        partitions=life.partitions,
        pod_uid=life.pod_uid,
        ran_since=life.started_at,
        revision=life.revision,
        last_seen_at=stopped_at if stopped_at is not None else life.running_at,
        stopped_at=stopped_at,
        spec_generation=sight.world.group.metadata.generation,
    )
    return with_reason(sight, episode)


def brought_up_to_date(
    sight: Sight, episode: Episode, held: Mapping[str, Holding] | None, successor: Holding | None
) -> Episode:
    """`successor`: who has its place now."""
    episode = with_reason(sight, _with_end(sight, _with_pod(sight, episode)))
    return _with_owners(sight, episode, held, successor)


def _with_pod(sight: Sight, episode: Episode) -> Episode:
    pod = sight.world.pod(episode.ordinal)
    if pod is None or pod.terminating or not episode.is_of_another_run(pod):
        return episode
    ready_at = pod.ready_changed_at if pod.ready else None
    return replace(episode, started_at=pod.started_at, ready_at=ready_at)


def _with_end(sight: Sight, episode: Episode) -> Episode:
    """The cluster may tell of the end of a pod after it has told that it is gone."""
    told = sight.ends.get(episode.pod_uid)
    if episode.stopped_at is not None or told is None or told.ended_at is None:
        return episode
    if episode.ran_since is not None and told.ended_at < episode.ran_since:
        return episode
    return replace(episode, stopped_at=told.ended_at, last_seen_at=told.ended_at)


def _with_owners(
    sight: Sight, episode: Episode, held: Mapping[str, Holding] | None, successor: Holding | None
) -> Episode:
    """Whether its partitions were given to others: a static member that is gone from the group has lost all of them."""
    kafka = sight.world.seen
    if held is None or kafka is None:
        return replace(episode, unwatched=True)
    own = episode.member_ids | (successor.member_ids if successor is not None else frozenset())
    owners = sight.world.once(_owners)
    taken = any(owner not in own for each in episode.partitions or () for owner in owners.get(each, ()))
    expired = episode.instance_id is not None and episode.place not in held
    if taken or expired or episode.evicted:
        return replace(episode, evicted=True)
    is_known = successor is not None and not episode.unwatched
    return replace(episode, evicted=False if is_known else None)


def _owners(world: World) -> Mapping[TopicPartition, Sequence[str]]:
    """By partition, the ids of the members that own it. Thousands of members may be away at the same time."""
    owners: defaultdict[TopicPartition, list[str]] = defaultdict(list)
    for member in world.seen.members if world.seen is not None else ():
        for partition in member.assignment:
            owners[partition].append(member.member_id)
    return owners
