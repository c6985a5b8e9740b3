"""Other ConsumerGroups that claim a group in Kafka: the same `groupId`, and brokers that are, or may be, the same."""

from __future__ import annotations

from dataclasses import dataclass

from slackwater.core.world.identity import ordinal_of


@dataclass(frozen=True, slots=True)
class Claim:
    """Another ConsumerGroup that is there to stay."""

    namespace: str
    name: str
    certain: bool = True
    """Both are known to be in one Kafka cluster; else nobody can tell."""
    since: float | None = None
    """Since when it has had the group in this one's Kafka cluster, by its own status; None where it never had it."""
    older: bool = False
    """It was made before this one, or in the same second and comes first by namespace and name."""
    allowed: bool = True
    """Its KafkaConnection allows it the group: else it takes it from nobody, though its pods may be in it."""
    runs: bool = True
    """It has pods, which may consume."""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    def may_have_given(self, instance_id: str | None) -> bool:
        """Ids follow from the ConsumerGroup's name, which two of different namespaces may share."""
        return ordinal_of(instance_id, self.name) is not None


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """In which Kafka cluster a group is, as far as is known."""

    bootstrap_servers: str = ""
    """Of its KafkaConnection; empty where there is none."""
    cluster_id: str | None = None
    """As a broker told it, or as the status says since one has; None where none has, empty where brokers have none."""


def same_cluster(one: Whereabouts, other: Whereabouts) -> bool | None:
    """None: that cannot be told. One broker in common proves it; other addresses prove nothing, other ids do."""
    if _addresses(one) & _addresses(other):
        return True
    if one.cluster_id and other.cluster_id:
        return one.cluster_id == other.cluster_id
    return None


def _addresses(of: Whereabouts) -> frozenset[str]:
    """Host names are the same in any case, and with their root's dot."""
    pairs = (each.strip().lower().rpartition(":") for each in of.bootstrap_servers.split(","))
    return frozenset(f"{host.rstrip('.')}:{port}" for host, _, port in pairs if host)
