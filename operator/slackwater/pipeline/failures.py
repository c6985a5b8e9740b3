"""Spark's and Java's errors as sentences: what happened, what it means, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from slackwater.pipeline.errors import JobFailed, LakeUnusable, PipelineError, SourceUnreadable

_Told = tuple[str, type[PipelineError], str]
_TOLD: Final[tuple[_Told, ...]] = (
    (
        "UnknownTopicOrPartition",
        SourceUnreadable,
        "{source} cannot be read: the brokers have no such topic, or hide it from this user. Correct the name, let the"
        " operator record something first, or allow the user to DESCRIBE the topic",
    ),
    (
        "TopicAuthorizationException",
        SourceUnreadable,
        "{source} cannot be read: the brokers forbid it to this user. Allow the user to READ and DESCRIBE the topic",
    ),
    (
        "GroupAuthorizationException",
        SourceUnreadable,
        "{source} cannot be read: Spark reads under consumer groups that begin with spark-kafka-source, and the brokers"
        " forbid those to this user. Allow them, or name a group with --kafka group.id=NAME",
    ),
    (
        "SaslAuthenticationException",
        SourceUnreadable,
        "{source} cannot be read: the brokers do not accept this user's credentials. Correct them",
    ),
    (
        "SslAuthenticationException",
        SourceUnreadable,
        "{source} cannot be read: the brokers and this client do not trust each other's certificates. Correct the trust"
        " store and the key store",
    ),
    (
        "No resolvable bootstrap urls",
        SourceUnreadable,
        "{source} cannot be read: no address of the brokers has a known name. Correct --bootstrap-servers",
    ),
    (
        "Failed to create new KafkaAdminClient",
        SourceUnreadable,
        "{source} cannot be read: Kafka's client does not accept its settings. Correct them",
    ),
    (
        "KafkaException: Failed to construct kafka consumer",
        SourceUnreadable,
        "{source} cannot be read: Kafka's client does not accept its settings ({said}). Correct them",
    ),
    (
        "org.apache.kafka.common.errors.TimeoutException",
        SourceUnreadable,
        "{source} cannot be read: the brokers did not answer. See that they run, that the addresses are right, and that"
        " the security settings fit the listener",
    ),
    (
        "failOnDataLoss",
        SourceUnreadable,
        "{source} no longer holds records that were not read yet: they are lost to the lake. Go on without them with"
        " --allow-data-loss",
    ),
    (
        "FileAlreadyExistsException",
        LakeUnusable,
        "{lake} cannot be written: a file stands where a folder of the lake is to be. Give another --lake",
    ),
    (
        "PATH_NOT_FOUND",
        SourceUnreadable,
        "{source} cannot be read: there is no such path. Correct it",
    ),
    (
        "FILE_NOT_EXIST",
        LakeUnusable,
        "{lake} lacks files that its own list names ({said}): somebody deleted them. Put them back, or ingest the"
        " source into a new lake",
    ),
    (
        "ParentNotDirectoryException",
        LakeUnusable,
        "{lake} cannot be written: a part of its path is a file. Give another --lake",
    ),
    (
        "Permission denied",
        LakeUnusable,
        "{lake} cannot be written, or {source} cannot be read: permission is denied ({said}). Correct the permissions",
    ),
    ("Mkdirs failed", LakeUnusable, "{lake} cannot be written ({said}). Correct --lake, or its permissions"),
    (
        "No space left on device",
        LakeUnusable,
        "the disk is full. Make room and run it again: nothing is lost or doubled",
    ),
    (
        "No FileSystem for scheme",
        LakeUnusable,
        "Spark knows no file system of this kind ({said}). Start it with the"
        " package that brings it, or give another path",
    ),
    ("UNSUPPORTED_FILESYSTEM", LakeUnusable, "Spark knows no file system of this kind ({said}). Give another path"),
    (
        "OutOfMemoryError",
        JobFailed,
        "Spark ran out of memory. Give it more with --conf spark.driver.memory=4g, or smaller batches",
    ),
)
"""What stands in Java's words, whose failure it is, and ours. The first that fits is told."""


@contextmanager
def in_sentences(source: str, lake: str) -> Iterator[None]:
    """Turn what Spark raises in the body into PipelineErrors. `source`: what is read, in words."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise told(all_said(error), source, f"the lake {lake}") from error


def all_said(error: BaseException) -> str:
    """What an error of Spark's says, and what those that caused it say, each after "Caused by: "."""
    said = [str(error)]
    # pyspark keeps Java's causes where Python's own would not be found.
    while (cause := getattr(error, "_cause", None) or error.__cause__) is not None:
        error = cause
        said.append(f"Caused by: {error}")
    return "\n".join(said)


def told(text: str, source: str, lake: str) -> PipelineError:
    """Our error for that text of Java's."""
    for fragment, error, sentence in _TOLD:
        if fragment in text:
            return error(sentence.format(source=source, lake=lake, said=_line_with(fragment, text)))
    return JobFailed(f"Spark gave up ({last_cause(text)}): run it again with SLACKWATER_DEBUG=1 to see where")


def _line_with(fragment: str, text: str) -> str:
    line = next(line for line in text.splitlines() if fragment in line)
    return _without_class(line.removeprefix("Caused by: "))


def last_cause(text: str) -> str:
    """The innermost cause in a text of Java's, in a line and without its package."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("\tat ")]
    causes = [line for line in lines if line.startswith("Caused by: ")] or lines[:1] or ["it does not say why"]
    return _without_class(causes[-1].removeprefix("Caused by: "))


def _without_class(line: str) -> str:
    name, colon, message = line.strip().partition(": ")
    short = name.rpartition(".")[2]
    return f"{short}: {message}"[:300] if colon else line.strip()[:300]
