"""The envelope around each body, and how an event becomes a line and a line an event."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from slackwater.api.telemetry.bodies import (
    GateHeld,
    GroupObserved,
    MemberRestarted,
    PollObserved,
    Rebalance,
    SettingsChanged,
    Turn,
)
from slackwater.api.telemetry.wire import Moment, WireModel
from slackwater.api.telemetry.words import EventType

SCHEMA: Final = 1
"""The version of the wire format. It grows when what an old reader would understand becomes wrong; new fields and new
types leave it as it is."""


class Envelope(WireModel):
    """What every event says besides its body."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True, validate_by_alias=True)

    schema_version: Literal[1] = Field(alias="schema")
    id: str
    """Of the fact: recorded twice, it has the same id."""
    at: Moment
    """When the operator saw it."""
    cluster: str
    """Id of the Kafka cluster; empty while it is not known."""
    namespace: str
    name: str
    """Of the ConsumerGroup."""
    group_id: str

    @property
    def key(self) -> str:
        """Key of the record in Kafka: what happened to one group stays in order."""
        return f"{self.namespace}/{self.name}"


class GroupObservedEvent(Envelope):
    type: Literal[EventType.GROUP_OBSERVED]
    group_observed: GroupObserved


class MemberRestartedEvent(Envelope):
    type: Literal[EventType.MEMBER_RESTARTED]
    member_restarted: MemberRestarted


class RebalanceEvent(Envelope):
    type: Literal[EventType.REBALANCE]
    rebalance: Rebalance


class PollObservedEvent(Envelope):
    type: Literal[EventType.POLL_OBSERVED]
    poll_observed: PollObserved


class GateHeldEvent(Envelope):
    type: Literal[EventType.GATE_HELD]
    gate_held: GateHeld


class SettingsChangedEvent(Envelope):
    type: Literal[EventType.SETTINGS_CHANGED]
    settings_changed: SettingsChanged


class TurnEvent(Envelope):
    type: Literal[EventType.TURN]
    turn: Turn


Event = Annotated[
    GroupObservedEvent
    | MemberRestartedEvent
    | RebalanceEvent
    | PollObservedEvent
    | GateHeldEvent
    | SettingsChangedEvent
    | TurnEvent,
    Field(discriminator="type"),
]
EVENT: Final[TypeAdapter[Event]] = TypeAdapter(Event)


def write_line(event: Event) -> bytes:
    """One line of JSON, without its end."""
    return EVENT.dump_json(event)


def read_line(line: bytes | str) -> Event:
    """The reverse. Raises pydantic's ValidationError; fields that this version does not know are left out."""
    return EVENT.validate_json(line)
