"""A real Kafka in KRaft for the sandbox: one broker by default, three on request, each in its own network namespace."""

from sandbox.kafka.brokers import (
    bootstrap_servers,
    credentials,
    start_all,
    start_broker,
    stop_all,
    stop_broker,
)
from sandbox.kafka.configuration import (
    PLAINTEXT_PORT,
    SASL_PLAINTEXT_PORT,
    SASL_SSL_PORT,
    SSL_PORT,
    USER,
    Broker,
)
from sandbox.kafka.credentials import Credentials

__all__ = [
    "PLAINTEXT_PORT",
    "SASL_PLAINTEXT_PORT",
    "SASL_SSL_PORT",
    "SSL_PORT",
    "USER",
    "Broker",
    "Credentials",
    "bootstrap_servers",
    "credentials",
    "start_all",
    "start_broker",
    "stop_all",
    "stop_broker",
]
