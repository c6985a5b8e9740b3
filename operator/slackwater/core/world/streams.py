"""Topics that Kafka Streams makes for itself, by their names: `<application.id>-<name>-repartition` and its like.

Its members read them as they read the topics that people name, so that a group has them in its picture: a partition of
one that nobody owns stands still, and with it all that comes after. Changelogs are read to restore state, by consumers
that are in no group: nobody owns them, and they are no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from slackwater.core.world.observation import GroupObservation, GroupState, GroupType, KafkaView

MOST_INTERNAL_TOPICS: Final = 256
"""Anybody in a group may ask for what he likes."""
_READ_BY_MEMBERS: Final = re.compile(
    r".+-repartition|.*-subscription-(registration|response)-topic"
    r"|.*KTABLE-FK-JOIN-SUBSCRIPTION-(REGISTRATION|RESPONSE)-[0-9]+-topic"
)
"""As Kafka's own StreamsResetter tells them apart from topics that people made, but for changelogs."""
_SETTLED: Final = (GroupState.STABLE, GroupState.EMPTY)


def is_internal(topic: str, group_id: str) -> bool:
    """A topic of the Streams application whose `application.id` is the group's id, which its members read."""
    return topic.startswith(f"{group_id}-") and _READ_BY_MEMBERS.fullmatch(topic[len(group_id) + 1 :]) is not None


def internal_topics(group_id: str, view: KafkaView, known: frozenset[str]) -> frozenset[str]:
    """Those that the group reads now. `known`: those that it was known to read, which stay so while its members say
    nothing, as in a rebalance, or are away."""
    if not isinstance(view, GroupObservation) or not view.members or view.state not in _SETTLED:
        return known
    asked = [member.subscribed for member in view.members]
    owned = {partition.topic for member in view.members for partition in member.assignment}
    found = _internal({*owned, *(topic for each in asked for topic in each or ())}, group_id)
    says_all = view.type is GroupType.CLASSIC and all(each is not None for each in asked)
    return found if says_all else known | found


def _internal(topics: Iterable[str], group_id: str) -> frozenset[str]:
    return frozenset(sorted(topic for topic in topics if is_internal(topic, group_id))[:MOST_INTERNAL_TOPICS])
