"""The rebalance protocol that a group is to have."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from slackwater.api.model import WITHOUT_DEFAULT, ApiModel, Flag, rule
from slackwater.api.settings_profiles import ProfileName, SettingsProfiles
from slackwater.api.text import Text

StreamsVersion = Annotated[
    str,
    Text(
        r"0[.]1[01][.][0-9]|[1-9][0-9]?[.][0-9]{1,2}",
        "write the version as Kafka Streams wants it in upgrade.from, in quotes: '2.3', without a third number except"
        " before 1.0, as in '0.11.0'",
        max_length=16,
    ),
]


class ProtocolTarget(StrEnum):
    """How the group is to rebalance."""

    EAGER = "Eager"
    COOPERATIVE = "Cooperative"
    CONSUMER = "Consumer"


class Protocol(ApiModel):
    target: ProtocolTarget | None = None
    """How the group is to rebalance: Eager, Cooperative, or Consumer (KIP-848). The operator takes a running group
    there step by step. When not given, the consumers' own choice of assignor is left alone."""
    allow_downtime: Annotated[Flag, Field(json_schema_extra=WITHOUT_DEFAULT)] = False
    """Accept an upgrade that stops all consumers for a while, where the client library knows no other way; false when
    not given."""
    upgrade_from: StreamsVersion | None = None
    """The version of Kafka Streams that the pods ran before, such as "2.3": its setting upgrade.from, which keeps new
    pods able to rebalance with old ones until all are new. Only with client.library KafkaStreams. From "2.3" or older
    the way leads over a version from 2.4 to 3.9: newer ones no longer know eager rebalancing."""
    settings_profiles: Annotated[SettingsProfiles | None, Field(alias="profiles")] = None
    """For client.library Other: the consumers' settings under each protocol, as properties of their Kafka client.
    Each becomes an environment variable, as the operator's own settings do, and wins over a setting or a
    variable of the template that has the same name."""

    @property
    def profiles(self) -> Mapping[ProfileName, Mapping[str, str]]:
        """Client property → value, of each profile that is spelled out."""
        return self.settings_profiles.by_name if self.settings_profiles else {}

    @rule(
        "!has(self.upgradeFrom) || has(self.target)",
        "upgradeFrom is part of the way to a target: set protocol.target, or remove protocol.upgradeFrom",
        field_path="upgradeFrom",
    )
    def upgrade_from_has_a_target(self) -> bool:
        return self.upgrade_from is None or self.target is not None
