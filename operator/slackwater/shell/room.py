"""How much is kept of the objects of one namespace together, of all kinds that people write: whoever writes them may
write a thousand, each as large as is read. Small ones do not count. The oldest have the place, whatever came first; of
any other stays what names it, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from slackwater.adapters.cluster.lean import lean
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP, FLEET_CAMPAIGN, KAFKA_CONNECTION
from slackwater.api.kept import CutSpec, excess_of, naming, without_lists
from slackwater.ports import Kind

Json = Mapping[str, Any]

MOST: Final = 30_000_000
"""Bytes, of what `kept.excess_of` counts of each."""
_NAMING: Final[Mapping[Kind, tuple[str, ...]]] = {
    CONSUMER_GROUP: (),  # see `kept.naming`
    KAFKA_CONNECTION: ("bootstrapServers",),  # two that name the same brokers are beside each other
    CONSUMER_FLEET: ("namespaces", "pause"),  # nothing begins in these, though nobody can read it
    FLEET_CAMPAIGN: (),
}
"""What is counted, and what stays of a spec that has no room."""


class NoRoom(CutSpec):
    """Of one that would be read, were there not so many large ones beside it. It comes back with the next list."""


class Place(NamedTuple):
    kind: Kind
    namespace: str
    name: str


class _Want(NamedTuple):
    made_at: str
    weight: int


class Room:
    """For the event loop alone."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._wants: dict[str, dict[Place, _Want]] = {}
        """By namespace: whoever is not small, with room or without."""
        self._sums: dict[str, int] = {}
        self._without: dict[str, frozenset[Place]] = {}
        self._lost: list[Place] = []

    def kept(self, kind: Kind, obj: Json) -> Json:
        """What is kept of an object; what an earlier version of it had is free."""
        found = lean(kind, obj)
        if kind not in _NAMING:
            return found
        place = _place(kind, found)
        self._want(place, _Want(str(found["metadata"].get("creationTimestamp") or ""), _weight(kind, found)))
        return self.without_spec(place, found) if self._has_none(place) else found

    def taken_lost(self) -> tuple[Place, ...]:
        """Who had room, and has none any more, since an older one takes it."""
        lost, self._lost = tuple(filter(self._has_none, self._lost)), []
        return lost

    def has_come(self, kind: Kind, known: Json, obj: Json) -> bool:
        """Whether there is room by now for the same version of what had none."""
        if not isinstance(known.get("spec"), NoRoom):
            return False
        is_same = obj["metadata"]["resourceVersion"] == known["metadata"]["resourceVersion"]
        return is_same and not self._has_none(_place(kind, known))

    def release(self, kind: Kind, namespace: str, name: str) -> None:
        if kind in _NAMING:
            self._want(Place(kind, namespace, name), _Want("", 0))

    def without_spec(self, place: Place, obj: Json) -> Json:
        """What is kept of it without room."""
        spec, weight = obj.get("spec") or {}, self._wants[place.namespace][place].weight
        kept = naming(spec) if place.kind is CONSUMER_GROUP else {}
        kept |= {key: spec[key] for key in _NAMING[place.kind] if key in spec}
        return {**obj, "metadata": without_lists(obj["metadata"]), "spec": NoRoom(kept, self._problem(weight))}

    def _has_none(self, place: Place) -> bool:
        return place in self._without.get(place.namespace, frozenset())

    def _want(self, place: Place, want: _Want) -> None:
        """Small ones are not remembered."""
        wants = self._wants.setdefault(place.namespace, {})
        before = wants.pop(place, None)
        if want.weight:
            wants[place] = want
        if want != before and (want.weight or before is not None):
            change = want.weight - (0 if before is None else before.weight)
            self._sums[place.namespace] = self._sums.get(place.namespace, 0) + change
            self._judge(place.namespace, place)
        if not wants:
            for kept in (self._wants, self._sums, self._without):
                kept.pop(place.namespace, None)

    def _judge(self, namespace: str, changed: Place) -> None:
        """The same in whichever order they came: by age, and by name where that is the same."""
        before, left, without = self._without.get(namespace, frozenset()), self._most, set[Place]()
        if self._sums[namespace] > self._most:
            wants = self._wants[namespace]
            for place in sorted(wants, key=lambda each: (wants[each].made_at, each.name, each.kind.name)):
                fits = wants[place].weight <= left
                left -= wants[place].weight if fits else 0
                without |= set() if fits else {place}
        self._lost += sorted(without - before - {changed})
        self._without[namespace] = frozenset(without)

    def _problem(self, weight: int) -> str:
        return (
            f"it takes {weight:,} bytes of memory more than a small one, and the large objects of this namespace"
            " (ConsumerGroups, KafkaConnections, ConsumerFleets and FleetCampaigns) together take all of the"
            f" {self._most:,} that they may: make some smaller, or delete some (long lists and texts of a ConsumerGroup"
            " go into a ConfigMap); the operator can raise observation.mostPerNamespace."
        )


def _place(kind: Kind, obj: Json) -> Place:
    return Place(kind, obj["metadata"].get("namespace", ""), obj["metadata"]["name"])


def _weight(kind: Kind, obj: Json) -> int:
    """In bytes, of what somebody else wrote of it; what is not kept does not count."""
    spec = obj.get("spec")
    return excess_of(
        obj["metadata"], None if isinstance(spec, CutSpec) else spec, stays_read=kind is not CONSUMER_GROUP
    )
