"""Does a pod get on in each of its partitions? One of its threads may be dead, or stand, while others get on.

`find_standing` holds the next step while that is not known. `find_halted` says where the pod's version is to blame.
"""

from __future__ import annotations

from typing import Final

from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import seconds
from slackwater.core.members.presence import serves
from slackwater.core.members.work import SELDOM_S, arrived, find_stall, owned_by, owner_since, partitions_in_words
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import TopicPartition
from slackwater.core.world.pods import Pod
from slackwater.core.world.step import Step
from slackwater.core.world.world import World

LONGEST_COMMIT_S: Final = 60.0
"""Some consumers commit once a minute: a partition whose records had waited for longer stood."""
SOON_COMMITTED_S: Final = 10.0
"""Twice `auto.commit.interval.ms`: who gets on has committed by then, where nothing else is known of it."""

_WAITS_NEEDED: Final = 3
"""The first may have been seen in part, and the last one may be cut short by the end of a process."""
_SOME_MORE: Final = 1.5


def find_standing(world: World, pod: Pod) -> Hold | None:
    """Why a pod that gets on is not yet known to do so in each of its partitions.

    It has `rejoinTimeout` for it. By then the member of a dead thread is out of the group; a partition that stands
    through its version's fault fails that (`find_halted`); and any other keeps no rollout.
    """
    timeout_s, is_first = world.group.spec.rollout.rejoin_timeout_s, world.once(_first_of_its_version) is pod
    unproven = sorted({*_unproven(world, pod), *_came_meanwhile(world, pod)})
    waiting = [partition for partition in unproven if _stood_s(world, pod, partition) <= timeout_s]
    if not waiting:
        return None
    what = "the first of its version, has yet to commit" if is_first else "has yet to commit"
    after = f" after {seconds(world.group.spec.rollout.stable_for_s)} (stableFor)" if is_first else " since it came"
    message = f"pod {pod.name}{', ' if is_first else ' '}{what} in {partitions_in_words(waiting)}{after}"
    return Hold(Reason.OFFSETS_NOT_MOVING, message, 1.0)


def find_stood_before(world: World, down: frozenset[int]) -> Hold | None:
    """Why a pod may be one that does not consume, although it has had its partitions for a moment only.

    It was known not to consume when the group gave it others, and has not got on since. It has `rejoinTimeout` again,
    as after every rebalance; until then no pod that works goes before it. Where such a one is the next to go, or may
    be, none of those that work is.
    """
    stood = [pod for pod in world.once(stood_before) if pod.ordinal not in down]
    next_to_go = {world.way.following} if world.way is not None else {pod.ordinal for pod in world.outdated}
    if not stood or any(pod.ordinal in next_to_go for pod in stood):
        return None
    return next((stall.hold for pod in stood if (stall := find_stall(world, pod)) is not None), None)


def stood_before(world: World) -> tuple[Pod, ...]:
    """The pods that were known not to consume when the group gave them other partitions, and have not got on since; and
    those that hang."""
    hung = world.once(hung_pods)
    served = (pod for pod in world.wanted_pods if serves(world, pod))
    return tuple(pod for pod in served if pod.ordinal in hung or _stood_before(world, pod))


def _stood_before(world: World, pod: Pod) -> bool:
    timeout_s = world.group.spec.rollout.rejoin_timeout_s
    seen = [world.history.members.get(member.instance_id or member.member_id) for member in world.members_of(pod)]
    stood = any(sighting is not None and sighting.stood_s > timeout_s for sighting in seen)
    return stood and find_stall(world, pod) is not None


def find_halted(world: World, pod: Pod) -> tuple[TopicPartition, ...]:
    """The partitions that stand for longer than `rejoinTimeout`, although records come, because this pod has them.

    Whoever had such a one before got on there to the end, and no other pod's partition has stood as long lately: those
    are the control group. What is not known, as after a restart of the operator, is held against no version; nor is
    what comes when the next pod is under way.
    """
    timeout_s, watched_since = world.group.spec.rollout.rejoin_timeout_s, world.history.watched_since
    step = world.memory.step
    if watched_since is None or world.now - watched_since <= timeout_s:
        return ()
    if step is None or pod.ordinal not in step.ordinals:
        return ()
    halted = [
        partition
        for partition in _unproven(world, pod)
        if _stood_s(world, pod, partition) > timeout_s
        and _records_come(world, partition)
        and (str(partition) in step.halted or _stands_since_it_came(world, pod, partition, step))
    ]
    return tuple(sorted(halted)) if halted and not _others_stand(world, pod) else ()


