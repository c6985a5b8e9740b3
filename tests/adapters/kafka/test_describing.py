"""One group whose description is longer than what is read takes no other out of sight."""

from __future__ import annotations

from typing import Any, cast

import pytest
from kafka.protocol.admin import DescribeGroupsResponse

from slackwater.adapters.kafka import parts
from slackwater.adapters.kafka.describing import Describer
from slackwater.adapters.kafka.descriptions import Description
from slackwater.adapters.kafka.errors import AnswerTooLong, Failure
from slackwater.adapters.kafka.wire import KafkaWire

NAMES = ["a", "b", "c", "wide", "x"]


class Wire:
    """Answers for groups of which some are too wide."""

    def __init__(self, *too_wide: str) -> None:
        self.too_wide = too_wide
        self.asked: list[list[str]] = []

    async def send(self, request: Any, node_id: int) -> Any:
        self.asked.append(list(request.groups))
        if set(request.groups) & set(self.too_wide):
            raise AnswerTooLong("Kafka broker 1 answers with more bytes than are read of one answer")
        usual: Any = {"error_code": 0, "group_state": "Stable", "protocol_type": "consumer", "protocol_data": ""}
        rows = [DescribeGroupsResponse.DescribedGroup(group_id=each, members=[], **usual) for each in request.groups]
        return DescribeGroupsResponse(throttle_time_ms=0, groups=rows)


async def test_the_others_are_described_all_the_same_and_it_is_asked_for_seldom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wire = Wire("wide")
    describer = Describer(cast("KafkaWire", wire))
    for _ in range(2):
        found = await describer.describe(1, NAMES)
        assert {name for name, each in found.items() if isinstance(each, Description)} == {"a", "b", "c", "x"}
        wide = found["wide"]
        assert isinstance(wide, Failure)
        assert wide.message == "group wide: Kafka broker 1 answers with more bytes than are read of one answer"
    assert wire.asked[-1] == ["a", "b", "c", "x"], "each such answer ends the connection"
    wire.too_wide = ()
    monkeypatch.setattr(parts, "TOO_LONG_AGAIN_S", 0.0)
    describer = Describer(cast("KafkaWire", Wire("wide")))
    await describer.describe(1, NAMES)
    describer._wire = cast("KafkaWire", wire)
    found = await describer.describe(1, NAMES)
    assert all(isinstance(each, Description) for each in found.values())
