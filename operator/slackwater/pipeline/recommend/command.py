"""The command line of the recommend job. Imports no pyspark, so that `--help` is quick and its absence can be told."""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from slackwater.api.recommendation import LEAST_DAYS
from slackwater.pipeline import arguments
from slackwater.pipeline.session import require_pyspark, spark_session


def command(  # noqa: PLR0913, PLR0917 - each is an option of the command line
    lake: Annotated[str, typer.Option(metavar="PATH", help="The lake: a folder, or any path that Spark can write.")],
    as_of: Annotated[
        datetime | None,
        typer.Option(
            metavar="MOMENT",
            parser=arguments.moment,
            help="Leave out what is newer, such as 2026-11-02T14:05:09Z; by default the newest event's moment.",
        ),
    ] = None,
    out_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the recommendations here too, one JSON object a line.")
    ] = None,
    out_topic: Annotated[
        str | None,
        typer.Option(metavar="TOPIC", help="Send them to this topic too; makes it, compacted, where there is none."),
    ] = None,
    bootstrap_servers: Annotated[str, typer.Option(metavar="HOST:PORT,…", help="Where --out-topic is.")] = "",
    kafka: arguments.KafkaSettings = None,
    kafka_config: arguments.KafkaConfig = None,
    option: arguments.ConnectorOptions = None,
    least_days: arguments.LeastDays = LEAST_DAYS,
    master: arguments.Master = None,
    conf: arguments.SparkSettings = None,
) -> None:
    """Find the timeouts that each group should have, from its history; write them to the lake, a file, a topic."""
    if (out_topic is None) != (bootstrap_servers == ""):
        raise typer.BadParameter("--out-topic and --bootstrap-servers go together")
    options, settings = arguments.connector_options(kafka, kafka_config, option), arguments.spark_settings(conf)
    require_pyspark()
    from slackwater.pipeline.recommend.job import Options, run
    from slackwater.pipeline.recommend.printing import print_summary

    with spark_session("recommend", kafka=out_topic is not None, master=master, settings=settings) as spark:
        summary = run(spark, Options(lake, as_of, out_file, out_topic, bootstrap_servers, options, least_days))
    print_summary(summary, f"the lake {lake}")
