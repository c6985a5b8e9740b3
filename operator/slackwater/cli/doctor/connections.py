"""Whether Kafka can be reached through a KafkaConnection, and does what the operator needs of it. Pure.

The operator's own word comes first: it looks from inside the cluster. What was asked from here is apart from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from slackwater.adapters.kafka.errors import Failure
from slackwater.adapters.kafka.granted import Granted, Operation
from slackwater.api.conditions import ConditionStatus, ConditionType
from slackwater.api.consumer_group import DeletionPolicy
from slackwater.api.protocol import ProtocolTarget
from slackwater.api.resources import ConsumerGroup
from slackwater.cli.doctor.findings import Finding, Mark, Unread, not_checked
from slackwater.cli.doctor.unlimited import unlimited_finding
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import listing, seconds
from slackwater.core.world.broker import Bounds, BrokerFacts

Json = Mapping[str, Any]

_WORDS: Final = {
    Operation.DESCRIBE: "Describe",
    Operation.READ: "Read",
    Operation.DELETE: "Delete",
    Operation.DESCRIBE_CONFIGS: "DescribeConfigs",
    Operation.ALTER_CONFIGS: "AlterConfigs",
}
_TURN_ON: Final = "kafka-features.sh --bootstrap-server ... upgrade --feature group.version=1"


@dataclass(frozen=True, slots=True)
class KafkaFacts:
    """What the brokers told, through the connection's own credentials."""

    brokers: BrokerFacts
    features: Mapping[str, int]
    """The cluster's finalized features, and their levels."""
    granted: Mapping[str, Granted]
    """By group id."""
    topic_failures: Mapping[str, Failure]
    coordinators: Mapping[str, int] = field(default_factory=dict)
    """By group id, as far as that is known."""


@dataclass(frozen=True, slots=True)
class ConnectionFacts:
    connection: Json
    groups: Sequence[ConsumerGroup]
    """The ConsumerGroups that use it."""
    kafka: KafkaFacts | Failure | Unread | None = None
    """None: nobody wanted it asked from here."""
    selected: frozenset[str] | None = None
    """The groups that a ConsumerFleet selects, by `namespace/name`; None: that is not known."""

    @property
    def name(self) -> str:
        metadata = self.connection["metadata"]
        place = metadata.get("namespace")
        return f"{place}/{metadata['name']}" if place else str(metadata["name"])


def no_connections(where: str) -> Finding:
    message = f"there is none {where}, and every ConsumerGroup needs one"
    return Finding(Mark.WARNING, "KafkaConnection", message, "apply one: see examples/connection.yaml")


def connection_findings(facts: ConnectionFacts) -> list[Finding]:
    return [operators_word(facts), *_from_here(facts)]


def operators_word(facts: ConnectionFacts) -> Finding:
    """Its condition, as the operator wrote it."""
    subject = f"{facts.connection['kind']} {facts.name}"
    condition = _ready_condition(facts)
    if condition is None:
        if facts.groups:
            used = f"{listing(group.name for group in facts.groups)} {'uses' if len(facts.groups) == 1 else 'use'} it"
            remedy = "see that the operator runs, and read its log"
            return Finding(
                Mark.WARNING, subject, f"the operator has said nothing of it as it is now, though {used}", remedy
            )
        why = Unread("no ConsumerGroup uses it, and the operator looks only then")
        return not_checked(subject, why, "add --kafka to ask Kafka from here" if facts.kafka is None else "")
    message = str(condition.get("message") or condition.get("reason"))
    if condition.get("status") == ConditionStatus.TRUE:
        return Finding(Mark.OK, subject, f"the operator says: {message}")
    return Finding(Mark.MISSING, subject, f"the operator says {condition.get('reason')}: {message}")


def _ready_condition(facts: ConnectionFacts) -> Json | None:
    """None where the operator has not judged the connection as it is now."""
    status = facts.connection.get("status") or {}
    if status.get("observedGeneration") != facts.connection["metadata"].get("generation"):
        return None
    return next((c for c in status.get("conditions") or () if c["type"] == ConditionType.READY), None)


def _from_here(facts: ConnectionFacts) -> Iterator[Finding]:
    subject, kafka = f"Kafka of {facts.name}", facts.kafka
    if kafka is None:
        return
    if isinstance(kafka, Unread):
        yield not_checked(subject, kafka)
    elif isinstance(kafka, Failure):
        yield _out_of_reach(subject, kafka, _ready_condition(facts))
    else:
        yield Finding(Mark.OK, subject, f"it answers from here; finalized features: {_features(kafka.features)}")
        yield _new_protocol(subject, kafka.brokers, facts.groups)
        yield _bounds(subject, kafka.brokers)
        yield from (_of_topic(subject, topic, kafka.topic_failures[topic]) for topic in sorted(kafka.topic_failures))
        yield from (_of_group(group, kafka.granted[group.group_id]) for group in facts.groups)
        if facts.selected is not None:
            free = unlimited_finding(subject, facts.groups, facts.selected, kafka.coordinators)
            yield from () if free is None else (free,)


