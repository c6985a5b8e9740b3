"""The tables' columns and rules against the models of the wire format, which are what operators write by."""

from __future__ import annotations

import typing
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pyspark.sql.types import ArrayType, DataType, StructField, StructType

from slackwater.api.telemetry import bodies
from slackwater.api.telemetry.events import Envelope
from slackwater.api.telemetry.wire import Moment
from slackwater.api.telemetry.words import EventType
from slackwater.pipeline.ingest.rules import BODY_RULES, HELD_BY
from slackwater.pipeline.schemas import BODIES, COUNT, ENVELOPE, MOMENT, NUMBER, TEXT, TRUTH

MODELS: dict[EventType, type[BaseModel]] = {
    EventType.GROUP_OBSERVED: bodies.GroupObserved,
    EventType.MEMBER_RESTARTED: bodies.MemberRestarted,
    EventType.REBALANCE: bodies.Rebalance,
    EventType.POLL_OBSERVED: bodies.PollObserved,
    EventType.GATE_HELD: bodies.GateHeld,
    EventType.SETTINGS_CHANGED: bodies.SettingsChanged,
    EventType.TURN: bodies.Turn,
}
OF_MOMENT = get_args(Moment)[1]


def spark_type(annotation: Any, metadata: list[Any]) -> DataType:
    if get_origin(annotation) in (UnionType, typing.Union):
        (inner,) = (each for each in get_args(annotation) if each is not NoneType)
        return spark_type(inner, metadata)
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return spark_type(inner, [*metadata, *more])
    if get_origin(annotation) is tuple:
        return ArrayType(spark_type(get_args(annotation)[0], []), containsNull=False)
    if issubclass(annotation, BaseModel):
        return struct_of(annotation)
    if OF_MOMENT in metadata:
        return MOMENT
    return {bool: TRUTH, int: COUNT, float: NUMBER}.get(annotation, TEXT)


def spark_field(name: str, field: FieldInfo) -> StructField:
    return StructField(name, spark_type(field.annotation, field.metadata), nullable=not field.is_required())


def struct_of(model: type[BaseModel]) -> StructType:
    return StructType([spark_field(name, field) for name, field in model.model_fields.items()])


def words_of(annotation: Any) -> tuple[str, ...]:
    return tuple(annotation) if isinstance(annotation, type) and issubclass(annotation, StrEnum) else ()


@pytest.mark.parametrize("kind", list(EventType))
def test_a_body_has_the_columns_of_its_model(kind: EventType) -> None:
    assert BODIES[kind] == struct_of(MODELS[kind])


def test_there_is_a_column_for_each_type() -> None:
    assert list(BODIES) == list(EventType)


def test_the_envelope_has_the_columns_of_its_model() -> None:
    columns = {field.name: field for field in ENVELOPE.fields if field.name not in ("schema", "type")}
    model = {name: field for name, field in Envelope.model_fields.items() if name != "schema_version"}
    assert columns == {name: spark_field(name, field) for name, field in model.items()}


@pytest.mark.parametrize("kind", list(EventType))
def test_the_rules_have_the_words_of_the_model(kind: EventType) -> None:
    fields = MODELS[kind].model_fields
    assert {rule.name: rule.words for rule in BODY_RULES[kind]} == {
        name: words_of(field.annotation) for name, field in fields.items()
    }


def test_what_held_a_turn_back_has_the_words_of_the_model() -> None:
    assert words_of(bodies.TurnHeld.model_fields["by"].annotation) == HELD_BY
