"""The commands for setting up: `doctor`.

As in `main`, what takes a second to import is imported by the command that needs it.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from slackwater.cli.kubeconfig import namespace_of
from slackwater.cli.options import As, Context, Namespace, Output, print_document, print_whole

Everywhere = Annotated[
    bool, typer.Option("--all-namespaces", "-A", help="Your rights and the KafkaConnections of every namespace.")
]
Kafka = Annotated[
    bool,
    typer.Option(
        "--kafka",
        help="Ask the brokers of each KafkaConnection as well, from here, with the credentials of its Secret.",
    ),
]


def doctor(
    namespace: Namespace = None,
    everywhere: Everywhere = False,
    context: Context = None,
    kafka: Kafka = False,
    output: As = Output.TABLE,
) -> None:
    """Check cluster, CRDs, operator, rights and Kafka, and say what is missing. Changes nothing.

    The exit code is 1 when something is missing; warnings and what could not be checked leave it at 0.
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


def register(app: typer.Typer) -> None:
    """Add them all."""
    app.command()(doctor)
