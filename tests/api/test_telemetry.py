"""The wire format of the events: what is written is what is read, and what the published schema says."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from slackwater.api.telemetry.events import read_line, write_line
from slackwater.api.telemetry.schema import FILE_NAME, as_text, telemetry_schema
from slackwater.api.telemetry.words import EventType
from slackwater.api.timestamps import strict_moment, timestamp
from tests.api.telemetry_examples import EXAMPLES

SCHEMAS = Path(__file__).parents[2] / "schemas"
KINDS = sorted(EXAMPLES)


def line(kind: str, **changes: Any) -> str:
    return json.dumps(EXAMPLES[kind] | changes)


def body_of(kind: str) -> dict[str, Any]:
    schema = _schema()
    event: str = schema["discriminator"]["mapping"][kind].rpartition("/")[2]
    body: str = schema["$defs"][event]["properties"][kind]["$ref"].rpartition("/")[2]
    found: dict[str, Any] = schema["$defs"][body]
    return found


_schema = cache(telemetry_schema)


def test_the_checked_in_schema_is_the_generated_one() -> None:
    written = (SCHEMAS / FILE_NAME).read_text(encoding="utf-8")
    assert written == as_text(), "run `make schemas`"


def test_there_is_an_example_of_each_type() -> None:
    assert sorted(EventType) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_read_is_written_as_it_was(kind: str) -> None:
    assert json.loads(write_line(read_line(line(kind)))) == EXAMPLES[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_every_event_is_one_line(kind: str) -> None:
    told = line(kind, name="two\nlines")
    assert b"\n" not in write_line(read_line(told))


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_names_just_what_is_written(kind: str) -> None:
    assert sorted(body_of(kind)["properties"]) == sorted(EXAMPLES[kind][kind])


@pytest.mark.parametrize("kind", KINDS)
def test_fields_of_a_later_version_are_left_out(kind: str) -> None:
    told = line(kind, mood="good", **{kind: EXAMPLES[kind][kind] | {"weather": "fine"}})
    assert json.loads(write_line(read_line(told))) == EXAMPLES[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_may_leave_out_what_may_be_null_and_nothing_else(kind: str) -> None:
    body = EXAMPLES[kind][kind]
    for field in body:
        told = line(kind, **{kind: {name: value for name, value in body.items() if name != field}})
        if field in body_of(kind).get("required", ()):
            with pytest.raises(ValidationError, match=f"(?s){kind}.{field}.*Field required"):
                read_line(told)
        else:
            assert json.loads(write_line(read_line(told)))[kind][field] is None


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"schema": 2}, "schema"),
        ({"type": "weather"}, "type"),
        ({"type": "rebalance"}, "rebalance"),
        ({"at": 1769860800}, "at"),
        ({"at": "2026-01-31T12:00:00"}, "offset from UTC"),
        ({"at": "yesterday"}, "at"),
        ({"gate_held": EXAMPLES["gate_held"]["gate_held"] | {"held_s": "10"}}, "held_s"),
        ({"gate_held": EXAMPLES["gate_held"]["gate_held"] | {"held_s": -1.0}}, "held_s"),
    ],
)
def test_what_is_no_event_is_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        read_line(line("gate_held", **changes))


def test_moments_have_milliseconds_and_end_in_z() -> None:
    assert timestamp(1_769_860_800.2504, "milliseconds") == "2026-01-31T12:00:00.250Z"
    assert strict_moment("2026-01-31T13:00:00.2504+01:00") == 1_769_860_800.25
