"""Which pods a rollout has to replace, and which of them are known not to consume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from slackwater.api.rollout import RolloutStrategy
from slackwater.core.members.death import has_ended
from slackwater.core.members.kept_out import is_kept_out
from slackwater.core.members.ownership import may_be_unrecognized
from slackwater.core.members.presence import Presence, consumes_unready, is_down, lives, presence, serves
from slackwater.core.members.shortfall import is_short_for_good, lacks_members_for_good
from slackwater.core.members.standing import find_standing, is_halted
from slackwater.core.members.work import find_stall, is_stalled
from slackwater.core.rollout.failure import has_failed
from slackwater.core.world.in_hand import step_of
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.pods import Pod
from slackwater.core.world.step import Step
from slackwater.core.world.two_sets import is_overtaken
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World

MOST_DOWN: Final = 100
"""So many are remembered by name, of those that go next."""


def replaceable(world: World, workload: Workload) -> tuple[Pod, ...]:
    """Pods to be replaced, highest ordinal first: outdated ones, and failed ones that `retry` gives another chance."""
    chosen = [pod for pod in world.wanted_pods if pod.revision != workload.update_revision or has_retry(world, pod)]
    return tuple(sorted(chosen, key=lambda pod: -pod.ordinal))


def out_of_the_group(world: World, workload: Workload) -> frozenset[int]:
    """Ordinals of the pods to be replaced whose consumer is known not to be there: it can be disturbed by nothing.

    It does not run, or the group lists no member of it whose process may be alive, or lets none in.
    """
    pods = [pod for pod in replaceable(world, workload) if not pod.terminating]
    out = (pod for pod in pods if is_kept_out(world, pod) or (is_down(world, pod) and _is_out(world, pod)))
    return frozenset(pod.ordinal for pod in out if not _may_have_been_felled(world, pod))


def _is_out(world: World, pod: Pod) -> bool:
    listed = (*world.members_of(pod), *world.nameless_members_of(pod))
    ended = all(has_ended(world, member) for member in listed)
    return pod.started_at is None or (ended and not may_be_unrecognized(world, pod))


def _may_have_been_felled(world: World, pod: Pod) -> bool:
    """By a pod that got the version last and is not in the group by itself yet: it may have taken this one's instance
    id. What felled a pod is no remedy for it.

    A Ready pod that Kafka does not show may as well work in another Kafka, or be cut off from this one for a moment: it
    goes once a pod of the version works, however long it has been out.
    """
    step = step_of(world.memory)
    goes_forward = world.memory.phase is RolloutPhase.PROGRESSING and not world.memory.is_forced
    if step is None or not goes_forward or pod.ordinal in step.ordinals:
        return False
    was_down = pod.ordinal in step.down and not pod.ready
    return not was_down and not all(_works_by_itself(world, ordinal) for ordinal in step.ordinals)


def _works_by_itself(world: World, ordinal: int) -> bool:
    pod = world.pod(ordinal)
    return pod is not None and serves(world, pod) and find_standing(world, pod) is None


def known_down(world: World, workload: Workload) -> frozenset[int]:
    """Ordinals of the pods to be replaced that are known not to consume, or not all that is theirs: see `has_retry`."""
    pods = [pod for pod in replaceable(world, workload) if not pod.terminating]
    down = frozenset(pod.ordinal for pod in pods if _is_useless(world, pod) or has_retry(world, pod))
    return down | _down_in_both(world)


def _leaves_both(world: World) -> bool:
    """Between two StatefulSets, a third template is wanted: all pods are to be replaced, whichever they are in."""
    memory, beside = world.memory, world.beside
    return beside is not None and not memory.phase.goes_back and is_overtaken(beside, memory.target_hash)


def _down_in_both(world: World) -> frozenset[int]:
    """Who is down is not waited for on the way to the third: its version is to go. The next pod is replaced warm, or
    does not work either."""
    if world.way is None or not _leaves_both(world):
        return frozenset()
    down = frozenset(pod.ordinal for pod in world.wanted_pods if not pod.terminating and is_down(world, pod))
    warm = world.group.spec.rollout.strategy is RolloutStrategy.WARM_HANDOVER
    return down if warm or world.way.following in down else frozenset()


def incomplete(world: World, candidates: tuple[Pod, ...]) -> frozenset[int]:
    """Ordinals of those that consume, but not all that is theirs: they have less to lose than others. On the way back;
    or the pod where the version before this one failed, since a partition stood there, or whose member never came.
    None where the next in order is one of them, or may not live: it is waited for, or goes first."""
    if not candidates or not lives(world, candidates[0]):
        return frozenset()
    goes_back, short = world.memory.phase.goes_back, _short_alone(world, candidates)
    found = tuple(
        pod
        for pod in candidates
        if pod.ordinal in short or _has_failed_in_part(world, pod) or (goes_back and _lacks_some(world, pod))
    )
    is_next = candidates[:1] == found[:1]
    return frozenset(pod.ordinal for pod in found if not pod.terminating and not is_next)


def _short_alone(world: World, candidates: tuple[Pod, ...]) -> frozenset[int]:
    """Of those that lack a member for good, the only ones of their version: where others lack as many, it may have no
    more of them than that, whatever the spec says."""
    short = [pod for pod in candidates if is_short_for_good(world, pod)]
    of_version = Counter(pod.template_hash for pod in short)
    return frozenset(pod.ordinal for pod in short if of_version[pod.template_hash] == 1)


def _has_failed_in_part(world: World, pod: Pod) -> bool:
    step = world.memory.step
    is_of_the_last_one = step is not None and step.ordinal == pod.ordinal and step_of(world.memory) is None
    stands = pod.template_hash == world.memory.given_up_before != "" and _stands_again(world, pod)
    return stands or is_halted(world, pod) or (is_of_the_last_one and lacks_members_for_good(world, pod))


def _stands_again(world: World, pod: Pod) -> bool:
    """Another one of the version that was given up may stand as well, and have had its partitions for `stableFor` only:
    where somebody forces it on, not even for that."""
    stall = find_stall(world, pod) if serves(world, pod) else None
    return stall is not None and world.now - stall.since >= world.group.spec.rollout.stable_for_s


def _lacks_some(world: World, pod: Pod) -> bool:
    return presence(world, pod) is Presence.NO


def unready_at_work(world: World, workload: Workload) -> frozenset[int]:
    """Ordinals of the pods to be replaced that consume although they are not Ready: no controller waits for those."""
    pods = replaceable(world, workload)
    return frozenset(pod.ordinal for pod in pods if consumes_unready(world, pod))


def step_with(world: World, pod: Pod, before: Mapping[str, str]) -> Step:
    """The restart of this pod. `before`: instance id → member id."""
    last = world.memory.step
    again = last is not None and last.ordinal == pod.ordinal and world.memory.retries(pod)
    down = [each.ordinal for each in reversed(world.wanted_pods) if is_down(world, each)][:MOST_DOWN]
    halted = last.halted if again and last is not None else ()
    return Step(pod.ordinal, world.now, before, halted=halted, down=tuple(down), uid_before=pod.uid)


def has_retry(world: World, pod: Pod) -> bool:
    """It has failed, and somebody has asked to try again since it was made."""
    return world.memory.retries(pod) and (_is_useless(world, pod) or has_failed(world, pod))


def _is_useless(world: World, pod: Pod) -> bool:
    return is_down(world, pod) or is_stalled(world, pod) or is_kept_out(world, pod)
