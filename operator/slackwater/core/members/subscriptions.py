"""What do members ask for? Not what they own: a static member that comes back to a classic group is given what it owned
before, whatever it asks for (F59), and the group reads that until it rebalances.

A subscription that is not known, as of a pattern that brokers match, says nothing here.
"""

from __future__ import annotations

from slackwater.core.decision.words import listing
from slackwater.core.world.behind import behind
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World


def asks_wrongly(world: World, pod: Pod) -> str:
    """What is wrong with what a pod of the new version asks for; empty: nothing that is known.

    Of a version that a rollout goes back to, or that another one has taken the place of, today's spec says nothing.
    """
    before = world.once(_ordinals_behind)
    if not before or pod.ordinal in before or world.memory.phase is RolloutPhase.ROLLING_BACK:
        return ""
    asked = _asked_for_by(world, pod)
    if not asked:
        return ""
    if asked.isdisjoint(world.once(_topics_known)):
        return f"reads only {listing(sorted(asked))}, which spec.topics does not name"
    if forgotten := world.once(_asked_for_by_all_before) - asked:
        return f"does not read {listing(sorted(forgotten))}, which spec.topics names and each pod before it reads"
    return ""


def asked_for_by_each(world: World) -> tuple[str, ...] | None:
    """For `RolloutMemory.read_by_each`, before a rollout begins."""
    asked = [_asked_for_by(world, pod) for pod in world.wanted_pods]
    return tuple(sorted(frozenset(world.group.spec.topics).intersection(*asked))) if asked and all(asked) else None


def forgotten_topics(world: World, kafka: GroupObservation) -> tuple[str, ...]:
    """Those of `spec.topics` that nobody asks for, once every pod has the version: a rebalance takes them away."""
    asked = [member.subscribed for member in kafka.members]
    if not kafka.calm or not asked or world.memory.phase.goes_back or behind(world):
        return ()
    there = {partition.topic for partition in kafka.partitions}.intersection(world.group.spec.topics)
    if not all(asked):
        return ()
    return tuple(sorted(there.difference(*(each or () for each in asked))))


def _ordinals_behind(world: World) -> frozenset[int]:
    return frozenset(pod.ordinal for pod in behind(world))


def _topics_known(world: World) -> frozenset[str]:
    """Named, or owned by pods of the version before: those may be left out of the spec."""
    members = (member for each in behind(world) for member in world.members_of(each))
    return frozenset((*world.group.spec.topics, *(p.topic for member in members for p in member.assignment)))


def _asked_for_by_all_before(world: World) -> frozenset[str]:
    """Topics of the spec for which each pod of the version before asks, and asked when the rollout began: which pod
    reads what may differ by design, and those that are left may be of one kind."""
    at_first, asked = world.memory.read_by_each, [_asked_for_by(world, pod) for pod in behind(world)]
    topics = world.group.spec.topics if at_first is None else at_first
    return frozenset(world.group.spec.topics).intersection(topics, *asked)


def _asked_for_by(world: World, pod: Pod) -> frozenset[str]:
    """Empty where a member of it is missing, or what one asks for is not known."""
    members = world.members_of(pod)
    asked = [member.subscribed or frozenset[str]() for member in members]
    if len(members) < world.made_with(pod).members_per_pod or not all(asked):
        return frozenset()
    return frozenset[str]().union(*asked)
