"""The part of an object's metadata that slackwater reads."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ConfigDict, Field

from slackwater.api.model import ApiModel
from slackwater.api.timestamps import Timestamp


class Metadata(ApiModel):
    """uid, generation and resource_version are absent from files that no API server has seen."""

    model_config = ConfigDict(extra="ignore")

    name: str
    namespace: str = "default"
    uid: str = ""
    generation: int = 0
    resource_version: str = ""
    creation_timestamp: Timestamp | None = None
    deletion_timestamp: Timestamp | None = None
    labels: Mapping[str, str] = Field(default_factory=dict)
    annotations: Mapping[str, str] = Field(default_factory=dict)
    finalizers: tuple[str, ...] = ()

    @property
    def is_being_deleted(self) -> bool:
        return self.deletion_timestamp is not None
