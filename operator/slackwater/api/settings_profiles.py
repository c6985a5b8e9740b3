"""What a client library that the operator does not know has to be told for each protocol, in the user's own words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from slackwater.api.model import ApiModel

SAID_ELSEWHERE: Final = (
    "bootstrap.servers",
    "group.id",
    "group.instance.id",
    "max.poll.interval.ms",
    "max.poll.records",
)
"""Properties that mean the same under every protocol, so that the operator sets them from other fields."""

_PROPERTY: Final = "[a-z0-9]+([.][a-z0-9]+)*"
_MOST_PROPERTIES: Final = 16
_LONGEST_VALUE: Final = 1024


class ProfileName(StrEnum):
    """The sets of settings that pods can be made with, on the way from one protocol to another."""

    EAGER = "Eager"
    EAGER_AND_COOPERATIVE = "EagerAndCooperative"
    COOPERATIVE = "Cooperative"
    CONSUMER = "Consumer"


@dataclass(frozen=True, slots=True)
class _Constraint:
    """Annotation of a map of properties: each of its keys has to match `pattern`, and none may be in `refused`."""

    pattern: str
    refused: tuple[str, ...]

    @property
    def rules(self) -> tuple[tuple[str, str], ...]:
        """CEL and sentence."""
        names = ", ".join(f"'{name}'" for name in self.refused)
        return (
            ("size(self) > 0", "give the profile the settings that make it, or remove it"),
            (
                f"self.all(name, name.matches('^{self.pattern}$'))",
                "write the client's properties as Kafka names them: lower-case letters and digits with dots between"
                " them, such as partition.assignment.strategy",
            ),
            (
                f"self.all(name, !(name in [{names}]))",
                f"remove {', '.join(self.refused)}: they are the same in every profile, and the operator sets them"
                " from other fields of the spec",
            ),
        )

    def check(self, properties: Mapping[str, str]) -> Mapping[str, str]:
        verdicts = (
            bool(properties),
            all(re.fullmatch(self.pattern, name) for name in properties),
            not any(name in self.refused for name in properties),
        )
        for holds, (_, sentence) in zip(verdicts, self.rules, strict=True):
            if not holds:
                raise ValueError(sentence)
        return properties

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        rules = [{"rule": cel, "message": sentence} for cel, sentence in self.rules]
        return handler(schema) | {"x-kubernetes-validations": rules}


Properties = Annotated[
    Mapping[str, Annotated[str, Field(max_length=_LONGEST_VALUE)]],
    Field(max_length=_MOST_PROPERTIES),
    _Constraint(_PROPERTY, SAID_ELSEWHERE),
]
"""Client property → value."""


class SettingsProfiles(ApiModel):
    eager: Annotated[Properties | None, Field(alias="Eager")] = None
    """Settings of members that know eager rebalancing only, such as partition.assignment.strategy: range."""
    eager_and_cooperative: Annotated[Properties | None, Field(alias="EagerAndCooperative")] = None
    """Settings of members that know both, eager first: the first of two bounces. Without it the two do not mix."""
    cooperative: Annotated[Properties | None, Field(alias="Cooperative")] = None
    """Settings of members that know cooperative rebalancing only."""
    consumer: Annotated[Properties | None, Field(alias="Consumer")] = None
    """Settings of members of the protocol of KIP-848, such as group.protocol: consumer."""

    @property
    def by_name(self) -> Mapping[ProfileName, Mapping[str, str]]:
        """The profiles that are given."""
        given = (
            (ProfileName.EAGER, self.eager),
            (ProfileName.EAGER_AND_COOPERATIVE, self.eager_and_cooperative),
            (ProfileName.COOPERATIVE, self.cooperative),
            (ProfileName.CONSUMER, self.consumer),
        )
        return {name: properties for name, properties in given if properties is not None}
