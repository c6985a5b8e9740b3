"""The volume claims of a group's StatefulSet: what is asked for, what is there, and what becomes of them.

Kubernetes changes `volumeClaimTemplates` of no StatefulSet that is there, but `persistentVolumeClaimRetentionPolicy`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from slackwater.api.resources import ConsumerGroup
from slackwater.api.volume_claims import Retention, RetentionPolicy
from slackwater.core.manifests.drift import holds
from slackwater.core.world.workload import Workload

Json = Mapping[str, Any]

_QUANTITY: Final = re.compile(
    r"(?P<number>[+-]?([0-9]{1,30}([.][0-9]{0,30})?|[.][0-9]{1,30}))"
    r"(?P<suffix>[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?"
)
_FACTORS: Final[Mapping[str, Fraction]] = {
    "": Fraction(1),
    **{name: Fraction(1000) ** power for power, name in enumerate(("n", "u", "m"), -3)},
    **{name: Fraction(1000) ** power for power, name in enumerate("kMGTPE", 1)},
    **{f"{name}i": Fraction(1024) ** power for power, name in enumerate("KMGTPE", 1)},
}
KEPT: Final = {"whenDeleted": Retention.RETAIN.value, "whenScaled": Retention.RETAIN.value}
"""No claim is deleted with anything."""


def claims_asked_for(group: ConsumerGroup) -> list[dict[str, Any]]:
    """The templates, as they stand in a StatefulSet that is made."""
    return [each.to_manifest() for each in group.spec.volume_claim_templates]


def names_of_claims(claims: Sequence[Json]) -> tuple[str, ...]:
    """By which containers mount them, in order."""
    return tuple(str(each["metadata"]["name"]) for each in claims)


def has_the_claims_asked_for(workload: Workload, group: ConsumerGroup) -> bool:
    """Whatever the API server has filled in. Their order means nothing: each is known by its name."""
    there = {claim["metadata"]["name"]: _with_numbers(claim) for claim in workload.claims}
    asked = {claim["metadata"]["name"]: _with_numbers(claim) for claim in claims_asked_for(group)}
    return there.keys() == asked.keys() and all(holds(there[name], claim) for name, claim in asked.items())


def retention(group: ConsumerGroup, pods_asked_for: int) -> dict[str, str]:
    """`persistentVolumeClaimRetentionPolicy` of a StatefulSet that is to have pods up to `pods_asked_for`.

    Pods that the spec asks for and the operator stops, as in a drain, come back, and need what is on their volumes.
    """
    asked = group.spec.persistent_volume_claim_retention_policy or RetentionPolicy()
    stopped_by_us = pods_asked_for < group.spec.replicas
    when_scaled = Retention.RETAIN if stopped_by_us else asked.when_scaled
    return {"whenDeleted": asked.when_deleted.value, "whenScaled": when_scaled.value}


def _with_numbers(claim: Json) -> Json:
    """With quantities as numbers: the API server writes `1024Mi` as `1Gi`."""
    spec = claim.get("spec") or {}
    resources = {
        kind: {name: _number(value) for name, value in quantities.items()}
        for kind, quantities in (spec.get("resources") or {}).items()
        if isinstance(quantities, Mapping)
    }
    return {**claim, "spec": {**spec, "resources": resources}}


def _number(quantity: object) -> object:
    """Its value as a text; what is no quantity stays as it is, and the API server refuses it."""
    found = _QUANTITY.fullmatch(str(quantity))
    if found is None:
        return quantity
    suffix = found["suffix"] or ""
    factor = _FACTORS[suffix] if suffix in _FACTORS else Fraction(10) ** int(suffix[1:])
    return str(Fraction(found["number"]) * factor)
