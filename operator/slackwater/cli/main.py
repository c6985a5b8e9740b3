"""The command `slackwater`, which is `kubectl slackwater` as well: parses, calls, prints.

The clients of Kubernetes and Kafka take a second to import. Only the commands that need them pay for that: a mistyped
command line, `--help` and `plan --world` answer at once.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from enum import StrEnum
from importlib.metadata import version
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.live import Live

from slackwater.api.durations import parse_duration_ms
from slackwater.cli import failures
from slackwater.cli.documents import plan_document, status_document
from slackwater.cli.errors import FileUnusable
from slackwater.cli.files import Manifests, read_manifests, read_world_file
from slackwater.cli.judgement import Judgement, judge_recorded, judgement_table
from slackwater.cli.kubeconfig import namespace_of
from slackwater.cli.pipeline_command import pipeline
from slackwater.cli.view import render_view
from slackwater.core.observation import Unobserved
from slackwater.core.recording import write_world

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.add_typer(pipeline, name="pipeline")


class Output(StrEnum):
    TABLE = "table"
    JSON = "json"


class Recording(StrEnum):
    JSON = "json"


def _name(text: str) -> str:
    """Kubernetes' own rule for names; anything else would make another path of the request's."""
    if not re.fullmatch(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", text):
        raise typer.BadParameter(f"{text!r} is no name: write lower-case letters, digits and -")
    return text


def _seconds(text: str) -> float:
    try:
        return parse_duration_ms(text) / 1000
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


Name = Annotated[str, typer.Argument(help="The ConsumerGroup's name.", metavar="NAME", parser=_name)]
Namespace = Annotated[
    str | None,
    typer.Option(
        "--namespace", "-n", metavar="NAMESPACE", parser=_name, help="Its namespace; the context's when not given."
    ),
]
Context = Annotated[
    str | None, typer.Option(metavar="NAME", help="A context of the kubeconfig; the current one when not given.")
]
As = Annotated[Output, typer.Option("--output", "-o", help="table for people, json for programs.")]
For = Annotated[
    float | None,
    typer.Option(
        "--for",
        metavar="DURATION",
        parser=_seconds,
        help="How long to watch the group in Kafka, such as 30s; 0s looks once. By default as long as it takes to"
        " tell whether the group is calm: its stableFor and 1s.",
    ),
]


def main() -> None:
    """Run the command line."""
    sys.exit(failures.run(lambda: app(standalone_mode=False)))


@app.callback(invoke_without_command=True)
def slackwater(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help=f"Log, and show tracebacks; as {failures.DEBUG_VARIABLE}=1.")
    ] = False,
) -> None:
    """Slackwater rolls Kafka consumer groups on Kubernetes, each only while it is calm.

    Exit codes: 0 done, 1 failed, 2 mistyped, 130 interrupted. A plan that holds is done, too.
    """
    if debug:
        os.environ[failures.DEBUG_VARIABLE] = "1"
    if show_version:
        typer.echo(f"slackwater {version('slackwater')}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
    elif context.invoked_subcommand != "run":
        failures.set_up_logging()


@app.command()
def run() -> None:
    """Run the operator, in a pod or from here. It takes its settings from the environment."""
    from slackwater.shell.operator import run as run_operator

    run_operator()


@app.command()
def plan(
    file: Annotated[
        str,
        typer.Option(
            "--filename",
            "-f",
            metavar="FILE",
            help="The ConsumerGroup's manifest; - for standard input. A KafkaConnection beside it counts as well.",
        ),
    ],
    world: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Plan from a recorded world (see observe); no cluster is needed."),
    ] = None,
    namespace: Namespace = None,
    context: Context = None,
    duration_s: For = None,
    output: As = Output.TABLE,
) -> None:
    """Say what the operator would do now, and why, once a manifest were applied. Changes nothing."""
    manifests = read_manifests(file)
    if world is not None:
        judgement = judge_recorded(read_world_file(world), manifests, world)
    else:
        place = _place_of(manifests, namespace, context)
        from slackwater.cli.plan_command import judge_live

        judgement = asyncio.run(judge_live(context, place, manifests, duration_s))
    _print_judgement(judgement, output)


@app.command()
def observe(
    name: Name,
    namespace: Namespace = None,
    context: Context = None,
    duration_s: For = None,
    output: Annotated[Recording, typer.Option("--output", "-o", help="json; there is no other.")] = Recording.JSON,
) -> None:
    """Record a group's world, in Kubernetes and in Kafka, for `slackwater plan --world`. Changes nothing.

    No credentials are in it, but whatever the pod template says is.
    """
    from slackwater.cli.observe_command import record

    recorded = asyncio.run(record(context, namespace or namespace_of(context), name, duration_s))
    if isinstance(recorded.kafka, Unobserved):
        typer.echo(f"The group cannot be seen from here, and is recorded so: {recorded.kafka.message}.", err=True)
    _print_json(write_world(recorded, f"slackwater {version('slackwater')}"))


@app.command()
def status(
    name: Name,
    namespace: Namespace = None,
    context: Context = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Go on until the group is deleted, or until Ctrl-C.")
    ] = False,
    output: As = Output.TABLE,
) -> None:
    """Show a group's pods, members, partitions, gates, conditions and the step in hand. Changes nothing."""
    from slackwater.cli.status_command import look_once

    place = namespace or namespace_of(context)
    if watch:
        try:
            _watch(context, place, name, output)
        except KeyboardInterrupt:
            return  # that is how one leaves it
    else:
        sight = asyncio.run(look_once(context, place, name))
        if output is Output.JSON:
            _print_json(status_document(sight.world, sight.plan))
        else:
            Console().print(render_view(sight.world, sight.plan))


def _watch(context: str | None, namespace: str, name: str, output: Output) -> None:
    from slackwater.cli.status_command import Show, in_place, line_by_line, look_on, one_below_the_other

    def look(show: Show) -> None:
        asyncio.run(look_on(context, namespace, name, show))
        typer.echo(f"ConsumerGroup {name} was deleted.", err=True)

    console = Console()
    if output is Output.JSON:
        look(line_by_line(lambda line: print(line, flush=True)))  # noqa: T201 - a program may be waiting for the line
    elif console.is_terminal:
        with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
            look(in_place(console, live))
    else:
        look(one_below_the_other(console))


def _place_of(manifests: Manifests, namespace: str | None, context: str | None) -> str:
    named = manifests.group["metadata"].get("namespace")
    if named and namespace and named != namespace:
        raise FileUnusable(f"the manifest names namespace {named}, and -n says {namespace}: leave one of them out")
    return named or namespace or namespace_of(context)


def _print_judgement(judgement: Judgement, output: Output) -> None:
    if output is Output.JSON:
        _print_json(plan_document(judgement.world, judgement.plan, judgement.explanation))
        return
    console = Console()
    console.print(judgement_table(judgement, console.options.ascii_only))


def _print_json(document: dict[str, Any]) -> None:
    typer.echo(json.dumps(document, indent=2))
