"""Describes groups whatever their type, and remembers the type, so that the next time one request will do.

A group is asked about as what it was last seen to be. One that turns out not to be that is asked about as the other
type in the same pass (F6: a rollout flips a group from classic to KIP-848), and ListGroups has the last word.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest

from slackwater.adapters.kafka.apart import apart
from slackwater.adapters.kafka.consumer_group_describe import ConsumerGroupDescribeRequest
from slackwater.adapters.kafka.descriptions import (
    Answer,
    Description,
    NotOfThisType,
    classic_answers,
    consumer_answers,
    listed_answer,
    weight_of,
)
from slackwater.adapters.kafka.errors import (
    ApiMissing,
    Code,
    Failure,
    KafkaFailed,
    group_failure,
    unanswered,
)
from slackwater.adapters.kafka.parts import Parts, group_parts
from slackwater.adapters.kafka.share import Share
from slackwater.adapters.kafka.sizes import USUAL, Limits
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.world.observation import GroupType

Request = Callable[[list[str]], Any]
Reads = Callable[[Any, Limits], dict[str, Answer]]
T = TypeVar("T", bound=Answer)


def _as_classic(group_ids: list[str]) -> Any:
    return DescribeGroupsRequest(groups=group_ids, include_authorized_operations=False)


def _as_consumer(group_ids: list[str]) -> Any:
    return ConsumerGroupDescribeRequest(group_ids=group_ids, include_authorized_operations=False)


class Describer:
    def __init__(self, wire: KafkaWire, limits: Limits = USUAL, share: Share | None = None) -> None:
        self._wire = wire
        self._limits = limits
        self._share = share or Share()
        self._types: dict[str, GroupType] = {}
        self._classic, self._consumer = group_parts(), group_parts()

    async def describe(self, node_id: int, group_ids: Collection[str]) -> dict[str, Description | Failure]:
        """Return a description of each group that `node_id` coordinates. Never raises."""
        consumer = {group_id for group_id in group_ids if self._types.get(group_id) is GroupType.CONSUMER}
        answers = await self._ask_both(node_id, set(group_ids) - consumer, consumer)
        elsewhere = {group_id for group_id, answer in answers.items() if isinstance(answer, NotOfThisType)}
        answers |= await self._ask_both(node_id, elsewhere & consumer, elsewhere - consumer)
        neither = {group_id for group_id, answer in answers.items() if isinstance(answer, NotOfThisType)}
        listed = await self._look_up_in_list(node_id, neither) if neither else {}
        settled = {group_id: self._with_room(group_id, answer) for group_id, answer in listed.items()}
        settled |= {g: answer for g, answer in answers.items() if not isinstance(answer, NotOfThisType)}
        self._types |= {g: answer.type for g, answer in settled.items() if isinstance(answer, Description)}
        return settled

    async def _ask_both(self, node_id: int, classic: Collection[str], consumer: Collection[str]) -> dict[str, Answer]:
        classic_found, consumer_found = await asyncio.gather(
            self._ask(node_id, _as_classic, classic, classic_answers, self._classic),
            self._ask(node_id, _as_consumer, consumer, consumer_answers, self._consumer),
        )
        return classic_found | consumer_found

    async def _ask(
        self, node_id: int, request: Request, group_ids: Collection[str], read: Reads, parts: Parts[str]
    ) -> dict[str, Answer]:
        async def ask(some: list[str]) -> dict[str, Answer]:
            try:
                response = await self._wire.send(request(some), node_id)
            except ApiMissing:  # a broker from before KIP-848 has no such groups
                return {group_id: NotOfThisType() for group_id in some}
            found = await apart(weight_of(response), lambda: read(response, self._limits))
            answers = {group_id: found.get(group_id) or unanswered(f"group {group_id}") for group_id in some}
            return {group_id: self._with_room(group_id, answer) for group_id, answer in answers.items()}

        return await parts.ask_each(group_ids, ask)

    def _with_room(self, group_id: str, answer: T) -> T | Failure:
        """Part by part, so that no more is in memory than there is room for."""
        failure = self._share.take_members(group_id, answer.members) if isinstance(answer, Description) else None
        return failure or answer

    async def _look_up_in_list(self, node_id: int, group_ids: Collection[str]) -> dict[str, Description | Failure]:
        try:
            response = await self._wire.send(ListGroupsRequest(), node_id)
        except KafkaFailed as error:
            return dict.fromkeys(group_ids, error.failure)
        if response.error_code != Code.NONE:
            return {group_id: group_failure(group_id, response.error_code) for group_id in group_ids}
        listed = {group.group_id: group for group in response.groups}
        return {group_id: listed_answer(group_id, listed.get(group_id)) for group_id in group_ids}
