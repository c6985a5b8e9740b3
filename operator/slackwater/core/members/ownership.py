"""Whose is a member of the group? Ours, by an instance id that the operator gave or an address of our pods, or not."""

from __future__ import annotations

from collections.abc import Iterable

from slackwater.core.decision.words import listing, shown
from slackwater.core.members.sharing import sharers_in_words
from slackwater.core.world.observation import GroupObservation, Member
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World


def find_strangers(world: World, kafka: GroupObservation) -> tuple[Member, ...]:
    """Members that we do not run: somebody else's, to be named and never to be touched."""
    return tuple(member for member in kafka.members if _is_strange(world, member))


def may_be_unrecognized(world: World, pod: Pod) -> bool:
    """Whether a member of which nobody knows where it runs may be this pod's: it should have dynamic ones, and that one
    was not there long before its process started."""
    if world.made_with(pod).is_static:
        return False
    return any(not world.history.predates(member, pod) for member in world.once(_unexplained))


def _unexplained(world: World) -> tuple[Member, ...]:
    return find_strangers(world, world.seen) if world.seen is not None else ()


def find_left_behind(world: World) -> tuple[Member, ...]:
    """Static members of pods that were scaled away, whether their pods are gone yet or not (F10).

    Where somebody else wrote the StatefulSet's number, as an autoscaler does, its pods come back as long as it stands.
    """
    stands = any(each.replicas_by for each in world.sets)
    wanted = world.made if stands else min(world.made, world.replicas)
    return tuple(member for member, ordinal in given(world) if ordinal >= wanted)


def given(world: World) -> tuple[tuple[Member, int], ...]:
    """The members of the group that have an instance id which the operator gave, each with the ordinal of its pod."""
    return world.once(_given)


def _given(world: World) -> tuple[tuple[Member, int], ...]:
    ordinals = ((member, given_ordinal(world, member)) for member in world.members)
    return tuple((member, ordinal) for member, ordinal in ordinals if ordinal is not None)


def given_ordinal(world: World, member: Member) -> int | None:
    """The ordinal of the pod that the operator gave the member's instance id to; None for an id that it did not.

    Who comes by an id after its pod has ended and its member was taken out is somebody else, too.
    """
    ordinal = world.ordinal_of(member.instance_id)
    if ordinal is None or ordinal >= world.once(ids_given):
        return None
    if not (removed := world.memory.removed):
        return ordinal
    same = removed.get(member.instance_id or "", member.member_id) == member.member_id
    return ordinal if same or world.pod(ordinal) is not None else None


def name_in_words(member: Member) -> str:
    """For people who have to find it."""
    static = f" (instance id {shown(member.instance_id)})" if member.instance_id is not None else ""
    return f"{shown(member.client_id)}{static} at {shown(member.host.lstrip('/'))}"


def strangers_in_words(world: World, strangers: Iterable[Member]) -> str:
    """For people who have to find them; with the ConsumerGroup that runs them, perhaps."""
    who = listing(map(name_in_words, strangers))
    return f"{who} ({shared_with})" if (shared_with := sharers_in_words(world)) else who


def ids_given(world: World) -> int:
    """How many ordinals were ever given: ids from there on are somebody else's, whatever they look like.

    None were where nothing was begun: members called as ours would be are those of whoever had the group before.
    """
    highest = world.pods[-1].ordinal + 1 if world.pods else 0
    asked_for = max(world.memory.ids_given, world.replicas) if has_begun(world) else 0
    return max(asked_for, world.made, highest)


def has_begun(world: World) -> bool:
    """Whether pods of ours were ever asked for."""
    return bool(world.memory.target_hash or world.memory.ids_given or world.sets)


def never_ran(world: World) -> bool:
    """No pod of ours has ever run. Of a group that had begun before anybody noted that, it is not known."""
    if world.loose or any(pod.has_run for pod in world.all_pods):
        return False
    return world.memory.never_ran or not has_begun(world)


def _is_strange(world: World, member: Member) -> bool:
    if member.instance_id is not None and world.has_static:
        return given_ordinal(world, member) is None
    return not world.is_in_a_pod(member)  # a pod's own, whether it should have had an instance id or not
