"""Whole objects, as the API server gives them: metadata, spec and the status as last written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, JsonValue

from slackwater.api.consumer_fleet import ConsumerFleetSpec
from slackwater.api.consumer_group import ConsumerGroupSpec
from slackwater.api.fleet_campaign import FleetCampaignSpec
from slackwater.api.kafka_connection import ClusterKafkaConnectionSpec, KafkaConnectionSpec
from slackwater.api.metadata import Metadata
from slackwater.api.model import ApiModel, Rule, rule

LONGEST_GROUP_NAME: Final = 48
"""A StatefulSet's pods carry `<name>-<10 characters>` in a label of at most 63; the rest is room for suffixes."""
_NAME_PATTERN: Final = "^[a-z]([-a-z0-9]*[a-z0-9])?$"


def _group_id(self: str) -> str:
    return f"(has({self}.spec.groupId) ? {self}.spec.groupId : {self}.metadata.name)"


class KafkaConnection(ApiModel):
    """A Kafka cluster and how to log in to it, shared by the ConsumerGroups of a namespace."""

    api_version: Literal["slackwater.dev/v1alpha1"] = "slackwater.dev/v1alpha1"
    kind: Literal["KafkaConnection"] = "KafkaConnection"
    metadata: Metadata
    spec: KafkaConnectionSpec
    status: Mapping[str, JsonValue] = Field(default_factory=dict)


class ClusterKafkaConnection(ApiModel):
    """A Kafka cluster and how to log in to it, shared by the namespaces that it names.

    Its Secrets are in the operator's namespace.
    """

    api_version: Literal["slackwater.dev/v1alpha1"] = "slackwater.dev/v1alpha1"
    kind: Literal["ClusterKafkaConnection"] = "ClusterKafkaConnection"
    metadata: Metadata
    spec: ClusterKafkaConnectionSpec
    status: Mapping[str, JsonValue] = Field(default_factory=dict)


Connection = KafkaConnection | ClusterKafkaConnection


class ConsumerFleet(ApiModel):
    """Which ConsumerGroups may move at the same time, when, and in what order."""

    api_version: Literal["slackwater.dev/v1alpha1"] = "slackwater.dev/v1alpha1"
    kind: Literal["ConsumerFleet"] = "ConsumerFleet"
    metadata: Metadata
    spec: ConsumerFleetSpec
    status: Annotated[Mapping[str, JsonValue], Field(repr=False)] = Field(default_factory=dict)


class FleetCampaign(ApiModel):
    """One run through the groups of a ConsumerFleet, wave by wave."""

    api_version: Literal["slackwater.dev/v1alpha1"] = "slackwater.dev/v1alpha1"
    kind: Literal["FleetCampaign"] = "FleetCampaign"
    metadata: Metadata
    spec: FleetCampaignSpec
    status: Annotated[Mapping[str, JsonValue], Field(repr=False)] = Field(default_factory=dict)


class ConsumerGroup(ApiModel):
    """One Kafka consumer group, and the pods that are its members."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            cel=f"{_group_id('self')} == {_group_id('oldSelf')}",
            message="a group's id cannot be changed, since its offsets would stay behind: put groupId back, or make a"
            " new ConsumerGroup",
            field_path="spec.groupId",
        ),
    )

    api_version: Literal["slackwater.dev/v1alpha1"] = "slackwater.dev/v1alpha1"
    kind: Literal["ConsumerGroup"] = "ConsumerGroup"
    metadata: Metadata
    spec: ConsumerGroupSpec
    status: Annotated[Mapping[str, JsonValue], Field(repr=False)] = Field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace

    @property
    def group_id(self) -> str:
        """The Kafka group's id."""
        return self.spec.explicit_group_id or self.metadata.name

    @rule(
        f"size(self.metadata.name) <= {LONGEST_GROUP_NAME} && self.metadata.name.matches('{_NAME_PATTERN}')",
        "the name becomes part of the names of pods and a Service: use at most 48 lower-case letters, digits and -,"
        " beginning with a letter; spec.groupId may differ from it",
    )
    def name_suits_pods(self) -> bool:
        name = self.metadata.name
        return len(name) <= LONGEST_GROUP_NAME and re.fullmatch(_NAME_PATTERN, name) is not None
