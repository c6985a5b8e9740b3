"""How much is kept of the objects of one namespace together, of all kinds that people write: whoever writes them may
write a thousand, each as large as is read. Small ones do not count. The oldest have the place, whatever came first; of
any other stays what names it, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
        self._without: dict[str, frozenset[Place]] = {}
        self._lost: set[Place] = set()
        self._taken: dict[str, int] = {}
        """By those with room."""
        self._unjudged: set[str] = set()
        """Namespaces in which an older one may have none, and a younger one some."""

    def kept(self, kind: Kind, obj: Json, *, is_one_of_many: bool = False) -> Json:
        """What is kept of an object; what an earlier version of it had is free. `is_one_of_many`: whoever is older is
        found out for all of them together, by `taken_lost`: who was put before, has the place until then."""
        found = lean(kind, obj)
        if kind not in _NAMING:
            return found
        place = _place(kind, found)
        if self._want(place, _Want(str(found["metadata"].get("creationTimestamp") or ""), _weight(kind, found))):
            self._unjudged.add(place.namespace)
            if not is_one_of_many:
                self._judge(place.namespace)
        return self.without_spec(place, found) if self._has_none(place) else found

    def settle(self) -> None:
        """Find out who has room by now."""
        for namespace in sorted(self._unjudged):
            self._judge(namespace)

    def taken_lost(self, stored: Callable[[Place], Json | None]) -> Iterator[tuple[Place, Json]]:
        """Who has room no more, since an older one takes it: what is kept of it from now on."""
        self.settle()
        lost, self._lost = self._lost, set()
        for place in sorted(lost, key=lambda each: (each.kind.name, each)):
            obj = stored(place)
            if obj is not None and self._has_none(place) and not isinstance(obj.get("spec"), NoRoom):
                yield place, self.without_spec(place, obj)

    def has_come(self, kind: Kind, known: Json, obj: Json) -> bool:
        """Whether there is room by now for the same version of what had none."""
        if not isinstance(known.get("spec"), NoRoom):
            return False
        is_same = obj["metadata"]["resourceVersion"] == known["metadata"]["resourceVersion"]
        return is_same and not self._has_none(_place(kind, known))

    def release(self, kind: Kind, namespace: str, name: str) -> None:
        if kind in _NAMING and self._want(Place(kind, namespace, name), _Want("", 0)):
            self._unjudged.add(namespace)

    def without_spec(self, place: Place, obj: Json) -> Json:
        """What is kept of it without room."""
        spec, weight = obj.get("spec") or {}, self._wants[place.namespace][place].weight
        kept = naming(spec) if place.kind is CONSUMER_GROUP else {}
        kept |= {key: spec[key] for key in _NAMING[place.kind] if key in spec}
        return {**obj, "metadata": without_lists(obj["metadata"]), "spec": NoRoom(kept, self._problem(weight))}

    def _has_none(self, place: Place) -> bool:
        return place in self._without.get(place.namespace, frozenset())

    def _want(self, place: Place, want: _Want) -> bool:
        """Small ones are not remembered. Returns whether that may change who has room."""
        namespace, wants = place.namespace, self._wants.setdefault(place.namespace, {})
        before = wants.pop(place, _Want("", 0))
        if want.weight:
            wants[place] = want
        if want == before or not (want.weight or before.weight):
            return False
        had = 0 if self._has_none(place) else before.weight
        others = self._without.get(namespace, frozenset()) - {place}
        taken = self._taken.get(namespace, 0) - had
        fits = taken + want.weight <= self._most
        self._taken[namespace] = taken + (want.weight if fits else 0)
        self._without[namespace] = others if fits else others | {place}
        return True

    def _judge(self, namespace: str) -> None:
        """The same in whichever order they came: by age, and by name where that is the same."""
        self._unjudged.discard(namespace)
        wants, before = self._wants.get(namespace, {}), self._without.pop(namespace, frozenset())
        taken, without = 0, set[Place]()
        for place in sorted(wants, key=lambda each: (wants[each].made_at, each.name, each.kind.name)) if before else ():
            fits = taken + wants[place].weight <= self._most
            taken += wants[place].weight if fits else 0
            without |= set() if fits else {place}
        self._taken[namespace] = taken if before else self._taken.get(namespace, 0)
        self._lost |= without - before
        if without:
            self._without[namespace] = frozenset(without)
        if not wants:
            self._wants.pop(namespace, None)
            self._taken.pop(namespace, None)

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
