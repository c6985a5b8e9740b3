"""The memory's part about a StatefulSet that is made again, since Kubernetes changes no volume claims of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from slackwater.api.timestamps import Moment


@dataclass(frozen=True, slots=True)
class Remaking:
    __pydantic_config__ = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")

    claims: str
    """Digest of the volumeClaimTemplates that are asked for."""
    announced_at: Moment
    """When people were first informed of it."""
    uid: str = ""
    """The StatefulSet that is deleted without its pods; empty while it is not its time."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """What nobody can change in the spec of that one, apart from its claims: its successor must have it again, since
    its pods were made with it."""
    lacks: tuple[str, ...] = ()
    """Names of those that are asked for and that the pods do not have."""