def _out_of_reach(subject: str, failure: Failure, condition: Json | None) -> Finding:
    """That a broker inside the cluster has no address for us outside of it, is no fault."""
    reached = condition is not None and condition.get("status") == ConditionStatus.TRUE
    if reached and failure.reason is Reason.KAFKA_UNREACHABLE:
        why = Unread(f"{failure.message} from here, though the operator reaches it")
        return not_checked(subject, why, "to ask it all the same, run this where its address leads to it, as in a pod")
    return Finding(Mark.MISSING, subject, failure.message, "see that it runs, and that spec.bootstrapServers fits")


def _features(features: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {level}" for name, level in sorted(features.items())) or "none"


def _new_protocol(subject: str, brokers: BrokerFacts, groups: Collection[ConsumerGroup]) -> Finding:
    """KIP-848; only who wants it misses it."""
    subject = f"{subject}: KIP-848"
    policy = f", online migration {brokers.migration_policy}" if brokers.migration_policy else ""
    if brokers.serves_consumer_protocol and brokers.group_version:
        return Finding(Mark.OK, subject, f"it is on (group.version {brokers.group_version}{policy})")
    if brokers.serves_consumer_protocol:
        message, remedy = "it is off (group.version 0)", _TURN_ON
    else:
        message, remedy = "not every broker knows it", "upgrade every broker to 4.0 or newer"
    wanting = [group.name for group in groups if group.spec.protocol.target is ProtocolTarget.CONSUMER]
    if wanting:
        return Finding(
            Mark.MISSING, subject, f"{message}, though protocol.target is Consumer in {listing(wanting)}", remedy
        )
    return Finding(Mark.WARNING, subject, f"{message}: no ConsumerGroup can have protocol.target Consumer", remedy)


def _bounds(subject: str, brokers: BrokerFacts) -> Finding:
    subject = f"{subject}: session timeouts"
    if brokers.problem:
        return Finding(Mark.MISSING, subject, brokers.problem)
    if brokers.classic_session is None:
        return not_checked(subject, Unread("the brokers' bounds are not alike, or were not told"))
    parts = [f"classic {_range(brokers.classic_session)}"]
    if brokers.consumer_session is not None:
        parts.append(f"KIP-848 {_range(brokers.consumer_session)}")
    return Finding(Mark.OK, subject, f"the brokers allow {', '.join(parts)}")


def _range(bounds: Bounds) -> str:
    return f"{seconds(bounds.min_ms / 1000)} to {seconds(bounds.max_ms / 1000)}"


def _of_topic(subject: str, topic: str, failure: Failure) -> Finding:
    return Finding(Mark.MISSING, f"{subject}: topic {topic}", failure.message)


def needed(group: ConsumerGroup) -> Mapping[Operation, str]:
    """What the operator's Kafka user has to be granted on the group, and what for (docs/broker.md)."""
    wanted = {Operation.DESCRIBE: "to see it", Operation.READ: "to remove and release members"}
    if group.spec.protocol.target is ProtocolTarget.CONSUMER:
        wanted |= {Operation.DESCRIBE_CONFIGS: "to read its timeouts", Operation.ALTER_CONFIGS: "to set its timeouts"}
    if group.spec.deletion_policy is DeletionPolicy.DELETE_GROUP:
        wanted[Operation.DELETE] = "to delete it with its ConsumerGroup"
    return wanted


def _of_group(group: ConsumerGroup, granted: Granted) -> Finding:
    subject = f"ACLs on group {group.group_id}"
    if isinstance(granted, Failure):
        if granted.reason is Reason.NOT_AUTHORIZED:
            return Finding(Mark.MISSING, subject, granted.message)
        return not_checked(subject, Unread(granted.message))
    wanted = needed(group)
    lacking = {operation: purpose for operation, purpose in wanted.items() if operation not in granted}
    if not lacking:
        return Finding(Mark.OK, subject, f"the connection's Kafka user may {_operations(wanted)}")
    what = ", ".join(f"{_WORDS[operation]} ({purpose})" for operation, purpose in lacking.items())
    remedy = f"grant it {_operations(lacking)} on the group"
    return Finding(Mark.MISSING, subject, f"the connection's Kafka user may not {what}", remedy)


def _operations(operations: Collection[Operation]) -> str:
    return ", ".join(_WORDS[operation] for operation in operations)
