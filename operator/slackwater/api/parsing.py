"""From the mappings that YAML files and the API server give to models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from slackwater.api.durations import WIRE_CONTEXT
from slackwater.api.errors import InvalidSpec
from slackwater.api.kept import SELECT_BY_LESS, CutSpec, PackedJson, too_large, too_many, unpacked
from slackwater.api.model import ApiModel
from slackwater.api.packed import pods_unpacked
from slackwater.api.resources import (
    ClusterKafkaConnection,
    Connection,
    ConsumerFleet,
    ConsumerGroup,
    FleetCampaign,
    KafkaConnection,
)
from slackwater.api.sentences import sentences

M = TypeVar("M", bound=ApiModel)


def parse_consumer_group(obj: Mapping[str, Any], before: ConsumerGroup | None = None) -> ConsumerGroup:
    """Read a ConsumerGroup; InvalidSpec names every problem. `before`: an earlier version of it, whose spec is not read
    again where it is the same."""
    spec = obj.get("spec") if isinstance(obj, Mapping) else None
    if (
        before is not None
        and _has_spec_of(before, obj)
        and not (isinstance(spec, CutSpec) or too_many(obj["metadata"]))
    ):
        return _parse(ConsumerGroup, {**obj, "spec": before.spec})
    if problem := _problem_of_size(obj):
        raise InvalidSpec(_subject(ConsumerGroup, obj), (problem,))
    if not isinstance(spec, Mapping):
        return _parse(ConsumerGroup, obj)
    return _parse(ConsumerGroup, {**obj, "spec": pods_unpacked(unpacked(spec))})


def parse_kafka_connection(obj: Mapping[str, Any]) -> Connection:
    """Read a KafkaConnection or a ClusterKafkaConnection; InvalidSpec names every problem."""
    kind, spec = (obj.get("kind"), obj.get("spec")) if isinstance(obj, Mapping) else (None, None)
    if isinstance(spec, CutSpec):
        raise InvalidSpec(_subject(KafkaConnection, obj), (spec.problem,))
    if kind == ClusterKafkaConnection.__name__:
        return _parse(ClusterKafkaConnection, obj)
    return _parse(KafkaConnection, obj)


def parse_consumer_fleet(obj: Mapping[str, Any]) -> ConsumerFleet:
    """Read a ConsumerFleet; InvalidSpec names every problem."""
    return _parse_selecting(ConsumerFleet, obj)


def parse_fleet_campaign(obj: Mapping[str, Any]) -> FleetCampaign:
    """Read a FleetCampaign; InvalidSpec names every problem."""
    return _parse_selecting(FleetCampaign, obj)


def _parse_selecting(model: type[M], obj: Mapping[str, Any]) -> M:
    spec = obj.get("spec") if isinstance(obj, Mapping) else None
    if problem := too_large(spec, SELECT_BY_LESS):
        raise InvalidSpec(_subject(model, obj), (problem,))
    return _parse(model, {**obj, "spec": unpacked(spec)} if isinstance(spec, PackedJson) else obj)


def _has_spec_of(before: ConsumerGroup, obj: Mapping[str, Any]) -> bool:
    """Only a change of the spec makes a new generation, and a new object begins with 1 under another uid."""
    metadata = obj["metadata"]
    known = before.metadata.uid, before.metadata.generation
    return all(known) and (metadata.get("uid"), metadata.get("generation")) == known


def _problem_of_size(obj: object) -> str:
    if not isinstance(obj, Mapping):
        return ""
    metadata = obj.get("metadata")
    return too_large(obj.get("spec")) or (too_many(metadata) if isinstance(metadata, Mapping) else "")


def _parse(model: type[M], obj: Mapping[str, Any]) -> M:
    try:
        return model.model_validate(obj, by_alias=True, by_name=False, context=WIRE_CONTEXT)
    except ValidationError as error:
        raise InvalidSpec(_subject(model, obj), sentences(model, error)) from error


def _subject(model: type[M], obj: Mapping[str, Any]) -> str:
    metadata = obj.get("metadata") if isinstance(obj, Mapping) else None
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return f"{model.__name__} {name}" if name else model.__name__
