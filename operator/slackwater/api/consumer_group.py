"""ConsumerGroup: one Kafka consumer group and the pods that are its members."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Final

from pydantic import Field

from slackwater.api.client import Client, Library
from slackwater.api.disruption_budget import DisruptionBudget
from slackwater.api.distinct import Distinct
from slackwater.api.durations import cel_between
from slackwater.api.left_alone import left_alone
from slackwater.api.model import MOST_PODS, ApiModel, Flag, Int32, Rule, cel_given, rule
from slackwater.api.owned_settings import OwnedSetting
from slackwater.api.pod_template import Container, PodTemplate
from slackwater.api.protocol import Protocol, ProtocolTarget
from slackwater.api.references import ConnectionRef
from slackwater.api.rollout import Rollout, RolloutStrategy
from slackwater.api.text import PrintableText, Text
from slackwater.api.timeouts import Timeouts
from slackwater.api.volume_claims import RetentionPolicy, VolumeClaimTemplate

_TARGETS_CONSUMER: Final = f"({cel_given('protocol.target')} && self.protocol.target == 'Consumer')"
_IS_WARM: Final = f"({cel_given('rollout.strategy')} && self.rollout.strategy == 'WarmHandover')"
_SESSION: Final = f"({cel_given('timeouts.session')} ? self.timeouts.session : '45s')"
_MAX_POLL_INTERVAL: Final = f"({cel_given('timeouts.maxPollInterval')} ? self.timeouts.maxPollInterval : '5m')"

_HAS_CLAIMS: Final = "(has(self.volumeClaimTemplates) && size(self.volumeClaimTemplates) > 0)"

MOST_MEMBERS_PER_POD: Final = 1_000
MOST_CLAIMS: Final = 8
"""For each pod. A rule compares their names in pairs, and the API server bounds what that may cost."""


class Membership(StrEnum):
    STATIC = "Static"
    DYNAMIC = "Dynamic"


class DeletionPolicy(StrEnum):
    RETAIN = "Retain"
    DELETE_GROUP = "DeleteGroup"


GroupId = Annotated[str, PrintableText(sentence="write the Kafka group's id: 1 to 249 printable characters")]
TopicName = Annotated[
    str, Text(r"[a-zA-Z0-9._-]+", "write a topic's name: 1 to 249 letters, digits, ., _ and -", max_length=249)
]


class ConsumerGroupSpec(ApiModel):
    RULES: ClassVar[tuple[Rule, ...]] = tuple(left_alone(setting) for setting in OwnedSetting)

    explicit_group_id: Annotated[GroupId | None, Field(alias="groupId")] = None
    """The Kafka group's id; the object's name when not given. Immutable."""
    connection_ref: ConnectionRef
    """The KafkaConnection or ClusterKafkaConnection by which the operator reaches Kafka. Consumers get its bootstrap
    servers, and none of its credentials.
    """
    topics: Annotated[tuple[TopicName, ...], Field(max_length=256), Distinct()] = ()
    """The topics that the group consumes. At least one."""
    replicas: Int32 = 1
    """How many pods. 0 stops the consumers and keeps the group's offsets."""
    members_per_pod: Annotated[Int32, Field(ge=1, le=MOST_MEMBERS_PER_POD)] = 1
    """How many members of the group each pod runs: threads or listeners that each join by themselves."""
    client: Client
    """The consumers' Kafka client, and how settings reach it."""
    membership: Membership = Membership.STATIC
    """Static members keep their partitions over a restart; Dynamic ones leave and join."""
    protocol: Protocol = Field(default_factory=Protocol)
    """The rebalance protocol that the group is to have."""
    timeouts: Timeouts = Field(default_factory=Timeouts)
    """The members' timeouts. Values given here win over recommended ones."""
    rollout: Rollout = Field(default_factory=Rollout)
    """How a change reaches the pods."""
    disruption_budget: DisruptionBudget = Field(default_factory=DisruptionBudget)
    """The PodDisruptionBudget of the group's pods."""
    readiness_gate: Flag = False
    """Give pods the readiness gate slackwater.dev/rejoined: they are Ready only while they are in the group, so that
    node drains and disruption budgets wait for that. While the operator is away, no new pod becomes Ready."""
    deletion_policy: DeletionPolicy = DeletionPolicy.RETAIN
    """What becomes of the Kafka group when somebody deletes this object: Retain keeps its offsets, DeleteGroup
    deletes it, unless another ConsumerGroup has the same groupId there."""
    volume_claim_templates: Annotated[tuple[VolumeClaimTemplate, ...], Field(max_length=MOST_CLAIMS)] = ()
    """The volumes that each pod keeps over its restarts, as in a StatefulSet; with rollout.strategy InPlace only. A
    later change holds for claims that come after it; docs/state.md says what becomes of the others."""
    persistent_volume_claim_retention_policy: RetentionPolicy | None = None
    """Whether claims outlive their pods and the ConsumerGroup. When not given, they do."""
    template: PodTemplate
    """Template of the consumers' pods, as in a StatefulSet."""

    @property
    def consumer_container(self) -> Container:
        """The container that gets the client settings."""
        containers = self.template.spec.containers
        return next((c for c in containers if c.name == self.client.container), containers[0])

    @rule(
        "has(self.topics) && size(self.topics) > 0",
        "name at least one topic to consume, for example topics: [orders]",
        field_path="topics",
    )
    def there_is_a_topic(self) -> bool:
        return bool(self.topics)

    @rule(
        "self.replicas >= 0",
        "set replicas to 0 or more; 0 stops the consumers and keeps the group's offsets",
        field_path="replicas",
    )
    def replicas_are_not_negative(self) -> bool:
        return self.replicas >= 0

    @rule(
        f"self.replicas <= {MOST_PODS}",
        f"set replicas to {MOST_PODS} or less: no group has use for more pods than its topics have partitions",
        field_path="replicas",
    )
    def replicas_are_not_too_many(self) -> bool:
        return self.replicas <= MOST_PODS

    @rule(
        f"{_TARGETS_CONSUMER} || "
        + cel_between(
            (_SESSION, _MAX_POLL_INTERVAL),
            f"duration({_SESSION}) <= duration({_MAX_POLL_INTERVAL})",
        ),
        "a session longer than the max poll interval keeps clients from starting: lower timeouts.session (45s when it"
        " is not given) or raise timeouts.maxPollInterval (5m when it is not given)",
        field_path="timeouts.session",
    )
    def session_fits_into_poll_interval(self) -> bool:
        """F8."""
        consumer = self.protocol.target is ProtocolTarget.CONSUMER
        return consumer or self.timeouts.classic_session_timeout_ms <= self.timeouts.given_max_poll_interval_ms

    @rule(
        f"!{_TARGETS_CONSUMER} || !(({cel_given('timeouts.session')}) || ({cel_given('timeouts.heartbeat')}))",
        "with protocol.target Consumer the broker keeps session and heartbeat for the whole group, and clients that"
        " are given them refuse to start: move timeouts.session and timeouts.heartbeat to timeouts.consumer, or remove"
        " them",
        field_path="timeouts",
    )
    def classic_timeouts_stay_classic(self) -> bool:
        """F7."""
        classic = self.timeouts.session_timeout_ms is not None or self.timeouts.heartbeat_interval_ms is not None
        return not (classic and self.protocol.target is ProtocolTarget.CONSUMER)

    @rule(
        f"!{_IS_WARM} || (self.membership == 'Static' && !{_TARGETS_CONSUMER})",
        "a warm handover needs static members of the classic protocol: use strategy InPlace, or set membership to"
        " Static and a protocol.target other than Consumer",
        field_path="rollout.strategy",
    )
    def handover_has_static_classic_members(self) -> bool:
        """F13, F37."""
        classic = self.protocol.target is not ProtocolTarget.CONSUMER
        in_place = self.rollout.strategy is RolloutStrategy.IN_PLACE
        return in_place or (classic and self.membership is Membership.STATIC)

    @rule(
        f"!{_IS_WARM} || !{_HAS_CLAIMS}",
        "a warm handover runs two pods of one ordinal at once, and they cannot share a volume claim: set"
        " rollout.strategy to InPlace, or have the pods do without volumeClaimTemplates",
        field_path="rollout.strategy",
    )
    def handover_shares_no_volume(self) -> bool:
        in_place = self.rollout.strategy is RolloutStrategy.IN_PLACE
        return in_place or not self.volume_claim_templates

    @rule(
        "!has(self.volumeClaimTemplates) || self.volumeClaimTemplates.all(one,"
        " self.volumeClaimTemplates.exists_one(other, other.metadata.name == one.metadata.name))",
        "each claim needs a name of its own: rename one, or remove it",
        field_path="volumeClaimTemplates",
    )
    def claims_have_different_names(self) -> bool:
        names = [each.metadata.name for each in self.volume_claim_templates]
        return len(set(names)) == len(names)

    @rule(
        f"!({cel_given('protocol.profiles')}) || self.client.library == 'Other'",
        "only of an unknown library need the settings be spelled out: remove protocol.profiles, or set client.library"
        " to Other",
        field_path="protocol.profiles",
    )
    def profiles_are_of_an_unknown_library(self) -> bool:
        return self.protocol.settings_profiles is None or self.client.library is Library.OTHER

    @rule(
        f"!({cel_given('protocol.upgradeFrom')}) || self.client.library == 'KafkaStreams'",
        "upgradeFrom is a setting of Kafka Streams: remove protocol.upgradeFrom, or set client.library to KafkaStreams",
        field_path="protocol.upgradeFrom",
    )
    def upgrade_from_is_of_streams(self) -> bool:
        """F9."""
        return self.protocol.upgrade_from is None or self.client.library is Library.KAFKA_STREAMS

    @rule(
        "!has(self.client.container) || self.template.spec.containers.exists(c, c.name == self.client.container)",
        "client.container names no container of the template: write the name of one, or remove it to mean the first",
        field_path="client.container",
    )
    def consumer_container_exists(self) -> bool:
        name = self.client.container
        return name is None or any(container.name == name for container in self.template.spec.containers)
