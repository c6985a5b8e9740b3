"""Which broker coordinates which group: asked once in a batch, remembered until somebody says otherwise."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kafka.protocol.metadata import FindCoordinatorRequest

from slackwater.adapters.kafka.errors import Code, Failure, group_failure, unanswered
from slackwater.adapters.kafka.parts import group_parts
from slackwater.adapters.kafka.wire import KafkaWire

_GROUP_KEY = 0


class Coordinators:
    """A cache of node ids by group id, shared by the reader and the admin of one cluster."""

    def __init__(self, wire: KafkaWire) -> None:
        self._wire = wire
        self._node_ids: dict[str, int] = {}
        self._parts = group_parts()

    async def find(self, group_ids: Collection[str]) -> dict[str, int | Failure]:
        """Return each group's coordinator, with one request for those that are not known yet. Never raises."""
        found: dict[str, int | Failure] = {g: self._node_ids[g] for g in group_ids if g in self._node_ids}
        unknown = [group_id for group_id in group_ids if group_id not in found]
        return found | await self._look_up(unknown) if unknown else found

    def forget(self, group_ids: Iterable[str]) -> None:
        """Look these up again when they are next asked for."""
        for group_id in group_ids:
            self._node_ids.pop(group_id, None)

    async def _look_up(self, group_ids: list[str]) -> dict[str, int | Failure]:
        async def ask(some: list[str]) -> dict[str, int | Failure]:
            # v4 takes many groups at once (Kafka 3.0).
            response = await self._wire.send(
                FindCoordinatorRequest(key_type=_GROUP_KEY, coordinator_keys=some, min_version=4, max_version=5)
            )
            found: dict[str, int | Failure] = {g: unanswered(f"the coordinator of group {g}") for g in some}
            for coordinator in response.coordinators:
                if coordinator.key not in found:
                    continue
                if coordinator.error_code == Code.NONE:
                    found[coordinator.key] = self._node_ids[coordinator.key] = coordinator.node_id
                else:
                    found[coordinator.key] = group_failure(coordinator.key, coordinator.error_code)
            return found

        return await self._parts.ask_each(group_ids, ask)
