"""How the container of Kafka's Java clients turns its environment into a command line."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parents[2] / "sandbox" / "images" / "kafka-tools" / "run.py"

Command = Callable[[str, list[str], dict[str, str], str], list[str]]


@pytest.fixture(scope="module")
def command() -> Command:
    found: Command = runpy.run_path(str(RUN))["command"]
    return found


def test_what_the_client_overwrites_with_a_default_becomes_an_option(command: Command) -> None:
    environment = {
        "TOPICS": "orders",
        "KAFKA_BOOTSTRAP_SERVERS": "b:9092",
        "KAFKA_GROUP_ID": "payments",
        "KAFKA_GROUP_INSTANCE_ID": "payments-0",
        "KAFKA_PARTITION_ASSIGNMENT_STRATEGY": "org.example.A,org.example.B",
        "KAFKA_MAX_POLL_RECORDS": "10",
    }
    words = command("VerifiableConsumer", ["--verbose"], environment, "/tmp/rest.properties")
    assert words[words.index("org.apache.kafka.tools.VerifiableConsumer") + 1 :] == [
        *("--bootstrap-server", "b:9092"),
        *("--group-id", "payments"),
        *("--group-instance-id", "payments-0"),
        *("--assignment-strategy", "org.example.A,org.example.B"),
        *("--topic", "orders"),
        *("--command-config", "/tmp/rest.properties"),
        "--verbose",
    ]


def test_a_consumer_to_which_nothing_is_said_has_both_of_javas_own_assignors(command: Command) -> None:
    """F5: else VerifiableConsumer would take the first only."""
    words = command("VerifiableConsumer", [], {"KAFKA_GROUP_ID": "payments"}, "/tmp/rest.properties")
    names = words[words.index("--assignment-strategy") + 1].split(",")
    assert [name.rpartition(".")[2] for name in names] == ["RangeAssignor", "CooperativeStickyAssignor"]


def test_a_kip_848_consumer_has_no_assignor_of_its_own(command: Command) -> None:
    """F7."""
    words = command("VerifiableConsumer", [], {"KAFKA_GROUP_PROTOCOL": "consumer"}, "/tmp/rest.properties")
    assert words[words.index("--group-protocol") + 1] == "consumer"
    assert "--assignment-strategy" not in words


def test_any_other_class_gets_only_its_own_arguments(command: Command) -> None:
    words = command("org.example.Main", ["--help"], {"KAFKA_GROUP_ID": "payments"}, "/tmp/rest.properties")
    assert words[-2:] == ["org.example.Main", "--help"]
