"""A job as a program of its own, for `spark-submit`: what goes wrong becomes one sentence and an exit code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from os import environ

import typer

from slackwater.api.errors import SlackwaterError


def main(command: Callable[..., None]) -> None:
    """Run that typer function with the command line's arguments. Ends the process with 1 when the job failed.

    With SLACKWATER_DEBUG set, the traceback comes as well.
    """
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command()(command)
    try:
        app()
    except SlackwaterError as error:
        if environ.get("SLACKWATER_DEBUG", "") not in ("", "0"):
            traceback.print_exception(error)
        sys.exit(f"Error: {' '.join(str(error).split())}")
