"""`slackwater pipeline …`: the jobs that run on Spark.

How a job plugs in. A job is a package `slackwater.pipeline.<job>` with
- `command.py`: one function `command`, annotated for typer (its docstring is the help, every path, topic and option an
  argument). The module imports neither pyspark nor numpy: `command` opens `spark_session(...)`, which says in a
  sentence what is not installed, and imports `<job>.job` inside it;
- `job.py`: `run(spark, options) -> Summary`, which prints nothing but progress;
- `__main__.py`: `main(command)` of `slackwater.pipeline.main`, so that `spark-submit` runs the same job;
and one line below. So `slackwater --help` stays quick, and the operator's image works without Spark.
"""

from __future__ import annotations

import typer

from slackwater.cli.grouped import Whole
from slackwater.pipeline.audit.command import command as audit
from slackwater.pipeline.ingest.command import command as ingest
from slackwater.pipeline.recommend.command import command as recommend
from slackwater.pipeline.report.command import command as report
from slackwater.terminal import say

pipeline = typer.Typer(
    cls=Whole,
    help="Learn from the fleet's telemetry, on Spark: ingest, audit, recommend, report.",
    rich_markup_mode=None,
)


@pipeline.callback(invoke_without_command=True)
def show_help(context: typer.Context) -> None:
    """Without a job, as `slackwater` itself does it."""
    if context.invoked_subcommand is None:
        say(context.get_help())


pipeline.command("ingest")(ingest)
pipeline.command("audit")(audit)
pipeline.command("report")(report)
pipeline.command("recommend")(recommend)
