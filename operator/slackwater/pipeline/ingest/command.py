"""The command line of the ingest job. Imports no pyspark, so that `--help` is quick and its absence can be told."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    lake: Annotated[str, typer.Option(metavar="PATH", help="The lake: a folder, or any path that Spark can write.")],
    every: Annotated[str, typer.Option(metavar="DURATION")] = "1m",
) -> None:
    """Take the telemetry of a Kafka topic, or of files, into the lake: each event once."""
