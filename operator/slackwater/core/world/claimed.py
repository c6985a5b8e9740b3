"""What is remembered of who has the group in Kafka, where other ConsumerGroups have the same `groupId`."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from slackwater.api.timestamps import Moment

_WIRE = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")


@dataclass(frozen=True, slots=True)
class Claimed:
    """This ConsumerGroup has the group, in this Kafka cluster and no other. It had pods, or was about to have some, and
    nobody who had the group before it was known."""

    __pydantic_config__ = _WIRE

    cluster_id: str
    """As the brokers say it; empty where they have none."""
    at: Moment
    """Since when."""


def had_since(claimed: Claimed, made_at: float) -> float:
    """Since when, for an object that was made then: before it was there it had nothing, whoever wrote its status."""
    return max(claimed.at, made_at)


@dataclass(frozen=True, slots=True)
class Outranked:
    """Another ConsumerGroup had the group first: nothing is done for this one."""

    __pydantic_config__ = _WIRE

    gone_since: Moment | None = None
    """Since when no such one has been known. It may be made again, as by a tool that deploys."""
