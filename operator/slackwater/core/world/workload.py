"""A StatefulSet as a decision sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class UpdateStrategy(StrEnum):
    """Kubernetes' own words for a StatefulSet's update strategy."""

    ROLLING_UPDATE = "RollingUpdate"
    ON_DELETE = "OnDelete"


@dataclass(frozen=True, slots=True)
class Workload:
    """The group's StatefulSet."""

    name: str
    uid: str
    resource_version: str
    generation: int
    observed_generation: int
    replicas: int
    partition: int
    """Pods with a lower ordinal stay where they are; read as 0 under `OnDelete`."""
    strategy: UpdateStrategy
    current_revision: str
    update_revision: str
    template_hash: str
    """What the operator last rendered into it; empty when somebody else's template stands there."""
    owner_uid: str
    """uid of the controller that owns it; empty when nobody does."""
    owner: str = ""
    """Kind and name of that controller."""
    template: Mapping[str, Any] = field(default_factory=dict)
    """The pod template that stands in it."""
    as_written: bool = True
    """False when its spec may have been changed by somebody else since the operator wrote it."""
    start: int = 0
    """Its lowest ordinal; `replicas` counts from there."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """What nobody can change any more in its spec; an adopted one may have it otherwise than we would."""
    created_at: float = 0.0
    replicas_by: str = ""
    """Who wrote `replicas` last, where that was not the operator: the field's manager, as the API server has it."""

    is_ending: bool = False
    """It is being deleted, and something of it is waited for: what belongs to it is still to be let go."""
    retention: Mapping[str, str] = field(default_factory=dict)
    """What becomes of its volume claims: `persistentVolumeClaimRetentionPolicy`."""

    @property
    def claims(self) -> Sequence[Mapping[str, Any]]:
        """Its `volumeClaimTemplates`, as the API server has them."""
        found: Sequence[Mapping[str, Any]] = self.fixed.get("volumeClaimTemplates") or ()
        return found

    @property
    def in_order(self) -> bool:
        """OrderedReady, as an adopted one may be: it makes no pod while one with a lower ordinal is not Ready."""
        return self.fixed.get("podManagementPolicy") == "OrderedReady"

    @property
    def end(self) -> int:
        """The first ordinal above its own."""
        return self.start + self.replicas

    @property
    def ordinals(self) -> range:
        return range(self.start, self.end)

    @property
    def settled(self) -> bool:
        """The StatefulSet controller has read the last change, so that `update_revision` means today's template."""
        return self.observed_generation >= self.generation
