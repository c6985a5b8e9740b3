"""The command `slackwater`, which is `kubectl slackwater` as well: parses, calls, prints.

The clients of Kubernetes and Kafka take a second to import. Only the commands that need them pay for that: a mistyped
command line, `--help` and `plan --world` answer at once.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import asyncio
import os
import sys
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slackwater.api.depth import allow_deep_objects
from slackwater.cli import edge
from slackwater.cli.commands import campaigns as campaign_commands
from slackwater.cli.commands import fleets as fleet_commands
from slackwater.cli.commands import groups as group_commands
from slackwater.cli.commands import manifests as manifest_commands
from slackwater.cli.commands import set_up as set_up_commands
from slackwater.cli.commands.choosing import complain, of_groups, one_to_watch
from slackwater.cli.commands.pipeline import pipeline
from slackwater.cli.commands.reason import reason
from slackwater.cli.completion import Shell, answer_kubectl, answer_shells, script
from slackwater.cli.grouped import Grouped
from slackwater.cli.looking.vouched import ASK_VARIABLE
from slackwater.cli.options import As, Context, For, Name, Namespace, Output, Watch, parse_seconds, print_document
from slackwater.cli.pictures.documents import status_document
from slackwater.cli.pictures.view import render_view
from slackwater.cli.reaching.kubeconfig import namespace_of
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.recording import write_world
from slackwater.pipeline.local.command import command as recommend
from slackwater.pipeline.report.command import command as report
from slackwater.terminal import Terminal, one_line, say

if TYPE_CHECKING:
    from slackwater.cli.looking.looks import Look
    from slackwater.cli.reaching.choice import Choice

app = typer.Typer(cls=Grouped, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.add_typer(pipeline, name="pipeline")


class Recording(StrEnum):
    JSON = "json"


Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="DURATION",
        parser=parse_seconds,
        help="How long, such as 10m; as long as it takes when not given.",
    ),
]

manifest_commands.register(app)
group_commands.register(app)
set_up_commands.register(app)
fleet_commands.register(app)
campaign_commands.register(app)
app.command()(reason)
app.command("report")(report)
app.command("recommend")(recommend)


def main() -> None:
    """Run the command line."""
    allow_deep_objects()
    answer_shells()
    as_plugin = Path(sys.argv[0]).name.startswith("kubectl-")
    name = "kubectl slackwater" if as_plugin else "slackwater"
    sys.exit(edge.run(lambda: app(standalone_mode=False, prog_name=name)))


def complete() -> None:
    """`kubectl_complete-slackwater`, which kubectl calls to complete a command line."""
    answer_kubectl(app)


@app.callback(invoke_without_command=True)
def slackwater(
    context: typer.Context,
    says_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help=f"Log, and show tracebacks. As {edge.DEBUG_VARIABLE}=1.")
    ] = False,
    kubeconfig: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Use this kubeconfig instead of those in KUBECONFIG; anywhere on the line."),
    ] = None,
    ask_kafka: Annotated[
        bool,
        typer.Option(
            "--ask-kafka",
            help="Log in to Kafka with Secrets of a KafkaConnection also where the operator has not yet: they go to the"
            f" brokers that it names. Anywhere on the line. As {ASK_VARIABLE}=1.",
        ),
    ] = False,
) -> None:
    """Slackwater rolls Kafka consumer groups on Kubernetes, each only while it is calm.

    Exit codes: 0 done, 1 failed, 2 mistyped, 3 not reached in time, 130 interrupted. `plan` exits with 0 even where
    the rollout would wait.
    Only diff says 1 where something would change, and 2 or more where it failed.
    """
    if debug:
        os.environ[edge.DEBUG_VARIABLE] = "1"
    if ask_kafka:
        os.environ[ASK_VARIABLE] = "1"
    if kubeconfig is not None:
        if not kubeconfig.strip():
            raise typer.BadParameter("an empty --kubeconfig would be the usual one: write the path of a file")
        os.environ["KUBECONFIG"] = kubeconfig
    if says_version:
        say(_version())
    elif context.invoked_subcommand is None:
        say(context.get_help())
    elif context.invoked_subcommand != "run":
        edge.set_up_logging()


@app.command("version")
def show_version() -> None:
    """Print the version of this command."""
    say(_version())


def _version() -> str:
    return f"slackwater {version('slackwater')}"


@app.command()
def run() -> None:
    """Run the operator, in a pod or from here. It takes its settings from the environment.

    SLACKWATER_NAMESPACE: the namespaces that it works in, with commas between them; without it, in all of them.
    SLACKWATER_LEASE: NAMESPACE/NAME of the Lease whose holder acts; without it this one acts, whoever else runs.
    The chart's Deployment sets these and the others.
    """
    from slackwater.adapters.cluster.errors import ClusterRefused, Forbidden, NotLetIn
    from slackwater.cli.reaching.cluster import check_kubeconfig, way_out
    from slackwater.shell.operator import run as run_operator

    check_kubeconfig(None)
    try:
        run_operator()
    except (Forbidden, NotLetIn) as error:
        raise ClusterRefused(f"{error}: {way_out(error)}") from error


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
    from slackwater.cli.looking.recording import record

    recorded = asyncio.run(record(context, namespace or namespace_of(context), name, duration_s))
    if isinstance(recorded.kafka, Unobserved):
        say(one_line(f"The group cannot be seen from here, and is recorded so: {recorded.kafka.message}."), err=True)
    print_document(write_world(recorded, _version()), Output.JSON)


@app.command()
@of_groups
def status(
    choice: Choice,
    watch: Watch = False,
    wait: Annotated[bool, typer.Option("--wait", help="Until every pod has the wanted version and is Ready.")] = False,
    timeout_s: Timeout = None,
    output: As = Output.TABLE,
) -> None:
    """Show a group's pods, members, partitions, gates, conditions and the current step. Changes nothing.

    With --wait the exit code is 0 once it is Ready, 1 when its rollout has failed, and 3 after --timeout.
    """
    if watch and wait:
        raise typer.BadParameter("--watch and --wait exclude each other: leave one of them out")
    if timeout_s is not None and not wait:
        raise typer.BadParameter("--timeout is for --wait: add it")
    from slackwater.cli.commands.reading import of_look, read
    from slackwater.cli.looking import waiting, watching

    if watch:
        watching.watch(choice.context, one_to_watch(choice), output, watching.STATUS)
        return
    if wait and (place := choice.one) is not None:
        asyncio.run(waiting.wait_until_ready(choice.context, place, timeout_s))
    elif wait:
        outcomes = asyncio.run(waiting.wait_for_each(choice, timeout_s))
        complain("status --wait", [each for each in outcomes if each.error is not None], len(outcomes))

    def show(look: Look) -> None:
        Terminal().print(render_view(look.world, look.plan))

    def document(look: Look) -> dict[str, Any]:
        return status_document(look.world, look.plan)

    read(choice, of_look("status", document, show, says_the_name=True), output)


@app.command()
def completion(shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="The shell that you use.")]) -> None:
    """Print the shell's completion script: `source <(slackwater completion bash)`; fish: `... | source`."""
    sys.stdout.write(f"{script(shell)}\n")  # for the shell, tabs as they are
