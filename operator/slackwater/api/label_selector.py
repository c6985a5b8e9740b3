"""Which objects are meant, by their labels: as in Kubernetes, so that what is known of selectors holds here."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from slackwater.api.fleet_budgets import LabelKey
from slackwater.api.model import ApiModel, rule
from slackwater.api.text import Text

LabelValue = Annotated[
    str, Text("([A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)?", "write the value of a label, 63 characters", 63)
]


class SelectorOperator(StrEnum):
    """Kubernetes' own words."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


class SelectorRequirement(ApiModel):
    key: LabelKey
    """The label that the requirement is about."""
    operator: SelectorOperator
    """In and NotIn ask for its value, Exists and DoesNotExist whether it is there."""
    values: Annotated[tuple[LabelValue, ...], Field(max_length=32)] = ()
    """With In and NotIn."""

    @rule(
        "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
        "In and NotIn take values, Exists and DoesNotExist take none",
        field_path="values",
    )
    def values_suit_the_operator(self) -> bool:
        return (self.operator in (SelectorOperator.IN, SelectorOperator.NOT_IN)) == bool(self.values)

    def matches(self, labels: Mapping[str, str]) -> bool:
        if self.operator in (SelectorOperator.EXISTS, SelectorOperator.DOES_NOT_EXIST):
            return (self.key in labels) == (self.operator is SelectorOperator.EXISTS)
        return (labels.get(self.key) in self.values) == (self.operator is SelectorOperator.IN)


class LabelSelector(ApiModel):
    match_labels: Annotated[Mapping[LabelKey, LabelValue], Field(max_length=32)] = Field(default_factory=dict)
    """Labels that a group has, with these values."""
    match_expressions: Annotated[tuple[SelectorRequirement, ...], Field(max_length=16)] = ()
    """Further requirements for its labels; all must hold."""

    def matches(self, labels: Mapping[str, str]) -> bool:
        same = all(labels.get(key) == value for key, value in self.match_labels.items())
        return same and all(each.matches(labels) for each in self.match_expressions)
