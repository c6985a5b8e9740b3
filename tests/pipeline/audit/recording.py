"""`__consumer_offsets` of a Kafka 4.3.0 broker (one partition), recorded while confluent-kafka consumers came and went.

classic-dynamic   three members joined one by one, one left, then the others; the group was deleted
classic-static    two joined; each came back; both went over to KIP-848 and back, one by one; their sessions ended
kip848-dynamic    as the first
kip848-static     two joined; each came back
"""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path

_FILE = Path(__file__).with_name("recorded_topic.jsonl")

RecordedRow = tuple[int, int, int, bytes, bytes | None]
"""partition, offset, milliseconds since the epoch, key, value"""


def recorded_topic() -> list[RecordedRow]:
    lines = [json.loads(line) for line in _FILE.read_text().splitlines()]
    return [
        (line["partition"], line["offset"], line["at_ms"], b64decode(line["key"]), _bytes(line["value"]))
        for line in lines
    ]


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
