"""What slackwater has to know about the consumers' Kafka client."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from slackwater.api.model import ApiModel, Int32
from slackwater.api.text import Text


class Library(StrEnum):
    """The client library decides what an upgrade may do (F1, F4, F9) and in whose words settings are written."""

    JAVA = "Java"
    KAFKA_STREAMS = "KafkaStreams"
    LIBRDKAFKA = "Librdkafka"
    FRANZ_GO = "FranzGo"
    OTHER = "Other"


Version = Annotated[
    str,
    Text(
        r"v?[0-9]+([.][0-9]+){0,3}([-+._]?[0-9A-Za-z.+_-]+)?",
        "write the client library's version, in quotes, such as '4.3' or '2.12.1'",
        max_length=64,
    ),
]
EnvPrefix = Annotated[
    str,
    Text(
        r"[A-Za-z_][A-Za-z0-9_]*",
        "write the beginning of an environment variable's name, such as KAFKA_: letters, digits and _",
        max_length=64,
    ),
]
ContainerName = Annotated[
    str,
    Text(
        r"[a-z0-9]([-a-z0-9]*[a-z0-9])?",
        "write the name of a container of the template: lower-case letters, digits and -",
        max_length=63,
    ),
]


MetricsPath = Annotated[
    str, Text(r"/[!-~]*", "write the path of the metrics, such as /metrics: it begins with /", max_length=253)
]


class ConsumerMetrics(ApiModel):
    port: Annotated[Int32, Field(ge=1, le=65_535)]
    """Port of the pod on which the consumer container publishes Prometheus metrics."""
    path: MetricsPath = "/metrics"
    """Where on it."""


class Client(ApiModel):
    library: Library
    """Client library of the consumers: Java, KafkaStreams, Librdkafka (also under Python, Go, .NET and Node), FranzGo
    or Other. The operator writes settings in its words, and upgrades protocols in the way that it can go."""
    version: Version | None = None
    """Version of the client library, such as "4.3"; some protocol upgrades need to know it."""
    env_prefix: EnvPrefix = "KAFKA_"
    """How the consumers' settings begin in the environment: KAFKA_ gives KAFKA_GROUP_ID. Spring Boot understands
    SPRING_KAFKA_CONSUMER_PROPERTIES_."""
    metrics: ConsumerMetrics | None = None
    """Where the consumers publish how they poll, for recommendations of maxPollInterval and maxPollRecords: the
    operator asks each pod once a minute. docs/telemetry.md has the names."""
    container: ContainerName | None = None
    """The template's container that is the consumer and gets the settings; the first one when not given."""
