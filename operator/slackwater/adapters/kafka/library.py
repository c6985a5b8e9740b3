"""What kafka-python has once for the whole process, as the operator wants it."""

from __future__ import annotations

import logging

from kafka.net.sasl import register_sasl_mechanism
from kafka.net.sasl.scram import ScramClient

from slackwater.adapters.kafka.counted import count_from_now_on
from slackwater.adapters.kafka.scram import BoundedScram


def set_up() -> None:
    """Log-ins that are worth the name, answers that are counted, and a quiet log. Once, before the first connection."""
    count_from_now_on()
    for mechanism in ScramClient.MECHANISMS:
        register_sasl_mechanism(mechanism, BoundedScram, overwrite=True)
    # It tells of every lost connection at ERROR, again and again; we say the same once, where people look.
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    # And at DEBUG these two log every request and its bytes, SASL's with the password among them: never that.
    for name in ("kafka.net.connection", "kafka.protocol.parser"):
        logging.getLogger(name).addFilter(_above_debug)


def _above_debug(record: logging.LogRecord) -> bool:
    return record.levelno > logging.DEBUG
