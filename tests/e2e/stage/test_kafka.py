"""The stage's own client: a coordinator that is away for a moment is asked again."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupState, ConsumerGroupType, KafkaError, KafkaException

from tests.e2e.stage.kafka import Kafka

EMPTY = SimpleNamespace(
    members=[], state=ConsumerGroupState.EMPTY, type=ConsumerGroupType.CLASSIC, partition_assignor="range"
)


class Admin:
    """Refuses each group as often as there are codes, and then describes it."""

    def __init__(self, *codes: int) -> None:
        self.codes = list(codes)

    def describe_consumer_groups(self, groups: list[str], request_timeout: float) -> dict[str, Future[Any]]:
        answer: Future[Any] = Future()
        if self.codes:
            answer.set_exception(KafkaException(KafkaError(self.codes.pop(0))))
        else:
            answer.set_result(EMPTY)
        return dict.fromkeys(groups, answer)


def asking(admin: Admin, monkeypatch: pytest.MonkeyPatch) -> Kafka:
    """One whose client is that, and each that takes its place as well."""
    monkeypatch.setattr(Kafka, "_new_admin", lambda self: admin)
    return Kafka("nowhere:9092")


@pytest.mark.parametrize(
    "code",
    [
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
        KafkaError._TIMED_OUT,
    ],
)
def test_a_group_whose_coordinator_is_away_is_asked_for_again(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asking(Admin(code, code), monkeypatch).look("orders").state == "EMPTY"


def test_what_is_forbidden_is_no_coordinator_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KafkaException):
        asking(Admin(KafkaError.GROUP_AUTHORIZATION_FAILED), monkeypatch).look("orders")