def hung_pods(world: World) -> frozenset[int]:
    """Ordinals of those that got on since they came and commit nothing anywhere any more, although records come: for
    longer than `rejoinTimeout`, and than a commit there may take. Pods of the other version get on meanwhile, in each
    of their partitions, and are the control group; of an outdated pod, all other ones."""
    timeout_s, watched_since = world.group.spec.rollout.rejoin_timeout_s, world.history.watched_since
    if watched_since is None or world.now - watched_since <= timeout_s:
        return frozenset()
    serving = [pod for pod in world.wanted_pods if serves(world, pod)]
    moved_at = {pod.ordinal: _moved_at(world, pod) for pod in serving}
    hung = {pod.ordinal for pod in serving if _hangs(world, pod, moved_at[pod.ordinal])}
    if not hung:
        return frozenset()
    outdated = {pod.ordinal for pod in world.outdated}
    get_on = {ordinal for ordinal, at in moved_at.items() if at >= world.now - timeout_s / 2}
    stand = {pod.ordinal for pod in serving if _stands_somewhere(world, pod)}  # one database, or shard, may be away
    new = hung - outdated if get_on & outdated and not stand & outdated else set[int]()
    return frozenset(new | {each for each in hung & outdated if stand <= {each} and get_on - {each}})


def version_hangs(world: World, pod: Pod) -> bool:
    """Two pods at least that have the newest version hang, and this is one of them. A single one may have met a record
    that takes its time, or that no version gets past."""
    hung = world.once(hung_pods) - {each.ordinal for each in world.outdated}
    return len(hung) > 1 and pod.ordinal in hung


def _moved_at(world: World, pod: Pod) -> float:
    moved_after = world.history.commit_moved_after
    return max((moved_after.get(partition, 0.0) for partition in owned_by(world, pod)), default=0.0)


def _hangs(world: World, pod: Pod, last: float) -> bool:
    """`last`: when it got on."""
    timeout_s, unread = world.group.spec.rollout.rejoin_timeout_s, world.history.unread_since
    if last < owner_since(world, pod) or world.now - last <= timeout_s:
        return False
    waiting = [each for each in owned_by(world, pod) if each in unread and _records_come(world, each)]
    return bool(waiting) and all(
        _stood_s(world, pod, each) > max(timeout_s, _longest_s(world, each)) for each in waiting
    )


def _stands_somewhere(world: World, pod: Pod) -> bool:
    half_s, unread = world.group.spec.rollout.rejoin_timeout_s / 2, world.history.unread_since
    return any(world.now - unread.get(partition, world.now) > half_s for partition in owned_by(world, pod))


def is_halted(world: World, pod: Pod) -> bool:
    """In the group, and its version is to blame for a partition of its that stands."""
    return serves(world, pod) and bool(find_halted(world, pod))


def _unproven(world: World, pod: Pod) -> list[TopicPartition]:
    """Where records have come since the pod came, and it is not known to get on, as was got on before.

    The first pod of a version has to commit after `stableFor`, too: a thread that is dead may have when it came.
    """
    if world.seen is None or not world.seen.commits:
        return []
    since, moved_after = owner_since(world, pod), world.history.commit_moved_after
    is_first = world.once(_first_of_its_version) is pod
    proven_at = since + (world.group.spec.rollout.stable_for_s if is_first else 0.0)
    step = world.memory.step
    halted = step.halted if step is not None and step.ordinal == pod.ordinal else ()
    return [
        partition
        for partition in arrived(world, owned_by(world, pod), since)
        if moved_after.get(partition, 0.0) < proven_at
        and (str(partition) in halted or _got_on_before(world, partition, since))
    ]


def _came_meanwhile(world: World, pod: Pod) -> list[TopicPartition]:
    """Where records came while its restart took it away, so that it has something to read, however seldom they come."""
    if world.seen is None or not world.seen.commits:
        return []
    step, since, moved_after = world.memory.step, owner_since(world, pod), world.history.commit_moved_after
    went_at = step.started_at if step is not None and pod.ordinal in step.ordinals else pod.created_at
    unread = ((each, world.history.unread_since.get(each, 0.0)) for each in owned_by(world, pod))
    return [each for each, first in unread if went_at <= first < since and moved_after.get(each, 0.0) < since]


