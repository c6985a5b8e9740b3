"""What groups' statuses remember, each version parsed once: by whoever asks first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slackwater.adapters.cluster.snapshot import memory_in
from slackwater.core.world.memory import RolloutMemory
from slackwater.shell.store import Key


class Memories:
    def __init__(self) -> None:
        self._known: dict[Key, tuple[str, RolloutMemory]] = {}

    def of(self, key: Key, obj: Mapping[str, Any]) -> RolloutMemory:
        """Raises InvalidSpec."""
        version = obj["metadata"]["resourceVersion"]
        known = self._known.get(key)
        if known is None or known[0] != version:
            known = self._known[key] = (version, memory_in(obj))
        return known[1]

    def forget(self, key: Key) -> None:
        self._known.pop(key, None)
