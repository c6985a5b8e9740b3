"""Has a pod more members than it should have, and for good? It runs a consumer more, or the spec has a wrong number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from slackwater.core.members.death import has_ended
from slackwater.core.members.presence import Case, Presence, cases_of, member_presence, presence
from slackwater.core.world.observation import Member
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World


def has_too_many(world: World, pod: Pod) -> bool:
    """More than `membersPerPod` of its members have been in the group for longer than `rejoinTimeout`.

    Not where a pod of another version has as many: it is the spec that has the wrong number.
    """
    number = members_for_good(world, pod)
    if number <= world.made_with(pod).members_per_pod:
        return False
    return not any(_in(world, each) >= number for each in world.outdated if each is not pod)


def members_for_good(world: World, pod: Pod) -> int:
    """How many are known to live there and have that long. None of a pod that shares its address: they may be another
    one's."""
    if shares_its_address(world, pod):
        return 0
    since = world.now - world.group.spec.rollout.rejoin_timeout_s
    nameless = (each for each in consumers_more(world, pod) if not has_ended(world, each))
    sightings = (world.history.members.get(each.member_id) for each in nameless)
    found = sum(seen is not None and not seen.away and seen.came_by < since for seen in sightings)
    return found + sum(_has_been_there(case, since) for case in cases_of(world, pod))


def consumers_more(world: World, pod: Pod) -> tuple[Member, ...]:
    """Members without an instance id in a static pod whose own ones are all there: of a consumer more than a pod of the
    version before has, to which nobody gave one. Where all of those have as many, it is not this version's doing."""
    nameless = _nameless_beside(world, pod)
    before = world.once(_more_before) if nameless else ()
    return nameless if before and min(before) < len(nameless) else ()


def what_to_correct(world: World, pod: Pod) -> str:
    """Of a pod that has too many."""
    more = len(consumers_more(world, pod))
    if not more:
        return "correct the one or the other"
    return (
        f"{more} without an instance id, which not every pod of the version before has. Give it one and raise"
        " membersPerPod, or give it a group of its own"
    )


def _more_before(world: World) -> tuple[int, ...]:
    """How many each pod of the version before has that were not asked for; of those that are there to tell."""
    shown = (pod for pod in world.outdated if not (pod.terminating or pods_beside(world, pod)))
    more = (_in(world, pod) - world.made_with(pod).members_per_pod for pod in shown)
    return tuple(each for each in more if each >= 0)


def _in(world: World, pod: Pod) -> int:
    """Members in it, with an instance id or without."""
    nameless = world.nameless_members_of(pod) if world.made_with(pod).is_static else ()
    return len(world.members_of(pod)) + len(nameless)


def _nameless_beside(world: World, pod: Pod) -> tuple[Member, ...]:
    """Where pods share an address, nobody can tell whose they are."""
    if not world.made_with(pod).is_static or presence(world, pod) is not Presence.YES or pods_beside(world, pod):
        return ()
    return world.nameless_members_of(pod)


def _has_been_there(case: Case, since: float) -> bool:
    seen = case.sighting
    stays = seen is not None and not seen.away and seen.came_by < since
    return stays and member_presence(case) is Presence.YES


def shares_its_address(world: World, pod: Pod) -> bool:
    """With pods beside it; of dynamic members only their client ids say then whose they are."""
    return not world.made_with(pod).is_static and bool(pods_beside(world, pod))


def pods_beside(world: World, pod: Pod) -> list[str]:
    """By name, those at its address."""
    return [name for name in world.once(_by_address).get(pod.address, ()) if name != pod.name]


def _by_address(world: World) -> Mapping[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for pod in world.all_pods:
        if pod.address:
            found[pod.address].append(pod.name)
    return found
