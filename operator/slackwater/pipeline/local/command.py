"""The command line of `slackwater recommend`. Imports no numpy: `--help` is quick, its absence can be told."""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from slackwater.api.recommendation import LEAST_DAYS
from slackwater.pipeline import arguments
from slackwater.pipeline.errors import DependencyMissing
from slackwater.terminal import say


def command(
    files: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the operator's telemetry is: *.jsonl, and folders of them.")
    ],
    out_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the recommendations here, one JSON object a line.")
    ] = None,
    as_of: Annotated[
        datetime | None,
        typer.Option(metavar="MOMENT", parser=arguments.moment, help="Leave out what is newer."),
    ] = None,
    least_days: arguments.LeastDays = LEAST_DAYS,
) -> None:
    """Find the timeouts that each group should have, without Spark: for a fleet of a few hundred groups."""
    require_numbers()
    from slackwater.pipeline.local.job import Options, run
    from slackwater.pipeline.recommend.printing import print_summary

    summary, unreadable = run(Options(files, out_file, as_of, least_days))
    print_summary(summary, f"the folder {files}", all_in="what --out-file writes")
    if unreadable:
        say(f"{unreadable:,} lines could not be read and were left out.")


def require_numbers() -> None:
    """Raises DependencyMissing."""
    if find_spec("numpy") is None or find_spec("scipy") is None:
        raise DependencyMissing(
            "numpy and scipy are not installed: install slackwater[recommend], or use the operator's image"
        )
