"""The commands for setting up, and for giving back: `doctor`, `import`, `adopt` and `release`.

As in `main`, what takes a second to import is imported by the command that needs it.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final

import typer

from slackwater.api.client import Library
from slackwater.cli.commands.choosing import Yes, of_groups
from slackwater.cli.commands.groups import give
from slackwater.cli.errors import OptionMissing
from slackwater.cli.options import (
    As,
    Context,
    Namespace,
    Output,
    parse_name,
    parse_seconds,
    print_document,
    print_whole,
)
from slackwater.cli.reaching.kubeconfig import namespace_of
from slackwater.terminal import one_line, say

if TYPE_CHECKING:
    from slackwater.adapters.cluster.api import KubernetesApi
    from slackwater.cli.adopting.command import Foreseen
    from slackwater.cli.reaching.choice import Choice, Place

Everywhere = Annotated[
    bool, typer.Option("--all-namespaces", "-A", help="Your permissions and the KafkaConnections of every namespace.")
]
Kafka = Annotated[
    bool,
    typer.Option(
        "--kafka",
        help="Ask the brokers of each KafkaConnection as well, from here, with the credentials of its Secret.",
    ),
]

_FORMS: Final = "statefulset/NAME or deployment/NAME, in short sts/NAME or deploy/NAME"


def doctor(
    namespace: Namespace = None,
    everywhere: Everywhere = False,
    context: Context = None,
    kafka: Kafka = False,
    output: As = Output.TABLE,
) -> None:
    """Check cluster, CRDs, operator, permissions and Kafka, and say what is missing. Changes nothing.

    The exit code is 1 when something is missing; warnings and skipped checks leave it at 0.
    """
    from slackwater.cli.doctor.command import examine, findings_document, findings_table
    from slackwater.cli.doctor.findings import is_well

    if everywhere and namespace is not None:
        raise typer.BadParameter("-n and -A exclude each other: leave one of them out")
    place = None if everywhere else namespace or namespace_of(context)
    findings = asyncio.run(examine(context, place, kafka))
    if output is Output.TABLE:
        print_whole(findings_table(findings))
    else:
        print_document(findings_document(findings), output)
    if not is_well(findings):
        raise typer.Exit(1)


def import_workload(  # noqa: PLR0913, PLR0917 - an option each
    workload: Annotated[str, typer.Argument(metavar="KIND/NAME", help=f"{_FORMS}.")],
    namespace: Namespace = None,
    context: Context = None,
    group_id: Annotated[str | None, typer.Option(metavar="ID", help="The Kafka group's id.")] = None,
    connection: Annotated[
        str | None, typer.Option(metavar="NAME", parser=parse_name, help="The KafkaConnection to use.")
    ] = None,
    client: Annotated[Library | None, typer.Option(help="The consumers' Kafka client library.")] = None,
    topic: Annotated[list[str] | None, typer.Option(metavar="TOPIC", help="A topic; repeat it for more.")] = None,
    container: Annotated[str | None, typer.Option(metavar="NAME", help="The container that is the consumer.")] = None,
    env_prefix: Annotated[
        str | None,
        typer.Option(metavar="PREFIX", help="How the variables begin that the Kafka client reads, such as KAFKA_."),
    ] = None,
) -> None:
    """Write the ConsumerGroup for a workload that runs, and say what would change. Changes nothing.

    The options are for what its environment and arguments do not tell.
    """
    from slackwater.cli.importing.command import kind_of, run
    from slackwater.cli.importing.manifest import Said

    kind, _, name = workload.partition("/")
    try:
        kind_of(kind)
    except KeyError as error:
        message = f"{workload!r} is no workload: write {_FORMS}"
        raise typer.BadParameter(message) from error
    if not name:
        raise typer.BadParameter(f"the name is missing after {workload!r}: write {kind}/NAME")
    name = parse_name(name)
    said = Said(group_id, connection, client, topic or (), container, env_prefix)
    try:
        text, lines = run(context, namespace or namespace_of(context), kind, name, said)
    except OptionMissing as error:
        raise typer.BadParameter(str(error)) from error
    say(text)
    for line in lines:
        say(line, err=True)


@of_groups
def adopt(
    choice: Choice,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would do, and what would differ.")] = False,
    timeout_s: Annotated[
        float,
        typer.Option(
            "--timeout", metavar="DURATION", parser=parse_seconds, help="How long to wait for the cluster's own part."
        ),
    ] = "2m",  # type: ignore[assignment]
    yes: Yes = False,
) -> None:
    """Give a StatefulSet that runs to the ConsumerGroup of its name. Restarts no pod, and leaves the group paused."""
    from slackwater.cli.adopting import command
    from slackwater.cli.commands.reading import Reading, read

    if dry_run:

        def show(found: Foreseen) -> None:
            for line in command.foreseen_in_words(found):
                say(line)

        read(choice, Reading("adopt --dry-run", command.foresee, asdict, show), Output.TABLE)
        return

    async def order(api: KubernetesApi, place: Place, timeout_s: float) -> str:
        def on_the_way(words: str) -> None:
            say(one_line(words if choice.one else f"{place}: {words}"), err=True)

        return await command.adopt(api, place, timeout_s, on_the_way)

    give(choice, "adopt", order, timeout_s, yes)


@of_groups
def release(
    choice: Choice,
    timeout_s: Annotated[
        float,
        typer.Option(
            "--timeout",
            metavar="DURATION",
            parser=parse_seconds,
            help="How long to wait until the operator has let go; 0s does not wait.",
        ),
    ] = "30s",  # type: ignore[assignment]
    yes: Yes = False,
) -> None:
    """Give a StatefulSet back: its ConsumerGroup goes, pods and members stay. Refused in the middle of a rollout."""
    from slackwater.cli.giving.release import release as order

    give(choice, "release", order, timeout_s, yes)


def register(app: typer.Typer) -> None:
    """Add them all."""
    app.command()(doctor)
    app.command("import")(import_workload)
    app.command()(adopt)
    app.command()(release)
