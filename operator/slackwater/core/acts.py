"""What a plan may ask the shell to do to the cluster, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from slackwater.core.world import UpdateStrategy


class Purpose(StrEnum):
    """Why the StatefulSet is written."""

    CREATE = "create the StatefulSet"
    TAKE_TEMPLATE = "take up the new template; no pod moves yet"
    SCALE = "change the number of pods"
    RESTART = "let the next pod take up the new version"
    OPEN_OUT_OF_ORDER = "let a pod that is down come back with the new version, out of order"
    CLOSE_OUT_OF_ORDER = "go back to restarts in order"
    PARK = "hold every pod where it is"


@dataclass(frozen=True, slots=True)
class WriteWorkload:
    """One server-side apply of the whole StatefulSet. Safe to repeat: it says what should be, not what to change."""

    purpose: Purpose
    template: Mapping[str, Any]
    replicas: int
    strategy: UpdateStrategy
    partition: int
    resource_version: str
    """Of the StatefulSet that was looked at; the write is refused when it has changed since. Empty: there is none."""
    ordinal: int | None = None

    @property
    def disruptive(self) -> bool:
        return self.purpose is Purpose.RESTART


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete exactly this pod; another one under the same name is left alone."""

    name: str
    uid: str
    ordinal: int
    why: str

    @property
    def disruptive(self) -> bool:
        return True


Act = WriteWorkload | DeletePod


@dataclass(frozen=True, slots=True)
class Note:
    """An Event for people: something was done, or a refusal changed."""

    reason: str
    message: str
    warning: bool = False
