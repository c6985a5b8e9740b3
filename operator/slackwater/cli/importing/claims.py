"""The volume claims of a workload, as a ConsumerGroup asks for them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_KEPT: Final = ("name", "labels", "annotations")
_POLICY: Final = "persistentVolumeClaimRetentionPolicy"
_USUAL: Final = {"whenDeleted": "Retain", "whenScaled": "Retain"}


def claims_of(workload: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a spec; empty where it has no volumes of its own."""
    spec = workload["spec"]
    claims = [_without_what_is_filled_in(each) for each in spec.get("volumeClaimTemplates") or ()]
    if not claims:
        return {}
    policy = spec.get(_POLICY) or _USUAL
    return {"volumeClaimTemplates": claims, **({_POLICY: dict(policy)} if policy != _USUAL else {})}


def _without_what_is_filled_in(claim: Mapping[str, Any]) -> dict[str, Any]:
    """As somebody wrote it: what the API server adds would be asked for from now on."""
    metadata = {key: claim["metadata"][key] for key in _KEPT if claim["metadata"].get(key)}
    spec = {key: value for key, value in claim["spec"].items() if (key, value) != ("volumeMode", "Filesystem")}
    return {"metadata": metadata, "spec": spec}
