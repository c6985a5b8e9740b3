"""What is known of groups, as far as fleets ask: by their objects, by what passes have seen and campaigns order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.api.annotations import CAMPAIGN
from slackwater.api.errors import InvalidSpec
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.order import Order
from slackwater.core.fleet.sight import Sight
from slackwater.shell.fleet_objects import Json, facts_of
from slackwater.shell.memories import Memories
from slackwater.shell.orders import Orders, version_of
from slackwater.shell.store import Key, Store


class KnownGroups:
    """`memories`: what statuses remember, each parsed once."""

    def __init__(self, store: Store, memories: Memories, now: Callable[[], float]) -> None:
        self.orders = Orders()
        """Of campaigns."""
        self.name_campaigns = False
        """A group was seen whose annotation names one, be that there or not."""
        self._store = store
        self._memories = memories
        self._now = now
        self._sights: dict[Key, Sight] = {}
        self.failures = 0
        """How many groups have failed so far. While a campaign has not counted all of them, it may halt by one, so its
        other groups do not begin."""
        self._counted: Mapping[str, int] = {}
        """By namespace: how many its campaigns have counted."""

    def has_changed(self, before: GroupFacts | None, facts: GroupFacts) -> None:
        self.failures += before is not None and before.failed_at is None and facts.failed_at is not None

    def waits_for_campaigns(self, group: str) -> bool:
        """Until those of the namespace whose campaign orders it are folded again: a second, as a rule."""
        order = self.orders.by_group.get(group)
        return order is not None and self._counted.get(_namespace(order), 0) < self.failures

    def counted(self, failures: Mapping[str, int]) -> list[str]:
        """By namespace, how many failures its campaigns have counted. Returns the groups that waited for that."""
        waited = [group for group in self.orders.by_group if self.waits_for_campaigns(group)]
        self._counted = failures
        return [group for group in waited if not self.waits_for_campaigns(group)]

    def sees(self, key: Key, sight: Sight) -> bool:
        """What a pass has seen of a group. False: it is what was seen before."""
        if sight == self._sights.get(key):
            return False
        self._sights[key] = sight
        return True

    def forget(self, key: Key) -> None:
        self._sights.pop(key, None)

    def forget_sights(self) -> None:
        """Nobody looks while there is no fleet."""
        self._sights.clear()

    def facts_of(self, keys: Iterable[Key], fleets: Sequence[Fleet]) -> list[GroupFacts]:
        """Of those of the groups that are there, and can be read. `fleets`: all that there are."""
        return list(self.each_of(keys, fleets))

    def each_of(self, keys: Iterable[Key], fleets: Sequence[Fleet]) -> Iterator[GroupFacts]:
        """The same, one by one."""
        found = ((key, self._store.get(CONSUMER_GROUP, key)) for key in keys)
        facts = (self.facts(key, obj, fleets) for key, obj in found if obj is not None)
        return (each for each in facts if each is not None)

    def facts(self, key: Key, obj: Json, fleets: Sequence[Fleet]) -> GroupFacts | None:
        """None where its status cannot be read: nothing is done to such a group, and what was known of it stands."""
        try:
            memory = self._memories.of(key, obj)
        except InvalidSpec:
            return None
        facts = facts_of(obj, memory, self._sights.get(key, Sight()), fleets, self._now())
        names_one = CAMPAIGN in (obj["metadata"].get("annotations") or {})
        self.name_campaigns |= names_one
        return self.orders.applied(facts, waits_at=version_of(obj) if names_one else "")


def _namespace(order: Order) -> str:
    return order.named.partition("/")[0]
