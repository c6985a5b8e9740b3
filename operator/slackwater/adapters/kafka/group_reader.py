"""Reads many groups at once: a fixed number of requests per coordinator and per leader, whatever the number of groups,
but for answers that would be longer than what is read of any.

A pass is one Metadata request; then, at the same time, the groups' descriptions and committed offsets from every
coordinator, the ends of the partitions from every leader, and, where it is asked for, the groups' own settings from
any broker; and the beginnings of partitions in which nothing was committed, where there are such. A group whose
coordinator fails, or does not say all of it, is `Unobserved`. A topic or partition that cannot be read leaves its
groups seen, and them `blind_to` that. The settings may be missing, for want of a right or of a broker that knows them.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import structlog

from slackwater.adapters.kafka.apart import MOST_AT_ONCE, apart
from slackwater.adapters.kafka.coordinators import Coordinators
from slackwater.adapters.kafka.describing import Describer
from slackwater.adapters.kafka.descriptions import Description
from slackwater.adapters.kafka.errors import Failure, KafkaFailed
from slackwater.adapters.kafka.group_settings import Settings, read_settings
from slackwater.adapters.kafka.offsets import Committed, offset_parts, read_committed, read_ends, read_starts
from slackwater.adapters.kafka.parts import Parts, group_parts
from slackwater.adapters.kafka.share import Share
from slackwater.adapters.kafka.sizes import USUAL, Limits, crowded
from slackwater.adapters.kafka.topics import NO_LEADER, TopicLayout, read_layout, topic_parts
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.adapters.turns import Turns
from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import shown
from slackwater.core.world.observation import GroupObservation, KafkaView, PartitionOffsets, TopicPartition, Unobserved

Group = tuple[int, Description, Committed]
"""What a coordinator (its node id first) said about one group."""

Offsets = dict[TopicPartition, int | Failure]
ReadsOffsets = Callable[[KafkaWire, int, Collection[TopicPartition], Parts[TopicPartition]], Awaitable[Offsets]]

OF_A_GROUP: Final = 10
"""What a group takes by itself, in partitions."""
LONGEST_MESSAGE: Final = 1_024
"""Characters: a broker's words have no end of their own."""

_log = structlog.get_logger(__name__)


