"""Was a pod of ours ever in the group, in the Kafka in which it is now? Whoever may write a ConsumerGroup may name any
group, and pods that only sleep take no id. So the operator takes nobody out, deletes nothing and sets nothing in Kafka
before it has seen that.

A member is proven to be a pod's by its address: brokers tell that of the first one that had the id (F41). Where they
see none of the pods' own, as behind address translation, one that joined soon after its pod's first start has to do.
So it has at the node's address, which others' pods have as well.
"""

from __future__ import annotations

from typing import Final

from slackwater.core.decision.acts import Act, AlterGroupSettings, DeleteGroup, ReleaseMembers, RemoveMembers
from slackwater.core.world.observation import Member
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

SOON_S: Final = 300.0
"""The default of `rejoinTimeout`."""
_IN: Final = " in "


def seen_in(world: World) -> str | None:
    """`RolloutMemory.seen_in`, brought up to date. One that was begun before it was noted stays unknown until a pod is
    seen."""
    memory = world.memory
    is_older = memory.seen_in is None and (memory.target_hash or memory.ids_given)
    known = None if is_older else memory.seen_in or ""
    if _is_here(world, known or "") or not world.members or not _is_proven(world):
        return known
    return f"{world.group.spec.connection_ref}{_IN}{world.cluster_id or ''}"


def was_in_it(world: World) -> bool:
    """Of one that was begun before it was noted it is taken for granted."""
    return world.memory.seen_in is None or _is_here(world, world.memory.seen_in)


def may_be_done(world: World, act: Act | None) -> bool:
    """Nothing is done to a group in which a pod of ours was never seen."""
    in_kafka = isinstance(act, RemoveMembers | ReleaseMembers | DeleteGroup | AlterGroupSettings)
    return not in_kafka or was_in_it(world)


def _is_here(world: World, seen: str) -> bool:
    """Brokers may say any id of their cluster: so it is that which this connection's say. They may not have yet."""
    connection, _, cluster_id = seen.partition(_IN)
    return connection == str(world.group.spec.connection_ref) and world.cluster_id in (None, cluster_id)


def tells_addresses(world: World) -> bool:
    """`RolloutMemory.tells_addresses`, brought up to date: it is asked by whom who came from elsewhere is found."""
    known, seen = world.memory.tells_addresses, world.memory.seen_in
    return (known and (not seen or _is_here(world, seen))) or _some_are_at_their_own(world)


def _some_are_at_their_own(world: World) -> bool:
    found = ((pod, member) for pod in world.all_pods for member in world.members_of(pod))
    return any(pod.address != pod.node_address and member.address == pod.address != "" for pod, member in found)


def _is_proven(world: World) -> bool:
    if _some_are_at_their_own(world):
        return True
    found = [(pod, member) for pod in world.all_pods for member in world.members_of(pod)]
    own = {pod.address for pod in world.all_pods if pod.address and pod.address != pod.node_address}
    some_are_seen = any(member.address in own for member in world.members)
    return not some_are_seen and any(_joined_after_its_start(world, pod, member) for pod, member in found)


def _joined_after_its_start(world: World, pod: Pod, member: Member) -> bool:
    """What is soon is not for whoever writes the spec to say, nor does each run of a container begin anew."""
    sighting = world.history.members.get(member.instance_id or member.member_id)
    if sighting is None or sighting.absent_at is None or pod.runs_since is None or pod.restarts:
        return False
    after_s = sighting.came_by - pod.runs_since
    return 0.0 <= after_s <= min(SOON_S, world.group.spec.rollout.rejoin_timeout_s)
