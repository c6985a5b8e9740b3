"""What a pod lacks to have all its members in the group: whether for good, and in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from slackwater.core.decision.words import listing
from slackwater.core.members.presence import Presence, absent_since, cases_of, lives, member_presence
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World


def lacks_members_for_good(world: World, pod: Pod) -> bool:
    """It consumes; but what it lacks to be whole, an instance id or a member, it has lacked for `rejoinTimeout`."""
    return _has_less_for_good(world, pod, len(world.members_of(pod)))


def is_short_for_good(world: World, pod: Pod) -> bool:
    """The same, where a member without its instance id will do."""
    return _has_less_for_good(world, pod, len(world.members_of(pod)) + len(world.nameless_members_of(pod)))


def _has_less_for_good(world: World, pod: Pod, found: int) -> bool:
    overdue = world.now - absent_since(world, pod) > world.group.spec.rollout.rejoin_timeout_s
    return found < world.made_with(pod).members_per_pod and overdue and lives(world, pod)


def members_in_words(world: World, pod: Pod, found: int) -> str:
    """`has 1 of 2 members in the group`; and that of others it has them without the instance id that they are given."""
    wanted = world.made_with(pod).members_per_pod
    nameless = len(world.nameless_members_of(pod)) if world.made_with(pod).is_static else 0
    advice = f", and {nameless} without an instance id: its consumer has to take the one that it is given"
    return f"has {found} of {wanted} members in the group{advice if nameless else ''}"


def shortfall(world: World, pod: Pod) -> str:
    """The same of those that may be its own: the member of a process before it is listed until its session ends."""
    own = sum(member_presence(case) is not Presence.NO for case in cases_of(world, pod))
    nameless = world.made_with(pod).is_static and world.nameless_members_of(pod)
    return members_in_words(world, pod, own) if own or nameless else "has not joined the group"


def absence_in_words(pods: Iterable[Pod]) -> str:
    """Of pods that may be Ready and are not known to be in it. With a readiness gate they are not, for that reason."""
    closed: defaultdict[bool, list[str]] = defaultdict(list)
    for pod in pods:
        closed[pod.rejoined is False].append(pod.name)
    unknown = "not known to be in the group"
    said = {False: f"Ready, but {unknown}", True: f"held back by the readiness gate, since {unknown}"}
    return "; ".join(f"{words}: {listing(closed[gate])}" for gate, words in said.items() if gate in closed)