class KafkaGroupReader:
    """A `GroupReader` of one cluster. `requests` counts what was sent, by API name."""

    def __init__(
        self,
        wire: KafkaWire,
        coordinators: Coordinators | None = None,
        *,
        now: Callable[[], float] = time.time,
        limits: Limits = USUAL,
        share: Share | None = None,
    ) -> None:
        self._limits = limits
        self._share = share or Share()
        self._wire = wire
        self._coordinators = coordinators or Coordinators(wire)
        self._describer = Describer(wire, limits, self._share)
        self._topics, self._offsets = topic_parts(), offset_parts()
        self._committed, self._settings = group_parts(), group_parts()
        self._now = now
        self._settings_failures: dict[str, Failure] = {}

    @property
    def requests(self) -> Counter[str]:
        return self._wire.requests

    async def observe(
        self, topics_by_group: Mapping[str, frozenset[str]], settings_of: Collection[str] = ()
    ) -> Mapping[str, KafkaView]:
        """One view for each group, with their own settings for those in `settings_of`.

        Never raises for what Kafka does; each request takes the wire's timeout at most.
        """
        began_at, turns = self._now(), Turns(MOST_AT_ONCE)
        asked: dict[str, frozenset[str]] = {}
        no_room: dict[str, KafkaView] = {}
        for group_id, topics in topics_by_group.items():
            if failure := self._share.why_not_now(group_id):
                no_room[group_id] = _unobserved(failure, began_at)
            else:
                asked[group_id] = topics
            await turns.after(OF_A_GROUP)
        views = await self._observe(asked, [each for each in settings_of if each in asked], began_at) if asked else {}
        return views | no_room

    async def _observe(
        self, topics_by_group: Mapping[str, frozenset[str]], settings_of: Collection[str], began_at: float
    ) -> dict[str, KafkaView]:
        try:
            topics = frozenset[str]().union(*topics_by_group.values())
            layout = await read_layout(self._wire, topics, self._topics, self._limits, self._share.room())
        except KafkaFailed as error:
            return {group_id: _unobserved(error.failure, began_at) for group_id in topics_by_group}
        outgrown, weight = await self._outgrown(topics_by_group, layout)
        looked_at = {group_id: topics for group_id, topics in topics_by_group.items() if group_id not in outgrown}
        partitions = await apart(weight, lambda: {g: layout.partitions_of(topics) for g, topics in looked_at.items()})
        wanted = await apart(weight, lambda: frozenset[TopicPartition]().union(*partitions.values()))
        groups, ends, settings = await asyncio.gather(
            self._read_groups(partitions),
            self._read_offsets(layout, wanted, read_ends),
            self._read_settings([each for each in settings_of if each in partitions]),
        )
        uncommitted = await apart(weight, lambda: _uncommitted(groups.values()))
        starts = await self._read_offsets(layout, uncommitted, read_starts)
        answers = _Answers(began_at, self._now(), layout, partitions, {**groups, **outgrown}, ends, starts, settings)
        return await apart(
            sum(map(len, partitions.values())),  # thousands of small groups take as long as a large one
            lambda: {group_id: answers.view_of(group_id, topics) for group_id, topics in topics_by_group.items()},
        )

    async def close(self) -> None:
        await self._wire.close()

    async def _outgrown(
        self, topics_by_group: Mapping[str, frozenset[str]], layout: TopicLayout
    ) -> tuple[dict[str, Failure], int]:
        """Those of which no more is asked for: they have too many partitions, or their namespace has too much already;
        and how many partitions the others have together.

        Counted, not listed: there may be thousands, and lists of partitions for all of them take gigabytes.
        """
        found: dict[str, Failure] = {}
        weight, turns = 0, Turns(MOST_AT_ONCE)
        await apart(len(layout.leaders), lambda: layout.by_topic)
        for group_id, topics in topics_by_group.items():
            number, are_all = layout.number_of(topics), layout.failures.keys().isdisjoint(topics)
            failure = crowded(f"group {group_id}", number, self._limits)
            if failure := failure or self._share.take_partitions(group_id, number, are_all=are_all):
                found[group_id] = failure
            else:
                weight += number
            await turns.after(OF_A_GROUP + len(topics))
        return found, weight

    async def _read_groups(self, partitions: Mapping[str, frozenset[TopicPartition]]) -> dict[str, Group | Failure]:
        groups = await self._ask_coordinators(partitions)
        failures = {group_id: group for group_id, group in groups.items() if isinstance(group, Failure)}
        # A coordinator that is silent may have lost its groups to another broker without being able to say so.
        self._coordinators.forget(g for g, f in failures.items() if f.reason is Reason.KAFKA_UNREACHABLE)
        moved = {group_id: partitions[group_id] for group_id, f in failures.items() if f.coordinator_moved}
        if moved:
            self._coordinators.forget(moved)
            groups |= await self._ask_coordinators(moved)
        return groups

    async def _ask_coordinators(
        self, partitions: Mapping[str, frozenset[TopicPartition]]
    ) -> dict[str, Group | Failure]:
        found = await self._coordinators.find(partitions)
        by_node: defaultdict[int, dict[str, frozenset[TopicPartition]]] = defaultdict(dict)
        groups: dict[str, Group | Failure] = {}
        for group_id, node in found.items():
            if isinstance(node, Failure):
                groups[group_id] = node
            else:
                by_node[node][group_id] = partitions[group_id]
        for answers in await asyncio.gather(*(self._ask_coordinator(node, of) for node, of in by_node.items())):
            groups |= answers
        return groups

    async def _ask_coordinator(
        self, node_id: int, partitions: Mapping[str, frozenset[TopicPartition]]
    ) -> dict[str, Group | Failure]:
        descriptions, committed = await asyncio.gather(
            self._describer.describe(node_id, partitions),
            read_committed(self._wire, node_id, partitions, self._committed),
        )
        return {g: _both(node_id, descriptions[g], committed[g]) for g in partitions}

    async def _read_settings(self, group_ids: Collection[str]) -> dict[str, Settings]:
        """Of those groups that could be read; says once why not."""
        if not group_ids:
            return {}
        read = await read_settings(self._wire, group_ids, self._settings)
        failures = {group_id: own for group_id, own in read.items() if isinstance(own, Failure)}
        for group_id, failure in failures.items():
            if self._settings_failures.get(group_id) != failure:
                _log.warning("group_settings_not_read", group_id=group_id, message=failure.message)
        self._settings_failures = failures
        return {group_id: own for group_id, own in read.items() if not isinstance(own, Failure)}

    async def _read_offsets(
        self, layout: TopicLayout, wanted: Collection[TopicPartition], read: ReadsOffsets
    ) -> Offsets:
        by_leader: defaultdict[int, list[TopicPartition]] = defaultdict(list)
        for partition, leader in layout.leaders.items():
            if leader != NO_LEADER and partition in wanted:
                by_leader[leader].append(partition)
        offsets: Offsets = {}
        for answers in await asyncio.gather(
            *(read(self._wire, node, of, self._offsets) for node, of in by_leader.items())
        ):
            offsets |= answers
        return offsets


