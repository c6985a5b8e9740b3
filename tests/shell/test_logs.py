"""Logs: structured, and never with what a traceback could give away."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator

import pytest
import structlog

from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.shell.logs import configure
from slackwater.shell.settings import Settings


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def fail(words: str = "") -> None:
    password = "hunter2"
    raise ValueError(f"refused, after {len(password)} letters {words}")


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_a_traceback_shows_no_local_variables(log_format: str, capfd: pytest.CaptureFixture[str]) -> None:
    configure(Settings.model_validate({"log_format": log_format}))
    try:
        fail()
    except ValueError:
        structlog.get_logger("test").exception("pass_crashed", group="default/payments")
    shown = capfd.readouterr().err
    assert "refused, after 7 letters" in shown
    assert "hunter2" not in shown


def test_records_of_libraries_take_the_same_way(capfd: pytest.CaptureFixture[str]) -> None:
    configure(Settings.model_validate({"log_format": "json"}))
    logging.getLogger("kopf.reactor").warning("slow")
    line = json.loads(capfd.readouterr().err)
    assert (line["event"], line["level"], line["logger"]) == ("slow", "warning", "kopf.reactor")


def test_kafka_python_stays_as_quiet_as_its_user_wants_it() -> None:
    assert KafkaWire.__module__ in sys.modules  # what sets it
    configure(Settings.model_validate({}))
    assert logging.getLogger("kafka").level == logging.CRITICAL


def test_on_a_terminal_a_log_shows_what_others_wrote_and_obeys_none_of_it(capfd: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b[2J\x9b2J\u202e"
    configure(Settings.model_validate({"log_format": "text"}))
    try:
        fail(evil)
    except ValueError:
        structlog.get_logger("test").exception(evil, client=evil, clients=[evil])
    logging.getLogger("kopf.reactor").warning(evil)
    said = capfd.readouterr().err
    assert not any(sign in said for sign in evil if not sign.isascii() or not sign.isprintable())
    assert said.count(r"\x1b[2J") >= 5
