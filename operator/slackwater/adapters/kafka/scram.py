"""SCRAM, with two limits: a broker chooses how often a password is hashed before its proof is sent to it (RFC 5802).

Whoever stands in for a broker and asks for one round gets a proof that costs two hashes for each guess. RFC 7677 wants
4,096 rounds, Kafka's brokers keep no fewer, and its Java client refuses fewer, too. Whoever asks for a million, as
kafka-python lets him, has half a second of processor for each log-in, and as many of these as there are connections.
"""

from __future__ import annotations

from typing import Any, Final

import kafka.errors as kafka_errors
from kafka.net.sasl.scram import SaslMechanismScram, ScramClient

FEWEST_ITERATIONS: Final = 4_096
MOST_ITERATIONS: Final = 65_536
"""Some 25 ms. Kafka's brokers keep 16,384 at most."""


class WeakLogIn(kafka_errors.KafkaConnectionError):  # type: ignore[misc] # kafka-python is not typed
    """The broker asks for a log-in by which the password could be guessed, or for one that takes long; nothing of it
    was sent."""


class BoundedScram(SaslMechanismScram):  # type: ignore[misc]
    """As kafka-python's, but for brokers that ask for too little or too much."""

    def __init__(self, **config: Any) -> None:
        super().__init__(**config)
        self._scram_client = _Client(
            config["sasl_plain_username"], config["sasl_plain_password"], config["sasl_mechanism"]
        )


class _Client(ScramClient):  # type: ignore[misc]
    def create_salted_password(self, salt: bytes, iterations: int) -> None:
        """Raises WeakLogIn."""
        if iterations < FEWEST_ITERATIONS:
            asks = f"it asks for {iterations} rounds of SCRAM, fewer than {FEWEST_ITERATIONS}"
            raise WeakLogIn(f"is not sent the password: {asks}")
        if iterations > MOST_ITERATIONS:
            asks = f"it asks for {iterations} rounds of SCRAM, more than {MOST_ITERATIONS}"
            raise WeakLogIn(f"is not sent the password: {asks}")
        super().create_salted_password(salt, iterations)
