"""From the mappings that YAML files and the API server give to models."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from slackwater.api.durations import WIRE_CONTEXT
from slackwater.api.errors import InvalidSpec
from slackwater.api.model import ApiModel
from slackwater.api.packed import pods_packed, pods_unpacked
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

LARGEST_SPEC: Final = 256 * 1024
"""Bytes of JSON. The API server takes six times as much, and all objects are in the memory of one process."""
MOST_VALUES: Final = 20_000
"""Lists, objects and what stands in them: as Python has it, each takes a hundred bytes."""
MOST_ENTRIES: Final = 1_000
"""Of labels, annotations, finalizers or owners: Kubernetes has no bound but for the object's size."""
_LISTS: Final = ("labels", "annotations", "finalizers", "ownerReferences")
_KEPT: Final = ("groupId", "connectionRef", "deletionPolicy")
_SELECT_BY_LESS: Final = "select groups by fewer labels and values"


class CutSpec(dict[str, Any]):
    """What is kept of a spec that is larger than is read: what others have to know of it, and why no more."""

    def __init__(self, kept: Mapping[str, Any], problem: str) -> None:
        super().__init__(kept)
        self.problem = problem


def cut_to_size(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """A ConsumerGroup to be kept, whoever wrote it: without its spec, if that is too large, and without what only the
    API server needs. Its pods are packed: they are read once for each version."""
    many = _too_many(obj["metadata"])
    without = ("managedFields", *(_LISTS if many else ()))
    metadata = {key: value for key, value in obj["metadata"].items() if key not in without}
    problem = _too_large(obj.get("spec")) or many
    if not problem:
        spec = {"spec": pods_packed(obj["spec"])} if isinstance(obj.get("spec"), Mapping) else {}
        return {**obj, "metadata": metadata, **spec}
    kept = {key: obj["spec"][key] for key in _KEPT if key in obj["spec"]}
    return {**obj, "metadata": metadata, "spec": CutSpec(kept, problem)}


def cut_selecting(spec: object, kept: Iterable[str]) -> object:
    """Of a fleet or a campaign, to be kept: of a spec that is too large no more than these fields."""
    if not isinstance(spec, Mapping) or not (problem := _too_large(spec, _SELECT_BY_LESS)):
        return spec
    return CutSpec({key: spec[key] for key in kept if key in spec}, problem)


def parse_consumer_group(obj: Mapping[str, Any]) -> ConsumerGroup:
    """Read a ConsumerGroup; InvalidSpec names every problem."""
    if problem := _problem_of_size(obj):
        raise InvalidSpec(_subject(ConsumerGroup, obj), (problem,))
    spec = obj.get("spec") if isinstance(obj, Mapping) else None
    return _parse(ConsumerGroup, {**obj, "spec": pods_unpacked(spec)} if isinstance(spec, Mapping) else obj)


def parse_kafka_connection(obj: Mapping[str, Any]) -> Connection:
    """Read a KafkaConnection or a ClusterKafkaConnection; InvalidSpec names every problem."""
    kind = obj.get("kind") if isinstance(obj, Mapping) else None
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
    problem = _too_large(obj.get("spec"), _SELECT_BY_LESS) if isinstance(obj, Mapping) else ""
    if problem:
        raise InvalidSpec(_subject(model, obj), (problem,))
    return _parse(model, obj)


def _problem_of_size(obj: object) -> str:
    if not isinstance(obj, Mapping):
        return ""
    metadata = obj.get("metadata")
    return _too_large(obj.get("spec")) or (_too_many(metadata) if isinstance(metadata, Mapping) else "")


def _too_many(metadata: Mapping[str, Any]) -> str:
    """Why it is not read, with as many entries."""
    for field in _LISTS:
        found = metadata.get(field)
        if isinstance(found, Collection) and not isinstance(found, str) and len(found) > MOST_ENTRIES:
            return f"metadata.{field} has {len(found):,} entries: keep it to {MOST_ENTRIES:,}."
    return ""


def _too_large(spec: object, instead: str = "") -> str:
    """Why it is not read; a YAML file may have dates in it, which are refused by their fields."""
    if isinstance(spec, CutSpec):
        return spec.problem
    text = json.dumps(spec, ensure_ascii=False, default=str, separators=(",", ":"))
    if (size := len(text.encode(errors="replace"))) > LARGEST_SPEC:
        instead = instead or "long texts go into a ConfigMap"
        return f"spec has {size:,} bytes: keep it to {LARGEST_SPEC:,}; {instead}."
    if (values := sum(map(text.count, "[{,"))) > MOST_VALUES:
        instead = instead or "long lists go into a ConfigMap"
        return f"spec has some {values:,} values: keep it to {MOST_VALUES:,}; {instead}."
    return ""


def _parse(model: type[M], obj: Mapping[str, Any]) -> M:
    try:
        return model.model_validate(obj, by_alias=True, by_name=False, context=WIRE_CONTEXT)
    except ValidationError as error:
        raise InvalidSpec(_subject(model, obj), sentences(model, error)) from error


def _subject(model: type[M], obj: Mapping[str, Any]) -> str:
    metadata = obj.get("metadata") if isinstance(obj, Mapping) else None
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return f"{model.__name__} {name}" if name else model.__name__
