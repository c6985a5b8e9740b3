"""The volumes that each pod of a group keeps over its restarts, in the words of a StatefulSet.

A StatefulSet makes one PersistentVolumeClaim for each of these templates and each ordinal, `<claim>-<group>-<ordinal>`,
and gives it to whichever pod has that ordinal.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, JsonValue

from slackwater.api.model import ApiModel, rule
from slackwater.api.pod_template import KubernetesPart
from slackwater.api.text import Text

ClaimName = Annotated[
    str,
    Text(
        r"[a-z0-9]([-a-z0-9]*[a-z0-9])?",
        "write the name of a volume, such as state: lower-case letters, digits and -",
        max_length=63,
    ),
]
AccessMode = Annotated[str, Field(min_length=1, max_length=32)]


class ClaimMetadata(KubernetesPart):
    name: ClaimName
    """The volume's name, by which containers mount it (volumeMounts)."""


class ClaimSpec(KubernetesPart):
    access_modes: Annotated[tuple[AccessMode, ...], Field(max_length=8)] = ()
    """How nodes may mount it, such as ReadWriteOnce."""

    @rule(
        "has(self.accessModes) && size(self.accessModes) > 0",
        "say how nodes may mount the volume, for example accessModes: [ReadWriteOnce]",
        field_path="accessModes",
    )
    def there_is_an_access_mode(self) -> bool:
        return bool(self.access_modes)


class VolumeClaimTemplate(KubernetesPart):
    metadata: ClaimMetadata
    """The claim's name, and its labels and annotations."""
    spec: ClaimSpec
    """What each claim asks for, as in a PersistentVolumeClaim."""

    def to_manifest(self) -> dict[str, JsonValue]:
        """The template exactly as it was written."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Retention(StrEnum):
    """Kubernetes' own words."""

    RETAIN = "Retain"
    DELETE = "Delete"


class RetentionPolicy(ApiModel):
    when_deleted: Retention = Retention.RETAIN
    """What becomes of all claims at the ConsumerGroup's end. Deleted with --cascade=orphan, they stay."""
    when_scaled: Retention = Retention.RETAIN
    """What becomes of a pod's claims when replicas no longer asks for it. Where the operator stops pods that replicas
    asks for, as in a drain, their claims stay."""
