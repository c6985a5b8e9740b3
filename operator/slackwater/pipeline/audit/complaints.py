"""What Kafka and Spark throw while the topic is read, as sentences for people: what it means and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from slackwater.pipeline.errors import JobFailed, SourceUnreadable

TOPIC: Final = "__consumer_offsets"
GROUP_PREFIX: Final = "slackwater-audit"
"""Spark lists an internal topic by a consumer of a group of this prefix (F44). It joins none and commits nothing."""
_OR_A_COPY: Final = f"or audit a copy of {TOPIC} with --dump"
_SENTENCES: Final = {
    "UnknownTopicOrPartitionException": f"the cluster has no topic {TOPIC}: no consumer group ever committed there, or"
    " this is not the cluster meant",
    "TopicAuthorizationException": f"the broker does not let this user read {TOPIC}: grant it Describe and Read on that"
    f" topic, {_OR_A_COPY}",
    "GroupAuthorizationException": "the broker does not let this user look up offsets as a consumer group, as Spark's"
    f" Kafka source does: grant it Read on the groups with the prefix {GROUP_PREFIX}, {_OR_A_COPY}",
    "ClusterAuthorizationException": "the broker does not let this user describe the cluster: grant it Describe there",
    "SaslAuthenticationException": "the broker refused the log-in: check the user, the password and"
    " kafka.sasl.mechanism",
    "SslAuthenticationException": "the TLS connection was refused: check kafka.security.protocol and the certificates",
    "TimeoutException": "no answer from {servers}: check the address, that the brokers can be reached from here, and"
    " kafka.security.protocol",
    "ConfigException": "the connection's settings are not usable: {cause}",
    "KafkaException": "the connection's settings are not usable: {cause}",
}
"""By the name of what is thrown; the first that stands anywhere in the chain of causes decides."""


@contextmanager
def kafka_errors(servers: str) -> Iterator[None]:
    """What is thrown inside becomes SourceUnreadable, or JobFailed where there is no better sentence for it."""
    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        trace = str(error)
        for name, sentence in _SENTENCES.items():
            if name in trace:
                raise SourceUnreadable(sentence.format(servers=servers, cause=_cause(trace))) from error
        raise JobFailed(f"Spark gave up: {_cause(trace)}") from error


def _cause(trace: str) -> str:
    """The innermost cause of a Java stack trace, in a line."""
    causes = [line for line in trace.splitlines() if line.startswith("Caused by: ")]
    told = (
        causes[-1].removeprefix("Caused by: ")
        if causes
        else next(filter(None, trace.splitlines()), "it gave no reason")
    )
    return told.strip()
