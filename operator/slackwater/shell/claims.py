"""Which other ConsumerGroups claim the same group in Kafka: by the store, and by what brokers said of their cluster."""

from __future__ import annotations

from functools import cached_property

from slackwater.api.kafka_connection import allows, prefixes_of
from slackwater.api.resources import ConsumerGroup
from slackwater.core.world.claimed import Claimed
from slackwater.core.world.claims import Claim, Whereabouts, same_cluster
from slackwater.ports import Kind
from slackwater.shell.connections import Connections
from slackwater.shell.store import Key, Store, connection_key


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
        found = (asks.claim_of(other) for other in sorted(near))
        return tuple(claim for claim in found if claim is not None)


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

    def claim_of(self, other: Key) -> Claim | None:
        """None: the other one is known to be in another Kafka cluster."""
        connection, claimed, made_at = self._store.claimant(other)
        claimed = claimed or self._store.claimed_before(other, self._group.group_id)
        beside = self._is_beside(connection, self._cluster_id(other, claimed))
        if beside is False:
            return None
        return Claim(
            *other,
            certain=beside is True,
            since=self._since(claimed, certain=beside is True),
            older=(made_at, other) < self._own_age,
            allowed=self._is_allowed(connection, other.namespace),
            runs=bool(self._store.pods_of(other)),
        )

    def _is_beside(self, connection: tuple[Kind, Key], cluster_id: str | None) -> bool | None:
        """Whether the other one is in the same Kafka cluster; None where that cannot be told."""
        if connection == self._own_connection:
            return True
        place = (*connection, cluster_id)
        if place not in self._beside:
            self._beside[place] = same_cluster(self._own_whereabouts, self._whereabouts(connection, cluster_id))
        return self._beside[place]

    def _since(self, claimed: Claimed | None, *, certain: bool) -> float | None:
        """Since when the other one has had the group, if that is in this one's cluster. Where brokers have no ids, or
        have not said them to this one, only their addresses can show that."""
        here = self._own_cluster_id
        if claimed is None or not (claimed.cluster_id == here if here else certain):
            return None
        return claimed.at

    def _cluster_id(self, group: Key, claimed: Claimed | None) -> str | None:
        """As its status says, or that of the one in whose place it was made, until its brokers have said it."""
        said = self._connections.cluster_id(group)
        return claimed.cluster_id if said is None and claimed is not None else said

    def _is_allowed(self, connection: tuple[Kind, Key], namespace: str) -> bool:
        place = (*connection, namespace)
        if place not in self._allowed:
            there = self._store.get(*connection)
            self._allowed[place] = there is None or allows(prefixes_of(there, namespace), self._group.group_id)
        return self._allowed[place]

    def _whereabouts(self, connection: tuple[Kind, Key], cluster_id: str | None) -> Whereabouts:
        spec = (self._store.get(*connection) or {}).get("spec") or {}
        return Whereabouts(str(spec.get("bootstrapServers") or ""), cluster_id)

    @cached_property
    def _own_age(self) -> tuple[str, Key]:
        """What sorts first is older. Kubernetes counts in seconds: in one, names decide, for all the same."""
        return self._store.claimant(self._key).made_at, self._key

    @cached_property
    def _own_cluster_id(self) -> str | None:
        claimed = self._store.claimant(self._key).claimed
        return self._cluster_id(self._key, claimed or self._store.claimed_before(self._key, self._group.group_id))

    @cached_property
    def _own_whereabouts(self) -> Whereabouts:
        return self._whereabouts(self._own_connection, self._own_cluster_id)

    @cached_property
    def _own_connection(self) -> tuple[Kind, Key]:
        return connection_key(self._group)
