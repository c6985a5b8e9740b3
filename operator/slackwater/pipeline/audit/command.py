"""The command line of the audit job. Imports no pyspark, so that `--help` is quick and its absence can be told."""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

from typing import Annotated

import typer

from slackwater.pipeline import arguments
from slackwater.pipeline.session import require_pyspark, spark_session


def command(  # noqa: PLR0913, PLR0917 - each is an option of the command line
    lake: Annotated[str, typer.Option(metavar="PATH", help="The lake: a folder, or any path that Spark can write.")],
    bootstrap_servers: Annotated[
        str | None, typer.Option(metavar="HOST:PORT,…", help="The cluster whose groups to audit.")
    ] = None,
    dump: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Read a copy of __consumer_offsets instead: Parquet with partition, offset, timestamp, key, value.",
        ),
    ] = None,
    kafka: arguments.KafkaSettings = None,
    kafka_config: arguments.KafkaConfig = None,
    option: arguments.ConnectorOptions = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="NAME", help="What the tables call the cluster; by default its own id.")
    ] = None,
    master: arguments.Master = None,
    conf: arguments.SparkSettings = None,
) -> None:
    """Find every rebalance of every group in a cluster's __consumer_offsets, as far back as its compaction left it."""
    if (bootstrap_servers is None) == (dump is None):
        raise typer.BadParameter("give either --bootstrap-servers or --dump")
    options, settings = arguments.connector_options(kafka, kafka_config, option), arguments.spark_settings(conf)
    require_pyspark()
    from slackwater.pipeline.audit.job import Options, run
    from slackwater.pipeline.audit.printing import print_summary

    with spark_session("audit", kafka=dump is None, master=master, settings=settings) as spark:
        summary = run(spark, Options(lake, bootstrap_servers, dump, options, cluster))
    print_summary(summary, lake)
