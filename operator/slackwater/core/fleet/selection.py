"""Which fleets select which groups, and what each of them makes of each: a fleet's change asks that fleet alone, and a
group's asks those alone that reach its namespace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from slackwater.core.fleet.claims import Fleet, Part, part_of
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.kept import Kept

Aspect = tuple[object, ...]
"""All of a group that fleets go by as they make their parts."""


class Selection:
    def __init__(self) -> None:
        self.kept: dict[str, Kept] = {}
        """Fleets by `namespace/name`."""
        self._fleets_of: dict[str, tuple[str, ...]] = {}
        self._reaching: dict[str, tuple[Kept, ...]] = {}
        """By namespace: the fleets that reach it, by name."""
        self._parts: dict[str, tuple[Aspect, dict[str, tuple[Fleet, Part]]]] = {}

    def put(self, kept: Kept) -> None:
        """It is new, or says something else."""
        self.kept[kept.fleet.key] = kept
        self._reaching.clear()

    def leave(self, fleet: str) -> tuple[str, ...]:
        """It is gone. Returns whom it selected."""
        names = self.kept.pop(fleet).tally.names
        self._reaching.clear()
        for name in names:
            self._fleets_of[name] = tuple(key for key in self.fleets_of(name) if key != fleet)
        return names

    def fleets_of(self, group: str) -> tuple[str, ...]:
        """Those that select it, by name."""
        return self._fleets_of.get(group, ())

    def of(self, group: str) -> Iterator[Kept]:
        return (self.kept[each] for each in self.fleets_of(group))

    def select(self, group: GroupFacts) -> set[str]:
        """Count the group where it is selected, and nowhere else. Returns the fleets for which that is a change."""
        selecting = [kept for kept in self._reach(group.namespace) if kept.fleet.selects(group)]
        selected, before = tuple(kept.fleet.key for kept in selecting), self.fleets_of(group.key)
        left = {*before}.difference(selected)
        for key in left:
            self.kept[key].tally.drop(group.key)
        self._fleets_of[group.key] = selected
        return left.union(kept.fleet.key for kept in selecting if kept.tally.put(group))

    def gone(self, group: str) -> tuple[str, ...]:
        """Returns the fleets that selected it."""
        concerned = self._fleets_of.pop(group, ())
        self._parts.pop(group, None)
        for key in concerned:
            self.kept[key].tally.drop(group)
        return concerned

    def parts(self, group: GroupFacts, coordinators: Mapping[str, frozenset[int]]) -> Sequence[Part]:
        """Kept of those alone that several fleets select: of all others, nothing would be asked again."""
        fleets = [kept.fleet for kept in self.of(group.key)]
        if len(fleets) < 2:
            self._parts.pop(group.key, None)
            return [part_of(group, fleet, coordinators) for fleet in fleets]
        aspect, known = _aspect(group, coordinators), self._parts.get(group.key)
        found = known[1] if known is not None and known[0] == aspect else {}
        made: dict[str, tuple[Fleet, Part]] = {}
        for fleet in fleets:
            has = found.get(fleet.key)
            is_good = has is not None and has[0] is fleet
            made[fleet.key] = has if has is not None and is_good else (fleet, part_of(group, fleet, coordinators))
        self._parts[group.key] = (aspect, made)
        return [part for _, part in made.values()]

    def _reach(self, namespace: str) -> tuple[Kept, ...]:
        found = self._reaching.get(namespace)
        if found is None:
            kept = sorted(self.kept.items())
            found = self._reaching[namespace] = tuple(each for _, each in kept if each.fleet.reaches(namespace))
        return found


def _aspect(group: GroupFacts, coordinators: Mapping[str, frozenset[int]]) -> Aspect:
    brokers = None if group.coordinator is not None else coordinators.get(group.cluster or "")
    place = (group.labels, group.topics, group.cluster, group.coordinator, brokers)
    return (*place, group.reason, group.is_urgent, group.is_a_fix, group.has_begun)
