"""What brokers say of a failure is kept for each group of a connection: so much of it at most."""

from __future__ import annotations

import kafka.errors as kafka_errors
import pytest

from slackwater.adapters.kafka.translated import LONGEST_CAUSE, translated


@pytest.mark.parametrize(
    "kind",
    [
        kafka_errors.SaslAuthenticationFailedError,
        kafka_errors.UnsupportedVersionError,
        kafka_errors.KafkaConnectionError,
    ],
)
def test_a_failure_repeats_little_of_what_a_broker_said(kind: type[Exception]) -> None:
    said = "x" * 3_900_000 + "\U0001f600"
    assert len(str(translated(kind(said), "broker a:9092", ""))) < LONGEST_CAUSE + 200
    assert "said so" in str(translated(kind("it said so"), "broker a:9092", ""))
