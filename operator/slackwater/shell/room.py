"""How much is kept of the ConsumerGroups of one namespace together: whoever writes them may write a thousand, each as
large as is read. Small ones do not count. Who came first keeps the place; of any other stays what names it, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from slackwater.adapters.cluster.lean import lean
from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.api.kept import SMALL, CutSpec, PackedJson, naming, weight_of_metadata, without_lists
from slackwater.ports import Kind

Json = Mapping[str, Any]

MOST: Final = 30_000_000
"""Bytes, of what is over `SMALL` of each."""


class NoRoom(CutSpec):
    """Of one that would be read, were there not so many large ones beside it. It comes back with the next list."""


class Room:
    """By namespace and name. For the event loop alone."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._had: dict[str, dict[str, int]] = {}

    def kept(self, kind: Kind, obj: Json) -> Json:
        """What is kept of an object; what an earlier version of it had is free."""
        kept = lean(kind, obj)
        return self._admitted(kept) if kind is CONSUMER_GROUP else kept

    def has_come(self, known: Json, obj: Json) -> bool:
        """Whether there is room by now for the same version of what had none."""
        if not isinstance(known.get("spec"), NoRoom):
            return False
        is_same = obj["metadata"]["resourceVersion"] == known["metadata"]["resourceVersion"]
        return is_same and self._fits(obj["metadata"]["namespace"], _weight(lean(CONSUMER_GROUP, obj)))

    def release(self, namespace: str, name: str) -> None:
        had = self._had.get(namespace, {})
        had.pop(name, None)
        if not had:
            self._had.pop(namespace, None)

    def _admitted(self, obj: Json) -> Json:
        weight, metadata = _weight(obj), obj["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        self.release(namespace, name)
        if not self._fits(namespace, weight):
            problem = self._problem(weight)
            return {**obj, "metadata": without_lists(metadata), "spec": NoRoom(naming(obj.get("spec") or {}), problem)}
        if weight > SMALL:
            self._had.setdefault(namespace, {})[name] = weight - SMALL
        return obj

    def _fits(self, namespace: str, weight: int) -> bool:
        return weight <= SMALL or sum(self._had.get(namespace, {}).values()) + weight - SMALL <= self._most

    def _problem(self, weight: int) -> str:
        return (
            f"it takes {weight:,} bytes of memory, and the large ConsumerGroups of this namespace together take all of"
            f" the {self._most:,} that they may: make some smaller, or delete some (long lists and texts go into a"
            " ConfigMap); the operator can raise observation.mostPerNamespace."
        )


def _weight(obj: Json) -> int:
    """In bytes, of what somebody else wrote of it; of a small spec nothing counts."""
    spec = obj.get("spec")
    return weight_of_metadata(obj["metadata"]) + (spec.weight if isinstance(spec, PackedJson) else 0)
