"""Arguments that several jobs take, and what becomes of them. Imports no pyspark."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from slackwater.pipeline.errors import SourceUnreadable

_CLIENTS_OWN: Final = "kafka."
"""Spark's connector for Kafka takes the client's settings among its own options, with this before them."""

KafkaSettings = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="A setting of Kafka's client, such as security.protocol=SSL. Repeatable."),
]
KafkaConfig = Annotated[
    str | None, typer.Option(metavar="FILE", help="A file of such settings, one a line; for secrets.")
]
ConnectorOptions = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="An option of Spark's Kafka connector itself. Repeatable."),
]
SparkSettings = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="A setting of Spark, where this command starts it. Repeatable."),
]
LeastDays = Annotated[
    float,
    typer.Option(metavar="DAYS", min=0.0, help="Recommend nothing to groups seen for less. For tests."),
]
Master = Annotated[
    str | None, typer.Option(metavar="URL", help="Spark's master, where this command starts it; local by default.")
]


def moment(text: str) -> datetime:
    """A moment as ISO 8601 has it; UTC where it names no zone."""
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no moment: write it as 2026-11-02T14:05:09Z") from error
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def spark_settings(conf: Iterable[str] | None) -> dict[str, str]:
    """What `--conf` gave."""
    return _pairs("--conf", conf or ())


def connector_options(
    kafka: Iterable[str] | None, kafka_config: str | None, option: Iterable[str] | None
) -> dict[str, str]:
    """What `--kafka`, `--kafka-config` and `--option` gave, as Spark's connector takes it; the command line wins.

    Raises SourceUnreadable.
    """
    client = _file(kafka_config) | _pairs("--kafka", kafka or ())
    if twice := [name for name in client if name.startswith(_CLIENTS_OWN)]:
        name = twice[0].removeprefix(_CLIENTS_OWN)
        raise typer.BadParameter(f"--kafka takes the names of Kafka's client: {name}, not {twice[0]}")
    return {f"{_CLIENTS_OWN}{name}": value for name, value in client.items()} | _pairs("--option", option or ())


def _pairs(option: str, given: Iterable[str]) -> dict[str, str]:
    parts = [each.partition("=") for each in given]
    if wrong := [name for name, equals, _ in parts if not name or not equals]:
        raise typer.BadParameter(f"{option} takes NAME=VALUE, not {wrong[0]!r}")
    return {name.strip(): value.strip() for name, _, value in parts}


def _file(path: str | None) -> dict[str, str]:
    """A file of Java properties, as Kafka's own tools take it."""
    if path is None:
        return {}
    try:
        lines = [line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise SourceUnreadable(f"the file {path} cannot be read ({error}): correct --kafka-config") from error
    return _pairs("--kafka-config", (line for line in lines if line and not line.startswith("#")))
