"""The group's PodDisruptionBudget: how many consumers a node drain may take at a time."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from slackwater.api.model import ApiModel, Flag, Int32


class UnhealthyPodEvictionPolicy(StrEnum):
    """Kubernetes' own words."""

    ALWAYS_ALLOW = "AlwaysAllow"
    IF_HEALTHY_BUDGET = "IfHealthyBudget"


class DisruptionBudget(ApiModel):
    enabled: Flag = True
    """Whether the group has one. Kubernetes evicts no pod that two budgets select: turn this off to have your own."""
    max_unavailable: Annotated[Int32, Field(ge=0)] = 1
    """How many pods may be away at a time: evicted, or not Ready. 0 forbids every eviction."""
    unhealthy_pod_eviction_policy: UnhealthyPodEvictionPolicy = UnhealthyPodEvictionPolicy.ALWAYS_ALLOW
    """Whether Kubernetes may always evict a pod that is not Ready, or only within the budget."""
