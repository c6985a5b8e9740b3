"""Does a pod get on in each of its partitions? One of its threads may be dead while others get on."""

from __future__ import annotations

from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import seconds
from slackwater.core.members.work import arrived, owned_by, owner_since, partitions_in_words
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import TopicPartition
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World


def find_standing(world: World, pod: Pod) -> Hold | None:
    """Why a pod that gets on is not yet known to do so in each of its partitions: one of its threads may be dead.

    The first pod of a version has to commit after `stableFor`, too: such a thread may have committed when it came. A
    partition counts that got on shortly before the pod had it, for `rejoinTimeout` at most: by then the member of a
    dead thread is out of the group, and a consumer that is far behind works through its partitions in turn.
    """
    if world.seen is None or not world.seen.commits:
        return None
    since, timeout_s = owner_since(world, pod), world.group.spec.rollout.rejoin_timeout_s
    is_first, moved_after = world.once(_first_of_its_version) is pod, world.history.commit_moved_after
    proven_at = since + (world.group.spec.rollout.stable_for_s if is_first else 0.0)
    waiting = [
        partition
        for partition in arrived(world, owned_by(world, pod), since)
        if moved_after.get(partition, 0.0) < proven_at
        and world.now - max(since, world.history.unread_since[partition]) <= timeout_s
        and _got_on_before(world, partition, since)
    ]
    if not waiting:
        return None
    what = "the first of its version, has yet to commit" if is_first else "has yet to commit"
    after = f" after {seconds(world.group.spec.rollout.stable_for_s)} (stableFor)" if is_first else " since it came"
    message = f"pod {pod.name}{', ' if is_first else ' '}{what} in {partitions_in_words(waiting)}{after}"
    return Hold(Reason.OFFSETS_NOT_MOVING, message, 1.0)


def _first_of_its_version(world: World) -> Pod | None:
    """The only pod so far of the version that is rolled out."""
    if world.memory.phase is not RolloutPhase.PROGRESSING or len(world.wanted_pods) != len(world.outdated) + 1:
        return None
    others = {pod.ordinal for pod in world.outdated}
    return next((pod for pod in world.wanted_pods if pod.ordinal not in others), None)


def _got_on_before(world: World, partition: TopicPartition, since: float) -> bool:
    """Within what a restart may take, and as long again. One that stood then says nothing; of what was before our first
    look nothing is known, and it may have got on."""
    history, timeout_s = world.history, world.group.spec.rollout.rejoin_timeout_s
    if history.watched_since is None or history.watched_since >= since:
        return True
    return history.commit_moved_after.get(partition, 0.0) >= since - 2 * timeout_s
