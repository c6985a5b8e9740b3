"""What a container's environment and arguments tell of its Kafka client. Pure; what they do not tell stays unknown.

Only well-known names count: a variable AD_GROUP_ID is no consumer's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slackwater.api.client import Library

Json = Mapping[str, Any]

SPRING: Final = "SPRING_KAFKA_CONSUMER_PROPERTIES_"
_SPRING_ANY: Final = "SPRING_KAFKA_"
_SPRING_STREAMS: Final = "SPRING_KAFKA_STREAMS_"
_PREFIXES: Final = (SPRING, "KAFKA_CONSUMER_", "KAFKA_", "CONSUMER_")
_STREAMS_IDS: Final = ("SPRING_KAFKA_STREAMS_APPLICATION_ID", "KAFKA_STREAMS_APPLICATION_ID", "KAFKA_APPLICATION_ID")
_GROUP_IDS: Final = (
    *(f"{prefix}GROUP_ID" for prefix in _PREFIXES),
    *("SPRING_KAFKA_CONSUMER_GROUP_ID", "GROUP_ID", "CONSUMER_GROUP", "KAFKA_CONSUMER_GROUP"),
    *_STREAMS_IDS,
)
_SERVERS: Final = (
    *(f"{prefix}BOOTSTRAP_SERVERS" for prefix in _PREFIXES),
    *("SPRING_KAFKA_BOOTSTRAP_SERVERS", "SPRING_KAFKA_CONSUMER_BOOTSTRAP_SERVERS"),
    *("BOOTSTRAP_SERVERS", "KAFKA_BROKERS", "KAFKA_BROKER_LIST"),
)
_TOPICS: Final = ("TOPIC", "TOPICS", "KAFKA_TOPIC", "KAFKA_TOPICS", "KAFKA_CONSUMER_TOPICS", "CONSUMER_TOPICS")
_MEMBERS: Final = ("SPRING_KAFKA_LISTENER_CONCURRENCY", "KAFKA_NUM_STREAM_THREADS", "KAFKA_STREAMS_NUM_STREAM_THREADS")
_GROUP_FLAGS: Final = ("--group-id", "--group", "--consumer-group", "--group.id")
_SERVER_FLAGS: Final = ("--bootstrap-servers", "--bootstrap-server", "--brokers", "--bootstrap.servers")
_TOPIC_FLAGS: Final = ("--topics", "--topic")
_REFERENCE: Final = re.compile(r"\$(?:\$|\(([^)]+)\))")
"""`$(NAME)`, which Kubernetes puts in; `$$` stands for a dollar sign, so that `$$(NAME)` is no reference."""


@dataclass(frozen=True, slots=True)
class Told:
    """One setting: each value that it is given, with the places that give it, and places that hide theirs."""

    values: Mapping[str, Sequence[str]]
    hidden: Sequence[str] = ()
    """Variables and flags whose value stands in a ConfigMap, a Secret or a field."""

    @property
    def value(self) -> str | None:
        """The one value; None where there is none, or more than one."""
        return next(iter(self.values)) if len(self.values) == 1 else None

    @property
    def doubt(self) -> str:
        """Why there is no value, where that is not for want of any trace; else empty."""
        if len(self.values) > 1:
            return " but ".join(f"{places[0]} says {value}" for value, places in self.values.items())
        return f"{self.hidden[0]} is not a plain value" if self.hidden and not self.values else ""


@dataclass(frozen=True, slots=True)
class Found:
    """What one container tells."""

    group_id: Told
    bootstrap_servers: Told
    topics: Told
    members_per_pod: Told
    library: Library | None
    env_prefix: str | None

    @property
    def is_a_consumer(self) -> bool:
        return bool(self.group_id.values or self.group_id.hidden)


def found_in(container: Json) -> Found:
    variables: dict[str, str | None] = {e["name"]: _plain(e) for e in container.get("env") or ()}
    words = [str(word) for word in (*(container.get("command") or ()), *(container.get("args") or ()))]
    return Found(
        group_id=_told(variables, words, _GROUP_IDS, _GROUP_FLAGS),
        bootstrap_servers=_told(variables, words, _SERVERS, _SERVER_FLAGS),
        topics=_told(variables, words, _TOPICS, _TOPIC_FLAGS),
        members_per_pod=_told(variables, words, _MEMBERS, ()),
        library=_library(variables),
        env_prefix=_prefix(variables),
    )


def _plain(variable: Json) -> str | None:
    """None where it comes from elsewhere, or is put together from other variables."""
    value = str(variable.get("value") or "")
    return None if "valueFrom" in variable or "$(" in value else value


def _told(
    variables: Mapping[str, str | None], words: Sequence[str], names: Sequence[str], flags: Sequence[str]
) -> Told:
    values: dict[str, list[str]] = {}
    for name in names:
        if value := variables.get(name):
            values.setdefault(value.strip(), []).append(name)
    hidden = [name for name in names if name in variables and variables[name] is None]
    for flag, word in _flagged(words, flags):
        if (expanded := _expanded(word, variables)) is None:
            hidden.append(flag)
        else:
            values.setdefault(expanded.strip(), []).append(flag)
    return Told(values, hidden)


def _expanded(word: str, variables: Mapping[str, str | None]) -> str | None:
    """As Kubernetes hands it to the program; None where a value in it is not plain, or comes from elsewhere."""
    given = {name: variables.get(name) for name in _REFERENCE.findall(word) if name}
    if None in given.values():
        return None
    return _REFERENCE.sub(lambda found: (given[found[1]] or "") if found[1] else "$", word)


def _flagged(words: Sequence[str], flags: Sequence[str]) -> Iterator[tuple[str, str]]:
    for number, word in enumerate(words):
        flag, given, value = word.partition("=")
        if flag in flags and given:
            yield flag, value
        elif flag in flags and number + 1 < len(words) and not words[number + 1].startswith("-"):
            yield flag, words[number + 1]


def _library(variables: Mapping[str, str | None]) -> Library | None:
    if any(name in variables for name in _STREAMS_IDS) or any(name.startswith(_SPRING_STREAMS) for name in variables):
        return Library.KAFKA_STREAMS
    return Library.JAVA if any(name.startswith(_SPRING_ANY) for name in variables) else None


def _prefix(variables: Mapping[str, str | None]) -> str | None:
    """How the program's settings begin, where it takes the group's id, or else Kafka's address, by such a name."""
    for setting in ("GROUP_ID", "BOOTSTRAP_SERVERS"):
        for prefix in _PREFIXES:
            if f"{prefix}{setting}" in variables and not _is_springs_own(f"{prefix}{setting}", variables):
                return prefix
    return SPRING if any(name.startswith(_SPRING_ANY) for name in variables) else None


def _is_springs_own(name: str, variables: Mapping[str, str | None]) -> bool:
    """KAFKA_... beside SPRING_KAFKA_... is somebody's own placeholder, which Spring Boot does not read by itself."""
    return not name.startswith(_SPRING_ANY) and any(each.startswith(_SPRING_ANY) for each in variables)
