"""Which other ConsumerGroups claim the same group in Kafka: by the store, and by what brokers said of their cluster."""

from __future__ import annotations

from functools import cached_property

from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.api.kafka_connection import allows, prefixes_of
from slackwater.api.resources import ConsumerGroup
from slackwater.core.world.claimed import Claimed
from slackwater.core.world.claims import Claim, Whereabouts, same_cluster
from slackwater.ports import Kind
from slackwater.shell.connections import Connections
from slackwater.shell.store import Key, Store, claimed_in, connection_key, connection_of


class Claims:
    """Of all namespaces that the operator watches."""

    def __init__(self, store: Store, connections: Connections) -> None:
        self._store = store
        self._connections = connections

    def of_others(self, key: Key, group: ConsumerGroup) -> tuple[Claim, ...]:
        """By name. Those that are known to be in another Kafka cluster are left out."""
        claimants = self._store.claimants(group.group_id)
        if not claimants or (len(claimants) == 1 and key in claimants):
            return ()
        mine, cluster_of = self._connections.cluster_id(key), self._connections.cluster_id
        near = [each for each in claimants if each != key and (mine is None or cluster_of(each) in (None, "", mine))]
        asks = _Asks(self._store, self._connections, key, group)
        found = [(other, asks.is_beside(other)) for other in sorted(near)]
        return tuple(asks.claim(other, certain=beside is True) for other, beside in found if beside is not False)


class _Asks:
    """One group about the others. A tenant may make thousands of one groupId, through few connections: what follows
    from a connection is found out once."""

    def __init__(self, store: Store, connections: Connections, key: Key, group: ConsumerGroup) -> None:
        self._store = store
        self._connections = connections
        self._key = key
        self._group = group
        self._beside: dict[tuple[Kind, Key, str | None], bool | None] = {}
        self._allowed: dict[tuple[Kind, Key, str], bool] = {}

    def claim(self, other: Key, *, certain: bool) -> Claim:
        return Claim(
            *other,
            certain=certain,
            since=self._since(other, certain=certain),
            older=self._age(other) < self._own_age,
            allowed=self._is_allowed(other),
            runs=bool(self._store.pods_of(other)),
        )

    def is_beside(self, other: Key) -> bool | None:
        """Whether the other one is in the same Kafka cluster; None where that cannot be told."""
        connection, cluster_id = self._connection_of(other), self._cluster_id(other)
        if connection == connection_key(self._group):
            return True
        place = (*connection, cluster_id)
        if place not in self._beside:
            self._beside[place] = same_cluster(self._own_whereabouts, self._whereabouts(connection, cluster_id))
        return self._beside[place]

    def _since(self, other: Key, *, certain: bool) -> float | None:
        """Since when the other one has had the group, if that is in this one's cluster. Where brokers have no ids, or
        have not said them to this one, only their addresses can show that."""
        here, claimed = self._own_cluster_id, self._claimed(other)
        if claimed is None or not (claimed.cluster_id == here if here else certain):
            return None
        return claimed.at

    def _claimed(self, group: Key) -> Claimed | None:
        """By its status, or that of the one in whose place it was made."""
        there = self._store.get(CONSUMER_GROUP, group)
        claimed = claimed_in(there) if there is not None else None
        return claimed or self._store.claimed_before(group, self._group.group_id)

    def _cluster_id(self, group: Key) -> str | None:
        """As its status says, until its brokers have said it."""
        told = self._connections.cluster_id(group)
        claimed = self._claimed(group) if told is None else None
        return claimed.cluster_id if claimed is not None else told

    def _is_allowed(self, other: Key) -> bool:
        connection = self._connection_of(other)
        place = (*connection, other.namespace)
        if place not in self._allowed:
            there = self._store.get(*connection)
            self._allowed[place] = there is None or allows(prefixes_of(there, other.namespace), self._group.group_id)
        return self._allowed[place]

    def _age(self, group: Key) -> tuple[str, Key]:
        """What sorts first is older. Kubernetes counts in seconds: in one, names decide, for all the same."""
        made = (self._store.get(CONSUMER_GROUP, group) or {}).get("metadata", {}).get("creationTimestamp") or ""
        return str(made), group

    def _connection_of(self, group: Key) -> tuple[Kind, Key]:
        nothing = {"metadata": {"namespace": group.namespace}}
        return connection_of(self._store.get(CONSUMER_GROUP, group) or nothing)

    def _whereabouts(self, connection: tuple[Kind, Key], cluster_id: str | None) -> Whereabouts:
        spec = (self._store.get(*connection) or {}).get("spec") or {}
        return Whereabouts(str(spec.get("bootstrapServers") or ""), cluster_id)

    @cached_property
    def _own_age(self) -> tuple[str, Key]:
        return self._age(self._key)

    @cached_property
    def _own_cluster_id(self) -> str | None:
        return self._cluster_id(self._key)

    @cached_property
    def _own_whereabouts(self) -> Whereabouts:
        return self._whereabouts(connection_key(self._group), self._own_cluster_id)
