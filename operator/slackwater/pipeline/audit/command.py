"""The command line of the audit job. Imports no pyspark, so that `--help` is quick and its absence can be told."""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from slackwater.pipeline.session import require_pyspark, spark_session


def command(
    lake: Annotated[str, typer.Option(metavar="PATH", help="The lake: a folder, or any path that Spark can write.")],
    bootstrap_servers: Annotated[
        str | None, typer.Option(metavar="HOST:PORT,…", help="The cluster whose groups are audited.")
    ] = None,
    dump: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Read a copy of __consumer_offsets instead: Parquet with partition, offset, timestamp, key, value.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="For Spark's Kafka source; the client's own begin with kafka., as in kafka.security.protocol=SSL."
            " May be repeated.",
        ),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="NAME", help="What the tables call the cluster; by default its own id.")
    ] = None,
    master: Annotated[str | None, typer.Option(metavar="URL", help="Where Spark runs when it is started here.")] = None,
) -> None:
    """Find every rebalance of every group in a cluster's __consumer_offsets, as far back as its compaction left it."""
    if (bootstrap_servers is None) == (dump is None):
        raise typer.BadParameter("give either --bootstrap-servers or --dump")
    options = _options(option or [])
    require_pyspark()
    from slackwater.pipeline.audit.job import Options, run
    from slackwater.pipeline.audit.printing import print_summary

    with spark_session("audit", kafka=dump is None, master=master) as spark:
        summary = run(spark, Options(lake, bootstrap_servers, dump, options, cluster))
    print_summary(summary, lake)


def _options(given: list[str]) -> Mapping[str, str]:
    pairs = [each.partition("=") for each in given]
    if wrong := [name for name, equals, _ in pairs if not name or not equals]:
        raise typer.BadParameter(f"--option takes NAME=VALUE, not {wrong[0]!r}")
    return {name: value for name, _, value in pairs}
