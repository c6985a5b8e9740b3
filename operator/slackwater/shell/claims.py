"""Which other ConsumerGroups claim the same group in Kafka: by the store, and by what brokers said of their cluster."""

from __future__ import annotations

from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.api.kafka_connection import allows, prefixes_of
from slackwater.api.resources import ConsumerGroup
from slackwater.api.timestamps import moment
from slackwater.core.world.claimed import Claimed
from slackwater.core.world.claims import Claim, Whereabouts, same_cluster
from slackwater.ports import Kind
from slackwater.shell.connections import Connections
from slackwater.shell.store import Key, Store, connection_key, connection_of


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
        connection = connection_key(group)
        found = [(other, self._is_beside(key, connection, other)) for other in sorted(near)]
        return tuple(self._claim(key, other, certain=beside is True) for other, beside in found if beside is not False)

    def _claim(self, key: Key, other: Key, *, certain: bool) -> Claim:
        return Claim(
            *other,
            certain=certain,
            since=self._since(key, other, certain=certain),
            older=self._age(other) < self._age(key),
            allowed=self._is_allowed(other),
            runs=bool(self._store.pods_of(other)),
        )

    def _since(self, key: Key, other: Key, *, certain: bool) -> float | None:
        """Since when the other one has had the group, if that is in this one's cluster. Where brokers have no ids, only
        their addresses can show that."""
        here, claimed = self._cluster_id(key), self._claimed(other)
        if claimed is None or claimed.cluster_id != here or not (here or certain):
            return None
        return claimed.at

    def _claimed(self, group: Key) -> Claimed | None:
        """By its status, of which no more is read: there may be many with one groupId."""
        status = (self._store.get(CONSUMER_GROUP, group) or {}).get("status") or {}
        written = (status.get("rollout") or {}).get("claimed") or {}
        try:
            return Claimed(str(written["clusterId"]), moment(written["at"])) if written else None
        except (KeyError, TypeError, ValueError):
            return None  # no operator wrote that

    def _cluster_id(self, group: Key) -> str | None:
        """As its status says, until its brokers have said it."""
        told = self._connections.cluster_id(group)
        claimed = self._claimed(group) if told is None else None
        return claimed.cluster_id if claimed is not None else told

    def _is_allowed(self, other: Key) -> bool:
        spec = (self._store.get(CONSUMER_GROUP, other) or {}).get("spec") or {}
        connection = self._store.get(*self._connection_of(other))
        group_id = str(spec.get("groupId") or other.name)
        return connection is None or allows(prefixes_of(connection, other.namespace), group_id)

    def _age(self, group: Key) -> tuple[str, Key]:
        """What sorts first is older. Kubernetes counts in seconds: in one, names decide, for all the same."""
        made = (self._store.get(CONSUMER_GROUP, group) or {}).get("metadata", {}).get("creationTimestamp") or ""
        return str(made), group

    def _is_beside(self, key: Key, connection: tuple[Kind, Key], other: Key) -> bool | None:
        """Whether the other one is in the same Kafka cluster; None where that cannot be told."""
        theirs = self._connection_of(other)
        if theirs == connection:
            return True
        return same_cluster(self._whereabouts(key, connection), self._whereabouts(other, theirs))

    def _connection_of(self, group: Key) -> tuple[Kind, Key]:
        nothing = {"metadata": {"namespace": group.namespace}}
        return connection_of(self._store.get(CONSUMER_GROUP, group) or nothing)

    def _whereabouts(self, group: Key, connection: tuple[Kind, Key]) -> Whereabouts:
        spec = (self._store.get(*connection) or {}).get("spec") or {}
        return Whereabouts(str(spec.get("bootstrapServers") or ""), self._cluster_id(group))
