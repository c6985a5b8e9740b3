"""Objects of ours that people or programs made up: good, or refused in sentences that a terminal and a status bear."""

from __future__ import annotations

import json
from typing import Any

import atheris

with atheris.instrument_imports(include=["slackwater.api"]):
    from slackwater.api.errors import InvalidSpec
    from slackwater.api.parsing import parse_consumer_group, parse_kafka_connection

from tests.api.manifests import consumer_group, kafka_connection
from tests.fuzz.play import play

PARSERS = {"ConsumerGroup": parse_consumer_group, "KafkaConnection": parse_kafka_connection}


def target(data: bytes) -> None:
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError):
        return  # no API server and no YAML file gives us that
    kind = found.get("kind") if isinstance(found, dict) else None
    parse: Any = PARSERS.get(kind if isinstance(kind, str) else "", parse_consumer_group)
    try:
        parse(found)
    except InvalidSpec as error:
        assert error.problems
        for sentence in error.problems:
            assert sentence.endswith((".", "?")), sentence
            assert sentence.isprintable(), sentence
            assert len(sentence) < 2_000, sentence


def main() -> None:
    play("objects", target, (json.dumps(each).encode() for each in (consumer_group(), kafka_connection())))


if __name__ == "__main__":
    main()
