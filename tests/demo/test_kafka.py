"""The brokers, as the demo deals with them."""

from __future__ import annotations

import pytest
from kafka.errors import CoordinatorLoadInProgressError

from demo import kafka


class JustStarted:
    """A cluster whose brokers are still reading their groups when they are first asked."""

    def __init__(self, **_: object) -> None:
        self.asked = 0

    def list_groups(self) -> list[dict[str, str]]:
        self.asked += 1
        if self.asked < 3:
            raise CoordinatorLoadInProgressError
        return [{"group_id": "orders"}]


def test_brokers_that_have_just_started_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka, "KafkaAdminClient", JustStarted)
    assert kafka.Kafka("127.0.0.1:1")._group_ids() == {"orders"}


def test_those_that_never_come_to_an_end_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka, "KafkaAdminClient", JustStarted)
    monkeypatch.setattr(kafka, "_GONE_WITHIN_S", -1.0)
    with pytest.raises(CoordinatorLoadInProgressError):
        kafka.Kafka("127.0.0.1:1")._group_ids()
