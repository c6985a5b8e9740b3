"""The command line of the ingest job. Imports no pyspark, so that `--help` is quick and its absence can be told."""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from slackwater.api.durations import parse_duration_ms
from slackwater.pipeline import arguments
from slackwater.pipeline.session import require_pyspark, spark_session
from slackwater.terminal import say

if TYPE_CHECKING:
    from slackwater.pipeline.ingest.source import Source


def _seconds(text: str) -> float:
    try:
        return parse_duration_ms(text) / 1000
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def command(  # noqa: PLR0913, PLR0917 - every option of a job is an argument, so that nothing depends on its surroundings
    lake: Annotated[str, typer.Option(metavar="PATH", help="The lake: a folder, or any path that Spark can write.")],
    bootstrap_servers: Annotated[
        str | None, typer.Option(metavar="HOST:PORT,…", help="The brokers that have the telemetry topic.")
    ] = None,
    topic: Annotated[str, typer.Option(metavar="NAME", help="The telemetry topic.")] = "slackwater-telemetry",
    files: Annotated[
        str | None, typer.Option(metavar="PATH", help="Read the *.jsonl files of this folder instead of a topic.")
    ] = None,
    starting_offsets: Annotated[
        str, typer.Option(metavar="WHERE", help="Where the first run begins: earliest, latest, or Spark's JSON.")
    ] = "earliest",
    kafka: arguments.KafkaSettings = None,
    kafka_config: arguments.KafkaConfig = None,
    option: arguments.ConnectorOptions = None,
    allow_data_loss: Annotated[
        bool, typer.Option("--allow-data-loss", help="Go on when the topic lost records that nobody has read.")
    ] = False,
    batch: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most so many records (a topic) or files in a batch.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Take what is there, and end. The default.")] = False,
    every: Annotated[
        float | None,
        typer.Option(metavar="DURATION", parser=_seconds, help="Go on for ever, a batch every so often, such as 1m."),
    ] = None,
    master: arguments.Master = None,
    conf: arguments.SparkSettings = None,
) -> None:
    """Take the telemetry of a Kafka topic, or of files, into the lake: each event once, whatever is no event set aside.

    Run again, it goes on where it was. Malformed records are in the lake's bronze/quarantine, with the reason.
    """
    if (bootstrap_servers is None) == (files is None):
        raise typer.BadParameter("give either --bootstrap-servers or --files")
    if once and every is not None:
        raise typer.BadParameter("give either --once or --every")
    options, settings = arguments.connector_options(kafka, kafka_config, option), arguments.spark_settings(conf)
    require_pyspark()
    from slackwater.pipeline.ingest.job import Options, run
    from slackwater.pipeline.ingest.source import FILES_A_BATCH, RECORDS_A_BATCH, Files, Topic

    source: Source
    if bootstrap_servers is None:
        assert files is not None
        source = Files(files, batch or FILES_A_BATCH)
    else:
        options["failOnDataLoss"] = str(not allow_data_loss).lower()
        source = Topic(bootstrap_servers, topic, starting_offsets, batch or RECORDS_A_BATCH, options)
    with spark_session("ingest", kafka=files is None, master=master, settings=settings) as spark:
        summary = run(spark, Options(source, lake, every))
    say(f"{summary}")
