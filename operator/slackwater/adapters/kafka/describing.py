"""Describes groups whatever their type, and remembers the type, so that the next time one request will do.

A group is asked about as what it was last seen to be. One that turns out not to be that is asked about as the other
type in the same pass (F6: a rollout flips a group from classic to KIP-848), and ListGroups has the last word.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, Final

from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest

from slackwater.adapters.kafka.consumer_group_describe import ConsumerGroupDescribeRequest
from slackwater.adapters.kafka.descriptions import (
    Answer,
    Description,
    NotOfThisType,
    classic_answers,
    consumer_answers,
    listed_answer,
)
from slackwater.adapters.kafka.errors import (
    AnswerTooLong,
    ApiMissing,
    Code,
    Failure,
    KafkaFailed,
    group_failure,
    unanswered,
)
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.world.observation import GroupType

TOO_LONG_AGAIN_S: Final = 300.0
Request = Callable[[list[str]], Any]


def _as_classic(group_ids: list[str]) -> Any:
    return DescribeGroupsRequest(groups=group_ids, include_authorized_operations=False)


def _as_consumer(group_ids: list[str]) -> Any:
    return ConsumerGroupDescribeRequest(group_ids=group_ids, include_authorized_operations=False)


class Describer:
    def __init__(self, wire: KafkaWire) -> None:
        self._wire = wire
        self._types: dict[str, GroupType] = {}
        self._too_long: dict[str, tuple[float, Failure]] = {}
        """Groups whose description alone is longer than what is read: when they are asked for again, and the failure.
        Such an answer ends the connection, and with it what others have asked by it."""

    async def describe(self, node_id: int, group_ids: Collection[str]) -> dict[str, Description | Failure]:
        """Return a description of each group that `node_id` coordinates. Never raises."""
        consumer = {group_id for group_id in group_ids if self._types.get(group_id) is GroupType.CONSUMER}
        answers = await self._ask_both(node_id, set(group_ids) - consumer, consumer)
        elsewhere = {group_id for group_id, answer in answers.items() if isinstance(answer, NotOfThisType)}
        answers |= await self._ask_both(node_id, elsewhere & consumer, elsewhere - consumer)
        neither = {group_id for group_id, answer in answers.items() if isinstance(answer, NotOfThisType)}
        settled = await self._look_up_in_list(node_id, neither) if neither else {}
        settled |= {g: answer for g, answer in answers.items() if not isinstance(answer, NotOfThisType)}
        self._types |= {g: answer.type for g, answer in settled.items() if isinstance(answer, Description)}
        return settled

    async def _ask_both(self, node_id: int, classic: Collection[str], consumer: Collection[str]) -> dict[str, Answer]:
        now = time.monotonic()
        kept = {group: failure for group, (until, failure) in self._too_long.items() if now < until}
        classic_found, consumer_found = await asyncio.gather(
            self._ask(node_id, _as_classic, sorted(set(classic) - kept.keys()), classic_answers),
            self._ask(node_id, _as_consumer, sorted(set(consumer) - kept.keys()), consumer_answers),
        )
        not_asked = {group: kept[group] for group in (*classic, *consumer) if group in kept}
        return {**not_asked, **classic_found, **consumer_found}

    async def _ask(
        self, node_id: int, request: Request, group_ids: list[str], read: Callable[[Any], dict[str, Answer]]
    ) -> dict[str, Answer]:
        if not group_ids:
            return {}
        try:
            found = read(await self._wire.send(request(group_ids), node_id))
        except AnswerTooLong as error:
            return await self._ask_for_less(node_id, request, group_ids, read, error)
        except ApiMissing:  # a broker from before KIP-848 has no such groups
            return {group_id: NotOfThisType() for group_id in group_ids}
        except KafkaFailed as error:
            return dict.fromkeys(group_ids, error.failure)
        return {group_id: found.get(group_id) or unanswered(f"group {group_id}") for group_id in group_ids}

    async def _ask_for_less(
        self,
        node_id: int,
        request: Request,
        group_ids: list[str],
        read: Callable[[Any], dict[str, Answer]],
        error: AnswerTooLong,
    ) -> dict[str, Answer]:
        """One after the other, since each that is too long ends the connection."""
        if len(group_ids) == 1:
            failure = replace(error.failure, message=f"group {group_ids[0]}: {error.failure.message}")
            self._too_long[group_ids[0]] = (time.monotonic() + TOO_LONG_AGAIN_S, failure)
            return {group_ids[0]: failure}
        half = len(group_ids) // 2
        first = await self._ask(node_id, request, group_ids[:half], read)
        return first | await self._ask(node_id, request, group_ids[half:], read)

    async def _look_up_in_list(self, node_id: int, group_ids: Collection[str]) -> dict[str, Description | Failure]:
        try:
            response = await self._wire.send(ListGroupsRequest(), node_id)
        except KafkaFailed as error:
            return dict.fromkeys(group_ids, error.failure)
        if response.error_code != Code.NONE:
            return {group_id: group_failure(group_id, response.error_code) for group_id in group_ids}
        listed = {group.group_id: group for group in response.groups}
        return {group_id: listed_answer(group_id, listed.get(group_id)) for group_id in group_ids}
