"""Where the operator's own records go to, and where recommendations come from: a file, or a topic."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from slackwater.shell.store import Key

_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_FORMS = "write file:<path> or kafka:<namespace>/<KafkaConnection>/<topic>"


@dataclass(frozen=True, slots=True)
class FilePlace:
    path: Path


@dataclass(frozen=True, slots=True)
class TopicPlace:
    connection: Key
    """The KafkaConnection whose brokers have it."""
    topic: str


Place = FilePlace | TopicPlace


def parse_place(text: str) -> Place:
    """`file:/recommendations/all.jsonl` or `kafka:payments/main/slackwater-recommendations`. Raises ValueError."""
    kind, _, rest = text.partition(":")
    if kind == "file" and rest:
        return FilePlace(Path(rest))
    parts = rest.split("/")
    if kind == "kafka" and len(parts) == 3 and all(parts) and _TOPIC.fullmatch(parts[2]):
        return TopicPlace(Key(parts[0], parts[1]), parts[2])
    raise ValueError(_FORMS)
