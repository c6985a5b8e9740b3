"""What excuses a pod that does not work: when is that not the doing of the version that is being rolled out?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from slackwater.core.manifests.needs import needs_otherwise
from slackwater.core.members.duplicates import was_taken_from
from slackwater.core.members.presence import Presence, presence, serves
from slackwater.core.members.standing import is_halted, version_hangs
from slackwater.core.members.surplus import has_too_many
from slackwater.core.members.work import is_stalled, nobody_gets_on
from slackwater.core.rollout import orphans
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.pods import SCHEDULING_GATED, UNSCHEDULABLE, Pod
from slackwater.core.world.world import World

CRASH_LOOP: Final = "CrashLoopBackOff"
LONGEST_PAUSE_S: Final = 310.0
"""Of the kubelet, before it starts a container again that ends and ends: five minutes, and what it takes to be seen."""


def has_another_version(world: World, pod: Pod) -> bool:
    """What an old pod does is not the new version's doing; nor is what any pod does before a template has that."""
    workload, memory = world.workload, world.memory
    if workload is None or pod.revision != workload.update_revision:
        return True
    return memory.phase is RolloutPhase.PROGRESSING and workload.template_hash != memory.target_hash


def is_ending(world: World, pod: Pod) -> bool:
    """Whatever it does now, it does because it is being deleted."""
    return pod.terminating


def works(world: World, pod: Pod) -> bool:
    """It is in the group and gets on there, or has not yet had `rejoinTimeout` to."""
    if not serves(world, pod):
        return False
    return not (
        is_stalled(world, pod) or is_halted(world, pod) or has_too_many(world, pod) or version_hangs(world, pod)
    )


def may_be_in_the_group(world: World, pod: Pod) -> bool:
    """Ready, and not known to be out of the group: what is not known is no failure."""
    return pod.ready and presence(world, pod) is Presence.UNKNOWN


def gets_on_as_little_as_others(world: World, pod: Pod) -> bool:
    """It is in the group, and pods of the other version get on there no better: what is wrong is not the version's."""
    return serves(world, pod) and nobody_gets_on(world, pod)


def found_no_node(world: World, pod: Pod) -> bool:
    """No node has room for it, it is held before it may ask for one, nobody looks for one, or its node can make it no
    sandbox; and for a pod of the last good version that would be so as well."""
    waits = not pod.has_run and not pod.address and pod.waiting in ("", SCHEDULING_GATED)
    return (waits or pod.waiting == UNSCHEDULABLE) and not world.once(needs_otherwise)


def is_starting(world: World, pod: Pod) -> bool:
    """Its startup probe goes on, as while state is restored; how long that may take the probe says itself."""
    return pod.starting


def is_yet_to_be_tried(world: World, pod: Pod) -> bool:
    """It ended while Kafka was out of sight, as many programs do that reach no broker, and the kubelet has not started
    it again since."""
    watched_since = world.history.watched_since or world.now
    in_a_pause = pod.waiting == CRASH_LOOP and pod.ended_at is not None and pod.ended_at <= watched_since
    return in_a_pause and world.now - watched_since <= LONGEST_PAUSE_S


def is_fenced_by_an_orphan(world: World, pod: Pod) -> bool:
    """A pod that was left by the other StatefulSet, and nobody controls, has its instance id, too."""
    return pod.ordinal in world.once(orphans.left_over)


def was_ended_by_the_other_pod(world: World, pod: Pod) -> bool:
    """It ended last while the other pod of a handover may have had its id; the kubelet has yet to start it again."""
    handover = world.memory.handover
    if pod.waiting != CRASH_LOOP or handover is None or handover.ordinal != pod.ordinal or pod.ended_at is None:
        return False
    return not handover.over or handover.alone_since is None or pod.ended_at <= handover.alone_since


def meets_what_others_meet(world: World, pod: Pod) -> bool:
    """It is not Ready, and pods of the other version are not for the same reason, or none of them is at all.

    Where none is left, those of its own version speak for it that were Ready for longer than a version is waited for.
    """
    others = world.once(_troubles_of_others) or _troubles_of_those_before(world, pod)
    if pod.ready or not others:
        return False
    return pod.waiting in others if pod.waiting else None not in others


def _troubles_of_others(world: World) -> frozenset[str | None]:
    """What pods of the other version wait for that are not Ready; None for one that is. Not of one whose instance id
    was taken: that may be the version's doing."""
    others = (pod for pod in world.outdated if not pod.terminating and not was_taken_from(world, pod))
    return frozenset(None if pod.ready else pod.waiting for pod in others)


def _troubles_of_those_before(world: World, pod: Pod) -> frozenset[str | None]:
    """The same of those of its own version that had proven themselves. None, too, for one that ends and ends: that may
    be what the version does after a while."""
    timeout_s = world.group.spec.rollout.rejoin_timeout_s
    others = [each for each in world.wanted_pods if each is not pod and not each.terminating]
    proven = [each for each in others if each.ready or _was_ready_for_s(each) > timeout_s]
    return frozenset(None if each.ready or each.waiting else "" for each in proven)


def _was_ready_for_s(pod: Pod) -> float:
    """At most, before it ceased to be Ready. What waited for a node, or started again since, proves nothing by that."""
    begun = max(pod.created_at, pod.scheduled_at or 0.0, pod.started_at or 0.0)
    return (pod.ready_changed_at or 0.0) - begun


EXCUSES: Final[tuple[Callable[[World, Pod], bool], ...]] = (
    has_another_version,
    is_ending,
    works,
    may_be_in_the_group,
    is_starting,
    is_yet_to_be_tried,
    is_fenced_by_an_orphan,
    was_ended_by_the_other_pod,
    found_no_node,
    meets_what_others_meet,
    gets_on_as_little_as_others,
)
"""Any of them is enough; the cheap ones come first."""
