"""Breadth-first over everything that can happen, with a bounded number of faults.

Invariants are checked on every way; in the end, from every state, there must be a way to where the group should be that
needs neither luck nor people.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain

from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupState
from slackwater.core.world.profile import Profile
from tests.core.coordinator.canonical import key, settled_times
from tests.core.coordinator.events import Change, changes, faults, natural
from tests.core.coordinator.fleet import NOW, PARTITIONS, SESSION_S, TEMPLATES, Client, Fleet, Pod, Spec, state_seen
from tests.core.coordinator.pilot import Broken

Goal = Callable[[Fleet], bool]
Apart = Callable[[Fleet], Hashable]


@dataclass
class Explored:
    """What was found; a state is known by its number, which is its place in the order of discovery.

    A state that was gone on from is kept as a digest of its key: whole, a million of them would not fit into memory.
    """

    start: Fleet
    change: Change | None
    apart: Apart
    digests: list[bytes] = field(default_factory=list)
    came_from: list[tuple[int, str]] = field(default_factory=list)
    sources: array[int] = field(default_factory=lambda: array("L"))
    targets: array[int] = field(default_factory=lambda: array("L"))
    """The ways from state to state, without faults and changes of mind."""
    ends: dict[int, Fleet] = field(default_factory=dict)
    """Those where the group should be."""
    transitions: int = 0

    def story(self, number: int) -> str:
        """How it came to this state."""
        return "\n".join(f"{i:3d} {self.came_from[n][1]}" for i, n in enumerate(self._way_to(number), start=1))

    def fleet(self, number: int) -> Fleet:
        """This state, by going the way to it once more."""
        fleet = self.start
        for step in self._way_to(number):
            after = chain(natural(fleet), disturbances(fleet, self.change))
            fleet = kept(next(f for _, f in after if self.digest(f) == self.digests[step]))
        return fleet

    def digest(self, fleet: Fleet) -> bytes:
        return blake2b(repr((key(fleet), self.apart(fleet))).encode(), digest_size=16).digest()

    def _way_to(self, number: int) -> list[int]:
        way: list[int] = []
        while number > 0:
            way.append(number)
            number = self.came_from[number][0]
        return way[::-1]


class TooMany(AssertionError):
    """There are more states than an exploration is meant to have."""


def explore(
    start: Fleet,
    goal: Goal,
    change: Change | None = None,
    apart: Apart = lambda fleet: None,
    limit: int = 1_000_000,
) -> Explored:
    """Raises Broken, with how it came to that, when an invariant does not hold.

    `apart`: what keeps states apart that would be the same otherwise.
    """
    found = Explored(start, change, apart)
    numbers: dict[bytes, int] = {}
    ahead: deque[Fleet] = deque()

    def number_of(fleet: Fleet, source: int, event: str) -> int:
        name = found.digest(fleet)
        if name not in numbers:
            if len(numbers) >= limit:
                raise TooMany(f"more than {limit} states")
            numbers[name] = number = len(found.digests)
            found.digests.append(name)
            found.came_from.append((source, event))
            if goal(fleet):
                found.ends[number] = fleet
            ahead.append(kept(fleet))
        return numbers[name]

    number_of(start, -1, "")
    source = 0
    while ahead:
        fleet = ahead.popleft()
        try:
            for event, after in natural(fleet):
                found.sources.append(source)
                found.targets.append(number_of(after, source, event))
            for event, after in disturbances(fleet, change):
                number_of(after, source, event)
                found.transitions += 1
        except Broken as broken:
            raise Broken(f"{broken}\nafter\n{found.story(source)}") from broken
        source += 1
    found.transitions += len(found.targets)
    return found


def stuck(found: Explored) -> list[int]:
    """States from which there is no way to a goal any more."""
    back: list[list[int]] = [[] for _ in found.digests]
    for source, target in zip(found.sources, found.targets, strict=True):
        back[target].append(source)
    reached = set(found.ends)
    queue = deque(reached)
    while queue:
        for source in back[queue.popleft()]:
            if source not in reached:
                reached.add(source)
                queue.append(source)
    return [number for number in range(len(found.digests)) if number not in reached]


def kept(fleet: Fleet) -> Fleet:
    return settled_times(fleet) if fleet.now > NOW + SESSION_S / 3 else fleet


def at_rest(fleet: Fleet) -> bool:
    """Nothing is left to do, every pod of the spec works, and every partition has a living owner."""
    spec = fleet.spec
    if fleet.pending is not None or len(fleet.sets) != 1 or fleet.memory.phase.under_way or not fleet.sets[0].settled:
        return False
    if len(fleet.pods) != spec.replicas or not all(fleet.serves(o) for o in range(spec.replicas)):
        return False
    if state_seen(fleet.group) is not GroupState.STABLE or len(fleet.group.members) != spec.replicas:
        return False
    owned = [p for member in fleet.group.members for p in member.assignment]
    return sorted(owned) == list(range(PARTITIONS)) and len({pod.revision for pod in fleet.pods}) == 1


def as_asked(fleet: Fleet) -> bool:
    """At rest, on what the spec asks for."""
    spec, memory = fleet.spec, fleet.memory
    if memory.phase is not RolloutPhase.COMPLETE or memory.upgrade is not None or not at_rest(fleet):
        return False
    wanted, image = Profile(spec.target), f"consumer:v{spec.version}"
    return all(pod.profile is wanted and image_of(pod) == image for pod in fleet.pods)


def as_asked_or_rolled_back(fleet: Fleet) -> bool:
    """The same, or, after an abort that found something to undo, at rest on what served the group before it."""
    if fleet.spec.aborts == 0 or fleet.memory.phase is not RolloutPhase.ROLLED_BACK:
        return as_asked(fleet)
    return at_rest(fleet) and all(pod.revision == fleet.memory.last_good_revision for pod in fleet.pods)


def as_asked_or_taken_back(fleet: Fleet) -> bool:
    """The same where a version that does not come into the group is taken back."""
    taken_back = fleet.memory.phase is RolloutPhase.ROLLED_BACK and at_rest(fleet)
    return as_asked(fleet) or (taken_back and all(p.revision == fleet.memory.last_good_revision for p in fleet.pods))


def waits_for_people(fleet: Fleet) -> bool:
    """Stopped by an abort that found no earlier version to go back to; nothing moves, and nobody is disturbed."""
    return fleet.spec.aborts > 0 and fleet.memory.phase is RolloutPhase.FAILED and fleet.pending is None


def image_of(pod: Pod) -> str:
    image: str = TEMPLATES[pod.revision]["spec"]["containers"][0]["image"]
    return image


def settled_fleet(client: Client, target: str, replicas: int = 3) -> Fleet:
    """A fleet that has come up and is at rest, by the first way that leads there."""
    fleet = settled_times(Fleet(client, Spec(target, replicas=replicas)))
    for _ in range(400):
        if as_asked(fleet) and fleet.history.unchanged_since != fleet.history.observed_at:
            return fleet
        fleet = settled_times(_last(natural(fleet)))
    raise AssertionError("does not come up")


def upgrading(client: Client, origin: str, target: str, *, faults: int = 0, changes: int = 0) -> Fleet:
    """The same fleet at the moment when another target is asked for."""
    fleet = settled_fleet(client, origin)
    return replace(fleet, spec=replace(fleet.spec, target=target), faults=faults, changes=changes)


def with_another_version(client: Client, replicas: int, faults: int) -> Fleet:
    """A fleet at rest at the moment when another version is asked for."""
    fleet = settled_fleet(client, "Eager", replicas)
    return replace(fleet, spec=replace(fleet.spec, version=2), faults=faults)


def disturbances(fleet: Fleet, change: Change | None) -> Iterator[tuple[str, Fleet]]:
    yield from faults(fleet)
    yield from changes(fleet, change)


def _last(events: Iterator[tuple[str, Fleet]]) -> Fleet:
    """What the outside does comes before what the operator does; sessions do not end."""
    known = [(event, fleet) for event, fleet in events if event != "sessions end"]
    outside = [fleet for event, fleet in known if not event.startswith("the operator")]
    return outside[0] if outside else known[-1][1]
