"""The command line of the report job. Imports no pyspark, so that `--help` is quick and its absence can be told."""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from slackwater.pipeline import arguments
from slackwater.pipeline.session import spark_session
from slackwater.terminal import say


def command(
    lake: Annotated[str, typer.Option(metavar="PATH", help="The lake: a folder, or any path that Spark can read.")],
    out: Annotated[
        str, typer.Option(metavar="FILE", help="Where to write the page: a file here, or a path such as s3a://….")
    ] = "report.html",
    groups: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many groups get charts; those with most to save come first.")
    ] = 50,
    as_of: Annotated[
        datetime | None,
        typer.Option(
            metavar="MOMENT", parser=arguments.moment, help="Leave out what is newer, such as 2026-11-02T14:05:09Z."
        ),
    ] = None,
    master: arguments.Master = None,
    conf: arguments.SparkSettings = None,
) -> None:
    """Make one HTML page of the fleet: recommendations, curves, restarts, rebalances, lag. It needs no network."""
    with spark_session("report", master=master, settings=arguments.spark_settings(conf)) as spark:
        from slackwater.pipeline.report.job import Options, run

        summary = run(spark, Options(lake, out, groups, as_of))
    kib = summary.bytes_written / 1024
    say(f"{summary.out}: {summary.groups:,} groups, {summary.detailed:,} with charts, {kib:,.0f} KiB")
