"""In which pods members run that have no instance id of ours, as far as addresses and client ids show it.

A member at a pod's address runs in that pod. Brokers may see other addresses, though: behind network address
translation, with `hostNetwork`, or with IPv4 on one side and IPv6 on the other. There the client id counts, where it is
the name of a pod or begins with it. Anybody may choose one, so it counts for no more than this:

- Of pods that may share an address, a member that is called as one of them is not another's.
- A pod of which nobody is at its own address has those that are called as it is, and are at its node's address; or
  elsewhere, at no pod's address, where brokers see none of the pods' own.
- A member that was in the group long before the pod's process started is not that process's.
- A name that more members have than its pod should, while another pod is without any, says nothing of any of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from slackwater.core.world.departures import Stay
from slackwater.core.world.observation import Member
from slackwater.core.world.pods import Pod

ByName = Mapping[str, tuple[Member, ...]]

LONGEST_NAME: Final = 253
"""Characters of a pod's name."""


@dataclass(frozen=True, slots=True)
class Placed:
    by_pod: ByName
    """Pod's name → the members that run in it; one may stand under several pods with one address."""
    by_client_id: frozenset[str]
    """Ids of the members that stand somewhere by their client id alone."""


@dataclass(frozen=True, slots=True)
class Placing:
    """What is known of pods and members before they are brought together."""

    pods: Sequence[Pod]
    by_address: ByName
    members: Sequence[Member]
    """Those without an instance id of ours."""
    dynamic: Mapping[str, int]
    """How many members each pod should have that has dynamic ones, by the pod's name."""
    predates: Callable[[Member, Pod], bool]

    def place(self) -> Placed:
        standing, at = self._standing(), {pod.name: self._at(pod) for pod in self.pods}
        shares = {pod.name: _others(standing, pod) for pod in self.pods}
        missing = [pod for pod in self.pods if pod.name in self.dynamic and not at[pod.name]]
        if not missing and not any(shares[name] and found for name, found in at.items()):
            return Placed(at, frozenset())
        named = self._telling(shares, at)
        name_of = {member.member_id: name for name, members in named.items() for member in members}
        for name, others in shares.items():
            if others:
                at[name] = tuple(m for m in at[name] if name_of.get(m.member_id) not in others)
        some_are_seen = any(found and not shares[name] for name, found in at.items())
        by_client_id = {
            pod.name: tuple(m for m in named.get(pod.name, ()) if _may_be_at(pod, m.address, some_are_seen, standing))
            for pod in missing
            if pod.address
        }
        ids = frozenset(member.member_id for members in by_client_id.values() for member in members)
        return Placed(at | by_client_id, ids)

    def _at(self, pod: Pod) -> tuple[Member, ...]:
        return self.by_address.get(pod.address, ()) if pod.address else ()

    def _standing(self) -> Mapping[str, list[Pod]]:
        """Address → the pods of which a member may be seen there. A node's is seen of all that are translated on it."""
        standing: defaultdict[str, list[Pod]] = defaultdict(list)
        for pod in self.pods:
            for address in {pod.address, pod.node_address} - {""}:
                standing[address].append(pod)
        own = {pod.address for pod in self.pods}
        return {address: pods for address, pods in standing.items() if address in own}

    def _telling(self, shares: Mapping[str, Collection[str]], at: ByName) -> ByName:
        """Pod's name → the members that are called so, where that says something."""
        pods = {pod.name: pod for pod in self.pods}
        named: defaultdict[str, list[Member]] = defaultdict(list)
        for member in self.members:
            name = named_in(member.client_id, pods)
            if name and not self.predates(member, pods[name]):
                named[name].append(member)
        without = {name for name in self.dynamic if name not in named and (shares[name] or not at[name])}
        surplus = {name for name, found in named.items() if len(found) > self.dynamic.get(name, len(found))}
        return {name: tuple(found) for name, found in named.items() if not (name in surplus and without)}


def stays_that_ended(left: Mapping[str, Sequence[Stay]], pods: Sequence[Pod]) -> Mapping[str, list[Stay]]:
    """Pod's name → the last stays of dynamic members that may have been its, as its address, its node's or the client
    id have it. `left`: the same by these."""
    names, found = {pod.name for pod in pods}, defaultdict[str, list[Stay]](list)
    for place, stays in left.items():
        if name := named_in(place, names):
            found[name] += stays
    for pod in pods:
        for address in {pod.address, pod.node_address} - {""}:
            found[pod.name] += left.get(address, ())
    return found


def _may_be_at(pod: Pod, address: str, some_are_seen: bool, standing: Mapping[str, list[Pod]]) -> bool:
    return address == pod.node_address or not (some_are_seen or address in standing)


def _others(standing: Mapping[str, list[Pod]], pod: Pod) -> frozenset[str]:
    """Names of the other pods whose members may be seen at this one's address."""
    return frozenset(each.name for each in standing.get(pod.address, ()) if each is not pod)


def named_in(client_id: str, names: Container[str]) -> str:
    """The pod's name that a client id is, or begins with: a client of several threads adds something of its own."""
    name = client_id[: LONGEST_NAME + 1]  # of 32,000, which may all be dashes
    while name and name not in names:
        name = name.rpartition("-")[0]
    return name
