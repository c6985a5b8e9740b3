"""What the pods of one version are, beside their protocol: what the spec said when their template was asked for.

A rollout takes pods from one version to another, and both may differ in more than the template. Each pod is judged by
what it was made with (decision 15). Kept in the memory, by template hash: what people correct in the spec without
another template is true of the pods that run, and restarts none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from slackwater.api.consumer_group import Membership
from slackwater.api.resources import ConsumerGroup

ADOPTED: Final = "adopted"
"""Instead of a template's hash: pods that were made before the operator had their StatefulSet."""


@dataclass(frozen=True, slots=True)
class MadeWith:
    __pydantic_config__ = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")

    membership: Membership
    members_per_pod: int
    container: str
    """Name of the one that runs the consumer."""

    @property
    def is_static(self) -> bool:
        return self.membership is Membership.STATIC


def asked_for(group: ConsumerGroup) -> MadeWith:
    """What the spec says now."""
    spec = group.spec
    return MadeWith(spec.membership, spec.members_per_pod, spec.consumer_container.name)
