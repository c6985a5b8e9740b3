"""From the mappings that YAML files and the API server give to models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from slackwater.api.durations import WIRE_CONTEXT
from slackwater.api.errors import InvalidSpec
from slackwater.api.model import ApiModel
from slackwater.api.resources import ClusterKafkaConnection, Connection, ConsumerGroup, KafkaConnection
from slackwater.api.sentences import sentences

M = TypeVar("M", bound=ApiModel)

LARGEST_SPEC: Final = 256 * 1024
"""Bytes of JSON. The API server takes six times as much, and all objects are in the memory of one process."""


def parse_consumer_group(obj: Mapping[str, Any]) -> ConsumerGroup:
    """Read a ConsumerGroup; InvalidSpec names every problem."""
    size = _size(obj.get("spec")) if isinstance(obj, Mapping) else 0
    if size > LARGEST_SPEC:
        problem = f"spec has {size:,} bytes: keep it to {LARGEST_SPEC:,}; long texts go into a ConfigMap."
        raise InvalidSpec(_subject(ConsumerGroup, obj), (problem,))
    return _parse(ConsumerGroup, obj)


def parse_kafka_connection(obj: Mapping[str, Any]) -> Connection:
    """Read a KafkaConnection or a ClusterKafkaConnection; InvalidSpec names every problem."""
    kind = obj.get("kind") if isinstance(obj, Mapping) else None
    if kind == ClusterKafkaConnection.__name__:
        return _parse(ClusterKafkaConnection, obj)
    return _parse(KafkaConnection, obj)


def _size(spec: object) -> int:
    """In bytes of JSON; a YAML file may have dates in it, which are refused by their fields."""
    return len(json.dumps(spec, ensure_ascii=False, default=str, separators=(",", ":")).encode(errors="replace"))


def _parse(model: type[M], obj: Mapping[str, Any]) -> M:
    try:
        return model.model_validate(obj, by_alias=True, by_name=False, context=WIRE_CONTEXT)
    except ValidationError as error:
        raise InvalidSpec(_subject(model, obj), sentences(model, error)) from error


def _subject(model: type[M], obj: Mapping[str, Any]) -> str:
    metadata = obj.get("metadata") if isinstance(obj, Mapping) else None
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return f"{model.__name__} {name}" if name else model.__name__
