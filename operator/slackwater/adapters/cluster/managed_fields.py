"""Who else writes `replicas` of a StatefulSet: it stands in its managed fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slackwater.api.annotations import FIELD_MANAGER

Json = Mapping[str, Any]

_REPLICAS: Json = {"f:spec": {"f:replicas": {}}}


def writer_of_replicas(entries: Sequence[Json]) -> str:
    """Empty where it was the operator, or is not known."""
    writers = [each["manager"] for each in writers_of_replicas(entries)]
    return "" if not writers or FIELD_MANAGER in writers else str(writers[-1])


def writers_of_replicas(entries: Sequence[Json]) -> list[Json]:
    """Of the managed fields those that say so, and no more of them."""
    found = (each for each in entries if "f:replicas" in ((each.get("fieldsV1") or {}).get("f:spec") or {}))
    return [{"manager": each.get("manager", "somebody"), "fieldsV1": _REPLICAS} for each in found]
