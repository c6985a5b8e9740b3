"""What each field of an event must be, as data: the rules that `judging` holds every event to.

They follow from the tables' schemas, the closed vocabularies and a few bounds; a test holds them to the verdicts of the
pydantic models in `slackwater.api.telemetry`. Imports no Spark session: rules become literals of a query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pyspark.sql.types import ArrayType, DataType, StructField, StructType

from slackwater.api.client import Library
from slackwater.api.consumer_group import Membership
from slackwater.api.fleet_budgets import MoveReason
from slackwater.api.rollout import RolloutStrategy
from slackwater.api.telemetry.words import (
    ChangedBy,
    GroupType,
    HeldBy,
    Outcome,
    PollSource,
    RebalanceCause,
    RebalanceProtocol,
    RestartMode,
    RestartReason,
    TurnOutcome,
)
from slackwater.api.timeouts import TimeoutsMode
from slackwater.pipeline.schemas import BODIES, COUNT, ENVELOPE, MOMENT, NUMBER, SETTING_CHANGE, TEXT, TRUTH, TURN_HELD


class Reason(StrEnum):
    """Why a record is in quarantine. A closed vocabulary; the first that fits is given."""

    NOT_JSON = "NotJson"
    NO_ENVELOPE = "NoEnvelope"
    """JSON, but nothing that says what it is."""
    FUTURE_SCHEMA = "FutureSchema"
    """From an operator that is newer than this pipeline."""
    UNKNOWN_TYPE = "UnknownType"
    MISSING_FIELD = "MissingField"
    WRONG_TYPE = "WrongType"
    """Another JSON type, a word outside the vocabulary, or a number out of its bounds."""
    IMPOSSIBLE_TIMES = "ImpossibleTimes"
    """Moments that cannot follow one another, or that no clock has shown yet."""


class Kind(StrEnum):
    """What a field holds; the value is how it is called in a quarantined event's `detail`."""

    TEXT = "text"
    COUNT = "a whole number of 0 or more"
    NUMBER = "a number of 0 or more"
    TRUTH = "true or false"
    MOMENT = "a moment such as 2026-01-31T12:00:00.250Z"
    TEXTS = "a list of texts"
    CHANGES = "a list of changes with name, before and after"
    HELD = "a list of what held it, with by, fleet, name, place and held_s"


@dataclass(frozen=True, slots=True)
class Rule:
    """`words`: the only texts allowed, none meaning any. `most`: the largest number allowed, null meaning any."""

    name: str
    kind: Kind
    needed: bool
    words: tuple[str, ...] = ()
    most: float | None = None


_KINDS: Final[Mapping[DataType, Kind]] = {
    TEXT: Kind.TEXT,
    COUNT: Kind.COUNT,
    NUMBER: Kind.NUMBER,
    TRUTH: Kind.TRUTH,
    MOMENT: Kind.MOMENT,
    ArrayType(TEXT, containsNull=False): Kind.TEXTS,
    ArrayType(SETTING_CHANGE, containsNull=False): Kind.CHANGES,
    ArrayType(TURN_HELD, containsNull=False): Kind.HELD,
}
_WORDS: Final[Mapping[str, type[StrEnum]]] = {
    "group_observed.group_type": GroupType,
    "group_observed.membership": Membership,
    "group_observed.rollout_strategy": RolloutStrategy,
    "group_observed.library": Library,
    "group_observed.protocol": RebalanceProtocol,
    "group_observed.timeouts_mode": TimeoutsMode,
    "member_restarted.reason": RestartReason,
    "member_restarted.mode": RestartMode,
    "member_restarted.outcome": Outcome,
    "rebalance.cause": RebalanceCause,
    "poll_observed.source": PollSource,
    "settings_changed.how": ChangedBy,
    "turn.reason": MoveReason,
    "turn.outcome": TurnOutcome,
}
HELD_BY: Final = tuple(word.value for word in HeldBy)
_MOST: Final[Mapping[str, float]] = {"poll_observed.poll_idle_ratio_avg": 1.0}


def _rule(path: str, field: StructField) -> Rule:
    words = tuple(word.value for word in _WORDS[path]) if path in _WORDS else ()
    return Rule(field.name, _KINDS[field.dataType], not field.nullable, words, _MOST.get(path))


def _rules(prefix: str, struct: StructType) -> tuple[Rule, ...]:
    return tuple(_rule(f"{prefix}{field.name}", field) for field in struct.fields)


ENVELOPE_RULES: Final = _rules("", ENVELOPE)
BODY_RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    name: _rules(f"{name}.", struct) for name, struct in BODIES.items()
}
