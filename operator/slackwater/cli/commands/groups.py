"""The commands about groups that are there: `list`, `members`, `lag`, `explain`, `history`, and those that tell them
what to do.

As in `main`, what takes a second to import is imported by the command that needs it.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from slackwater.api.annotations import ABORT, APPROVE, FORCE, PAUSE, PROMOTE, RESTART, RETRY
from slackwater.cli.errors import KafkaUnseen
from slackwater.cli.options import (
    As,
    Context,
    Name,
    Namespace,
    Output,
    Watch,
    parse_seconds,
    print_document,
    print_whole,
)
from slackwater.cli.reaching.kubeconfig import namespace_of
from slackwater.core.world.observation import GroupObservation, Unobserved
from slackwater.terminal import Terminal, one_line, say

if TYPE_CHECKING:
    from slackwater.cli.looking.looks import Look
    from slackwater.core.world.world import World

AllNamespaces = Annotated[bool, typer.Option("--all-namespaces", "-A", help="The groups of every namespace.")]
ObeyedWithin = Annotated[
    float,
    typer.Option(
        "--timeout",
        metavar="DURATION",
        parser=parse_seconds,
        help="How long to wait until the operator has taken it up; 0s does not wait.",
    ),
]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why, for whoever wonders; it stands in the annotation.")]
PATIENCE = "30s"


def list_groups(
    namespace: Namespace = None,
    everywhere: AllNamespaces = False,
    context: Context = None,
    output: As = Output.TABLE,
) -> None:
    """List the ConsumerGroups of a namespace, or of all: their phases, pods, lag, and what holds them up."""
    from slackwater.cli.looking.kept import read_groups
    from slackwater.cli.pictures.groups import groups_document, groups_table

    if everywhere and namespace is not None:
        raise typer.BadParameter("-n and -A exclude each other: leave one of them out")
    place = None if everywhere else namespace or namespace_of(context)
    groups = asyncio.run(read_groups(context, place))
    if output is not Output.TABLE:
        print_document(groups_document(groups), output)
    elif groups:
        print_whole(groups_table(groups, with_namespace=everywhere))
    else:
        say(f"There are no ConsumerGroups in {'any namespace' if place is None else place}.", err=True)


def members(name: Name, namespace: Namespace = None, context: Context = None, output: As = Output.TABLE) -> None:
    """Show who is in the group, as Kafka says it, in which pod, and what each member owns. Changes nothing."""
    from slackwater.cli.pictures.members import members_document, members_table

    _show(_look(name, namespace, context), output, members_document, members_table)


def lag(
    name: Name, namespace: Namespace = None, context: Context = None, watch: Watch = False, output: As = Output.TABLE
) -> None:
    """Show how far behind each partition is, and who reads it. Changes nothing."""
    from slackwater.cli.pictures.members import lag_document, lag_table

    if not watch:
        _show(_look(name, namespace, context), output, lag_document, lag_table)
        return
    from slackwater.cli.looking import watching as status_command

    def document(look: Look) -> dict[str, Any]:
        return lag_document(look.world, look.world.kafka)

    face = status_command.Face(
        picture=lambda look: lag_table(look.world, look.world.kafka),
        document=document,
        gist=lambda look: {**document(look), "observedAt": None},
    )
    status_command.watch(context, namespace or namespace_of(context), name, output, face)


def explain(name: Name, namespace: Namespace = None, context: Context = None, output: As = Output.TABLE) -> None:
    """Say in one paragraph what the group is doing, and if it waits, why, and what to do about it. Changes nothing."""
    from slackwater.cli.pictures.paragraph import explain_document, paragraph_and_pointer

    look = _look(name, namespace, context)
    if output is Output.TABLE:
        Terminal(highlight=False).print(paragraph_and_pointer(look.world, look.plan), markup=False)
    else:
        print_document(explain_document(look.world, look.plan), output)


def history(name: Name, namespace: Namespace = None, context: Context = None, output: As = Output.TABLE) -> None:
    """Show the versions of a group that the cluster still keeps: when each was made, its image, and who runs it."""
    from slackwater.cli.looking.kept import read_history
    from slackwater.cli.pictures.history import history_document, history_picture

    found = asyncio.run(read_history(context, namespace or namespace_of(context), name))
    if output is Output.TABLE:
        print_whole(history_picture(found))
    else:
        print_document(history_document(found), output)


def pause(
    name: Name,
    namespace: Namespace = None,
    context: Context = None,
    reason: Reason = "",
    timeout_s: ObeyedWithin = PATIENCE,  # type: ignore[assignment]
) -> None:
    """Hold a group where it is: no pod is restarted or handed over until `resume`."""
    from slackwater.cli import giving

    say(one_line(asyncio.run(giving.pause(context, namespace or namespace_of(context), name, reason, timeout_s))))


def giving_command(annotation: str, text: str) -> Callable[..., None]:
    """The command that gives the one of `annotation`; that of PAUSE is taken back. `text`: its help."""

    def command(
        name: Name,
        namespace: Namespace = None,
        context: Context = None,
        timeout_s: ObeyedWithin = PATIENCE,  # type: ignore[assignment]
    ) -> None:
        from slackwater.cli import giving

        place = namespace or namespace_of(context)
        if annotation == PAUSE:
            done = asyncio.run(giving.resume(context, place, name, timeout_s))
        else:
            done = asyncio.run(giving.give(context, place, name, annotation, timeout_s))
        say(one_line(done))

    command.__doc__ = text
    return command


GIVING = {
    "resume": giving_command(PAUSE, "Let a paused group go on."),
    "promote": giving_command(PROMOTE, "End the canary's hold, so that the rollout goes on."),
    "abort": giving_command(ABORT, "Give the rollout up, and go back to the last good version."),
    "retry": giving_command(RETRY, "Try a version that has failed once more."),
    "restart": giving_command(RESTART, "Replace every pod, each after its gates, with the same version."),
    "force": giving_command(FORCE, "Let the rollout go on as a rollback does, without waiting for a calm group."),
    "approve": giving_command(APPROVE, "Apply the timeouts that are recommended for the group."),
}


def register(app: typer.Typer) -> None:
    """Add them all."""
    app.command("list")(list_groups)
    for command in (explain, members, lag, history, pause):
        app.command()(command)
    for word, command in GIVING.items():
        app.command(word)(command)


def _look(name: str, namespace: str | None, context: str | None) -> Look:
    from slackwater.cli.looking.watching import look_once

    return asyncio.run(look_once(context, namespace or namespace_of(context), name))


def _show(
    look: Look,
    output: Output,
    document: Callable[[World, GroupObservation], Any],
    picture: Callable[[World, GroupObservation], RenderableType],
) -> None:
    kafka = look.world.kafka
    if isinstance(kafka, Unobserved):
        from slackwater.cli.words.standing import unseen_in_words

        raise KafkaUnseen(unseen_in_words(look.world, kafka))
    if output is Output.TABLE:
        print_whole(picture(look.world, kafka))
    else:
        print_document(document(look.world, kafka), output)
