"""What brokers answer that have just started is no reason to give up."""

from __future__ import annotations

from concurrent.futures import Future

import pytest
from confluent_kafka import KafkaError, KafkaException

from demo import group
from demo.group import Describer
from sandbox.errors import SandboxError


class Refusing:
    """An admin client whose brokers answer with an error."""

    def __init__(self, code: int) -> None:
        self.code = code

    def __call__(self, settings: object) -> Refusing:
        return self

    def describe_consumer_groups(self, names: list[str], request_timeout: float) -> dict[str, Future[object]]:
        refused: Future[object] = Future()
        refused.set_exception(KafkaException(KafkaError(self.code)))
        return {names[0]: refused}


@pytest.mark.parametrize(
    "code",
    [KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.COORDINATOR_LOAD_IN_PROGRESS],
)
def test_who_is_about_to_coordinate_cannot_tell_yet(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "AdminClient", Refusing(code))
    assert Describer("nowhere:9092").describe("orders").state == "unknown"


def test_what_is_forbidden_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "AdminClient", Refusing(KafkaError.GROUP_AUTHORIZATION_FAILED))
    with pytest.raises(SandboxError, match="do not describe the group orders"):
        Describer("nowhere:9092").describe("orders")