def _stands_since_it_came(world: World, pod: Pod, partition: TopicPartition, step: Step) -> bool:
    too_long = _stood_s(world, pod, partition) > _longest_s(world, partition)
    return too_long and _moved_until_it_came(world, pod, partition, step)


def _longest_s(world: World, partition: TopicPartition) -> float:
    """What a commit there may take: half as long again as the longest wait of late. Some programs commit seldom, each
    partition when enough of it is there, and once more when they end. Unknown while too few were seen."""
    waits = world.history.waited_s.get(partition, ())
    return _SOME_MORE * max(waits) if len(waits) >= _WAITS_NEEDED else float("inf")


def _stood_s(world: World, pod: Pod, partition: TopicPartition) -> float:
    """How long records wait there since the pod has it. What was out of sight counts only after `rejoinTimeout`."""
    begun = max(owner_since(world, pod), pod.up_since or 0.0, world.history.unread_since[partition])
    unseen_until = world.history.watched_since or world.now
    return world.now - max(begun, min(unseen_until, begun + world.group.spec.rollout.rejoin_timeout_s))


def _records_come(world: World, partition: TopicPartition) -> bool:
    """More than once, and still: what an aborted transaction leaves is never committed by some clients."""
    since = max(world.history.unread_since[partition], world.now - world.group.spec.rollout.rejoin_timeout_s / 2)
    return world.history.end_moved_after.get(partition, 0.0) >= since


def _moved_until_it_came(world: World, pod: Pod, partition: TopicPartition, step: Step) -> bool:
    """No record had waited there for long when it came; where nobody had the partition meanwhile, before the step."""
    timeout_s, rested = world.group.spec.rollout.rejoin_timeout_s, world.made_with(pod).is_static and not world.beside
    let_go_at = step.started_at if rested else owner_since(world, pod)
    sightings = [world.history.members.get(m.instance_id or m.member_id) for m in world.members_of(pod)]
    found = next((each.found_waiting for each in sightings if each is not None and partition in each.assignment), None)
    if found is None or partition not in world.history.commit_moved_after:
        return False
    return found.get(partition, let_go_at) >= let_go_at - min(LONGEST_COMMIT_S, timeout_s / 2)


def _others_stand(world: World, pod: Pod) -> bool:
    """A partition of another pod stands as long, and got on lately: where all wait for a database, an open transaction
    or their turn, no version is to blame. One that has stood for ever says nothing of that, nor one that has not got on
    since a pod of the same version started."""
    history, timeout_s = world.history, world.group.spec.rollout.rejoin_timeout_s
    lately = world.now - max(SELDOM_S, 3 * timeout_s)
    others = [each for each in world.wanted_pods if each.ordinal != pod.ordinal and serves(world, each)]
    outdated = {each.ordinal for each in world.outdated}
    return any(
        world.now - history.unread_since[partition] > timeout_s
        and history.commit_moved_after.get(partition, 0.0)
        >= max(lately, 0.0 if each.ordinal in outdated else each.started_at or each.created_at)
        and _records_come(world, partition)
        for each in others
        for partition in owned_by(world, each)
        if partition in history.unread_since
    )


def _first_of_its_version(world: World) -> Pod | None:
    """The only pod so far of the version that is rolled out."""
    if world.memory.phase is not RolloutPhase.PROGRESSING or len(world.wanted_pods) != len(world.outdated) + 1:
        return None
    others = {pod.ordinal for pod in world.outdated}
    return next((pod for pod in world.wanted_pods if pod.ordinal not in others), None)


def _got_on_before(world: World, partition: TopicPartition, since: float) -> bool:
    """Within what a restart may take, and as long again. One that stood then says nothing; of what was before our
    looks, or in too few of them, nothing is known, and it may have got on."""
    history, timeout_s = world.history, world.group.spec.rollout.rejoin_timeout_s
    if history.watched_since is None or history.watched_since > since - SOON_COMMITTED_S:
        return True
    return history.commit_moved_after.get(partition, 0.0) >= since - 2 * timeout_s