def _uncommitted(groups: Iterable[Group | Failure]) -> frozenset[TopicPartition]:
    committed = [group[2] for group in groups if not isinstance(group, Failure)]
    return frozenset(partition for each in committed for partition, offset in each.items() if offset is None)


def _both(node_id: int, description: Description | Failure, committed: Committed | Failure) -> Group | Failure:
    if isinstance(description, Failure):
        return description
    return committed if isinstance(committed, Failure) else (node_id, description, committed)


def _unobserved(failure: Failure, began_at: float) -> Unobserved:
    return Unobserved(failure.reason, shown(failure.message, LONGEST_MESSAGE), began_at)


def _blind_to_topics(view: GroupObservation, topics: frozenset[str], layout: TopicLayout) -> GroupObservation:
    """The same, of which the topics that could not be read are not known."""
    unread = {topic: _unobserved(layout.failures[topic], view.observed_at) for topic in topics & layout.failures.keys()}
    blind_in = {**view.blind_in, **unread}
    return replace(view, blind_to=blind_in[min(unread or blind_in)] if blind_in else None, blind_in=blind_in)


@dataclass(frozen=True, slots=True)
class _Answers:
    """All that was read for one look."""

    began_at: float
    answered_at: float
    layout: TopicLayout
    partitions: Mapping[str, frozenset[TopicPartition]]
    groups: Mapping[str, Group | Failure]
    ends: Offsets
    starts: Offsets
    settings: Mapping[str, Settings]

    def view_of(self, group_id: str, topics: frozenset[str]) -> KafkaView:
        group = self.groups[group_id]
        if isinstance(group, Failure):
            return _unobserved(group, self.began_at)
        those = self.partitions[group_id]
        view = _assembled(group_id, self.began_at, group, those, self.ends, self.starts)
        view = _blind_to_topics(view, topics, self.layout)
        return replace(view, settings=self.settings.get(group_id), answered_at=self.answered_at)


def _assembled(
    group_id: str,
    began_at: float,
    group: Group,
    partitions: Collection[TopicPartition],
    ends: Offsets,
    starts: Offsets,
) -> GroupObservation:
    """Where the end of a partition could not be read, that alone is not known, and the observation says of which topic
    and why."""
    node_id, description, committed = group
    offsets: dict[TopicPartition, PartitionOffsets] = {}
    blind_in: dict[str, Unobserved] = {}
    for partition in sorted(partitions):
        end, start = ends.get(partition), starts.get(partition, 0)
        if isinstance(end, Failure):
            blind_in.setdefault(partition.topic, _unobserved(end, began_at))
        known_end, known_start = (None if isinstance(each, Failure) else each for each in (end, start))
        offsets[partition] = PartitionOffsets(committed.get(partition), known_end, known_start)
    return GroupObservation(
        group_id=group_id,
        observed_at=began_at,
        state=description.state,
        type=description.type,
        assignor=description.assignor,
        epoch=description.epoch,
        coordinator=node_id,
        members=description.members,
        partitions=frozenset(partitions),
        offsets=offsets,
        blind_in=blind_in,
    )
