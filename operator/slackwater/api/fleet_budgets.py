"""How many groups of a fleet may move at a time."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from slackwater.api.amounts import Amount, IntOrPercent
from slackwater.api.distinct import Distinct
from slackwater.api.durations import DurationMs, cel_between
from slackwater.api.model import ApiModel, rule
from slackwater.api.text import Text

LONGEST_SPACING_MS: Final = 3_600_000
Name = Annotated[
    str,
    Text(
        "[a-z0-9]([-a-z0-9]*[a-z0-9])?",
        "write lower-case letters, digits and -, beginning and ending with a letter or digit",
        63,
    ),
]
Max = Annotated[
    IntOrPercent,
    Amount(
        "write how many groups may move at a time: 1 or more, or 1% to 100%. To let nothing begin, write the reason"
        " into spec.pause"
    ),
]
LabelKey = Annotated[
    str,
    Text("([-.a-z0-9]{1,253}/)?[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?", "write the key of a label", 317),
]


class CountedPer(StrEnum):
    """What a budget counts apart."""

    FLEET = "Fleet"
    KAFKA_CLUSTER = "KafkaCluster"
    COORDINATOR = "Coordinator"
    TOPIC = "Topic"
    NAMESPACE = "Namespace"
    LABEL = "Label"


class MoveReason(StrEnum):
    """What a group moves for."""

    ROLLOUT = "Rollout"
    RESTART = "Restart"
    PROTOCOL_UPGRADE = "ProtocolUpgrade"
    SCALE = "Scale"
    START = "Start"


class Budget(ApiModel):
    name: Name
    """What status, metrics and refusals call it."""
    per: CountedPer = CountedPer.FLEET
    """What counts apart: all groups of the fleet together, those of each Kafka cluster, coordinator, topic or
    namespace, or those with each value of a label.
    """
    label: LabelKey | None = None
    """With per Label: the label whose values count apart."""
    max: Max
    """How many groups may move at a time: a number, or a share of those with replicas, rounded down, and 1 at least."""
    reasons: Annotated[
        tuple[MoveReason, ...],
        Field(max_length=len(MoveReason)),
        Distinct(),
    ] = (MoveReason.ROLLOUT, MoveReason.RESTART, MoveReason.PROTOCOL_UPGRADE)
    """What counts. Scale is a change of replicas at rest, Start a new group's first pods."""
    spacing_ms: Annotated[DurationMs, Field(alias="spacing")] = 0
    """The time between two groups that begin."""
    during: Name | None = None
    """In force while this window is open."""
    outside: Name | None = None
    """In force outside this window."""

    @rule(
        "!has(self.reasons) || size(self.reasons) > 0",
        "say what is counted: budgets[].reasons, such as Rollout",
        field_path="reasons",
    )
    def something_is_counted(self) -> bool:
        return bool(self.reasons)

    @rule(
        "self.per != 'Label' || has(self.label)",
        "name the label whose values are counted apart: budgets[].label",
        field_path="label",
    )
    def a_label_is_named(self) -> bool:
        return self.per is not CountedPer.LABEL or self.label is not None

    @rule(
        "self.per == 'Label' || !has(self.label)",
        "only per: Label counts values of a label apart: remove budgets[].label",
        field_path="label",
    )
    def no_label_is_named_for_nothing(self) -> bool:
        return self.per is CountedPer.LABEL or self.label is None

    @rule(
        cel_between(("self.spacing",), f"duration(self.spacing) <= duration('{LONGEST_SPACING_MS // 3_600_000}h')"),
        "spacing is the pause between two groups that begin: at most 1h",
        field_path="spacing",
    )
    def others_come_up(self) -> bool:
        return self.spacing_ms <= LONGEST_SPACING_MS

    @rule(
        "!(has(self.during) && has(self.outside))",
        "a budget is in force during a window or outside of it, not both",
        field_path="outside",
    )
    def there_is_one_window(self) -> bool:
        return self.during is None or self.outside is None
