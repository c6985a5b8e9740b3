"""The bytes of one connection become answers, and no more of them than are looked at."""

from __future__ import annotations

import struct
import sys
from io import BytesIO
from threading import Event, Thread
from typing import Any, Final

import pytest
from kafka.errors import InvalidReceiveError, KafkaProtocolError
from kafka.protocol.metadata import ApiVersionsRequest, FindCoordinatorRequest, MetadataRequest, MetadataResponse
from kafka.protocol.parser import KafkaProtocol

from slackwater.adapters.kafka.answers import LARGE, QUICK, SHORT_BYTES, Answers
from slackwater.adapters.kafka.apart import ONE_AT_A_TIME
from slackwater.adapters.kafka.counted import TooMuch
from slackwater.adapters.kafka.library import set_up
from slackwater.adapters.kafka.sizes import USUAL, Limits

set_up()
MOST: Final = 4_000_000
TOPIC: Final = MetadataResponse.MetadataResponseTopic
PARTITION: Final = TOPIC.MetadataResponsePartition


def asked(*requests: Any) -> Any:
    parser = KafkaProtocol(client_id="c", receive_message_max_bytes=MOST)
    for request in requests:
        parser.send_request(request)
    return parser


def metadata(version: int = 4) -> MetadataRequest:
    request = MetadataRequest(topics=[])
    request.API_VERSION = version
    return request


def answer(correlation_id: int, topics: int, partitions: int) -> bytes:
    rows = [PARTITION(partition_index=n, leader_id=1, replica_nodes=[1, 2], isr_nodes=[1]) for n in range(partitions)]
    told = MetadataResponse(brokers=[], cluster_id="", topics=[TOPIC(name="t", partitions=rows)] * topics)
    body = struct.pack(">i", correlation_id) + bytes(told.encode(version=4))
    return struct.pack(">i", len(body)) + body


def received(answers: Answers, data: bytes, size: int) -> list[tuple[int, int]]:
    """By correlation id, how many topics."""
    parts = (data[at : at + size] for at in range(0, len(data), size))
    return [(number, len(found.topics)) for part in parts for number, found in answers.receive(part)]


@pytest.mark.parametrize("size", [1, 3, 50, 10**6])
def test_answers_come_in_pieces_of_any_size(size: int) -> None:
    parser = asked(metadata(), metadata(), metadata())
    data = answer(1, 1, 2) + answer(2, 0, 0) + answer(3, 2, 1)
    assert received(Answers(parser, USUAL, MOST), data, size) == [(1, 1), (2, 0), (3, 2)]
    assert not parser.in_flight_requests


def test_large_ones_are_looked_at_in_advance_and_read_all_the_same() -> None:
    large = answer(1, 4, 5_000)
    assert len(large) > 2 * LARGE
    for size in (65_536, 262_145, len(large) - 1):
        assert received(Answers(asked(metadata(), metadata()), USUAL, MOST), large + answer(2, 1, 1), size) == [
            (1, 4),
            (2, 1),
        ]


def test_of_one_that_says_that_it_has_too_much_the_rest_is_not_read() -> None:
    parser = asked(metadata(), metadata())
    small = Limits(partitions=4_999)
    large = answer(1, 4, 5_000)
    answers = Answers(parser, small, MOST)
    assert answers.receive(large[: LARGE - 1]) == []
    with pytest.raises(TooMuch, match="5,000 partitions"):
        answers.receive(large[LARGE - 1 : LARGE + 9])
    assert [header.correlation_id for header in parser.in_flight_requests] == [1, 2], "whose it is, is still known"
    fine, behind = answer(1, 20, 1_000), Answers(parser := asked(metadata(), metadata()), small, MOST)
    assert len(fine) > 2 * LARGE
    assert received(behind, fine, 65_536) == [(1, 20)]
    with pytest.raises(TooMuch, match="5,000 partitions"):
        behind.receive(answer(2, 4, 5_000)[:LARGE])
    short = Answers(parser := asked(metadata(), metadata()), Limits(partitions=9), MOST)
    with pytest.raises(TooMuch, match="10 partitions"):
        short.receive(answer(1, 1, 10))
    assert [header.correlation_id for header in parser.in_flight_requests] == [1, 2]


def test_nothing_is_set_aside_for_what_was_only_announced() -> None:
    """Each of a hundred connections to a hundred brokers may announce four megabytes, and send none."""
    answers = Answers(asked(metadata()), USUAL, MOST)
    assert answers.receive(struct.pack(">i", MOST) + bytes(10)) == []
    assert sys.getsizeof(answers._held) < 1_000


@pytest.mark.parametrize(
    ("request_", "length", "fits"),
    [
        (metadata(), MOST, True),
        (metadata(), MOST + 1, False),
        (metadata(), -1, False),
        (ApiVersionsRequest(version=0), SHORT_BYTES, True),
        (ApiVersionsRequest(version=0), SHORT_BYTES + 1, False),
    ],
    ids=["all that is read", "one byte more", "less than none", "a handshake", "no handshake"],
)
def test_an_answer_is_as_long_as_what_it_is_asked_for_may_be(request_: Any, length: int, fits: bool) -> None:
    answers = Answers(asked(request_), USUAL, MOST)
    if fits:
        assert answers.receive(struct.pack(">i", length)) == []
        return
    with pytest.raises(InvalidReceiveError, match=f"Invalid frame length: {length}"):
        answers.receive(struct.pack(">i", length))


def test_what_cannot_be_decoded_is_an_error_that_ends_the_connection() -> None:
    """Any other would end the reading, and nobody would learn why no more answers come."""
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=["g"])
    request.API_VERSION = 4
    body = struct.pack(">ibi", 1, 0, 0) + b"\x80"  # it ends within a number
    with pytest.raises(KafkaProtocolError):
        Answers(asked(request), USUAL, MOST).receive(struct.pack(">i", len(body)) + body)


def test_large_answers_are_decoded_one_at_a_time() -> None:
    entered, may_go_on = Event(), Event()

    class Slow:
        in_flight_requests = ()

        def _process_response(self, frame: BytesIO) -> tuple[int, int]:
            entered.set()
            may_go_on.wait(10)
            return 1, len(frame.getvalue())

    def decoded(size: int) -> tuple[int, int]:
        return Answers(Slow(), USUAL, MOST)._answer(bytes(size))

    other = Thread(target=lambda: decoded(QUICK + 1))
    other.start()
    assert entered.wait(10)
    assert not ONE_AT_A_TIME.acquire(blocking=False)
    may_go_on.set()
    assert decoded(QUICK) == (1, QUICK), "a small one does not wait"
    other.join(10)
    assert decoded(QUICK + 1) == (1, QUICK + 1)
