"""The commands about groups that are there: `list`, `members`, `lag`, `why`, `history`, and those that tell them
what to do.

As in `main`, what takes a second to import is imported by the command that needs it.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slackwater.api.annotations import ABORT, APPROVE, FORCE, PAUSE, PROMOTE, RESTART, RETRY
from slackwater.cli.commands.choosing import Yes, complain, of_groups, one_to_watch
from slackwater.cli.errors import OptionMissing
from slackwater.cli.options import (
    As,
    Context,
    Name,
    Namespace,
    Output,
    Watch,
    parse_seconds,
    parse_selector,
    print_document,
    print_whole,
)
from slackwater.cli.reaching.kubeconfig import namespace_of
from slackwater.terminal import Terminal, one_line, say

if TYPE_CHECKING:
    from slackwater.adapters.cluster.api import KubernetesApi
    from slackwater.cli.giving.one import Order
    from slackwater.cli.looking.looks import Look
    from slackwater.cli.pictures.defaults import DefaultsLook
    from slackwater.cli.pictures.history import Versions
    from slackwater.cli.reaching.choice import Choice, Place
    from slackwater.cli.words.fleets import TurnStory

AllNamespaces = Annotated[bool, typer.Option("--all-namespaces", "-A", help="The groups of every namespace.")]
WithLabels = Annotated[
    str | None,
    typer.Option("--selector", "-l", metavar="SELECTOR", parser=parse_selector, help="Those with these labels."),
]
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
    selector: WithLabels = None,
    context: Context = None,
    output: As = Output.TABLE,
) -> None:
    """List the ConsumerGroups of a namespace, or of all: their phases, pods, lag, and what they wait for.

    `get` does the same.
    """
    from slackwater.cli.looking.kept import read_groups
    from slackwater.cli.pictures.groups import groups_document, groups_table

    if everywhere and namespace is not None:
        raise typer.BadParameter("-n and -A exclude each other: leave one of them out")
    place = None if everywhere else namespace or namespace_of(context)
    groups = asyncio.run(read_groups(context, place, selector or ""))
    if output is not Output.TABLE:
        print_document(groups_document(groups), output)
    elif groups:
        print_whole(groups_table(groups, with_namespace=everywhere))
    else:
        which = f" with labels {selector}" if selector else ""
        say(f"There are no ConsumerGroups{which} in {'any namespace' if place is None else place}.", err=True)


@of_groups
def members(choice: Choice, output: As = Output.TABLE) -> None:
    """Show who is in a group, as Kafka says it, in which pod, and what each member owns. Changes nothing."""
    from slackwater.cli.commands.reading import of_kafka, read
    from slackwater.cli.pictures.members import members_document, members_table

    read(choice, of_kafka("members", members_document, members_table), output)


@of_groups
def lag(choice: Choice, watch: Watch = False, output: As = Output.TABLE) -> None:
    """Show how far behind each partition is, and who reads it. Changes nothing."""
    from slackwater.cli.commands.reading import of_kafka, read
    from slackwater.cli.pictures.members import lag_document, lag_table

    if not watch:
        read(choice, of_kafka("lag", lag_document, lag_table), output)
        return
    from slackwater.cli.looking import watching as status_command

    def document(look: Look) -> dict[str, Any]:
        return lag_document(look.world, look.world.kafka)

    face = status_command.Face(
        picture=lambda look: lag_table(look.world, look.world.kafka),
        document=document,
        gist=lambda look: {**document(look), "observedAt": None},
    )
    status_command.watch(choice.context, one_to_watch(choice), output, face)


@of_groups
def why(
    choice: Choice,
    defaults: Annotated[
        bool,
        typer.Option(
            "--defaults", help="Say instead whose each setting is: the group's, a fleet's, or Slackwater's own."
        ),
    ] = False,
    output: As = Output.TABLE,
) -> None:
    """Say in one paragraph what a group is doing, and if it waits, why, and what to do about it. Changes nothing.

    `explain` does the same.
    """
    from slackwater.cli.commands.reading import Reading, read

    if defaults:
        _whose_defaults(choice, output)
        return
    from slackwater.cli.looking.fleets import Turns
    from slackwater.cli.looking.watching import look_once
    from slackwater.cli.pictures.paragraph import explain_document, paragraph_and_pointer

    turns = Turns()

    async def look(api: KubernetesApi, place: Place) -> tuple[Look, TurnStory | None]:
        found = await look_once(api, place)
        return found, await turns.of(api, found)

    def show(found: tuple[Look, TurnStory | None]) -> None:
        seen, turn = found
        Terminal(highlight=False).print(paragraph_and_pointer(seen.world, seen.plan, turn), markup=False)

    def document(found: tuple[Look, TurnStory | None]) -> dict[str, Any]:
        seen, turn = found
        return explain_document(seen.world, seen.plan, turn)

    read(choice, Reading("why", look, document, show), output)


def _whose_defaults(choice: Choice, output: Output) -> None:
    from slackwater.cli.commands.reading import Reading, read
    from slackwater.cli.looking.defaults import Defaults
    from slackwater.cli.pictures.defaults import defaults_document, defaults_picture

    def show(look: DefaultsLook) -> None:
        console = Terminal(highlight=False)
        if console.is_terminal:
            console.print(defaults_picture(look))
        else:  # who reads it there looks for whole lines
            print_whole(defaults_picture(look))

    read(choice, Reading("why --defaults", Defaults().of, defaults_document, show), output)


@of_groups
def history(choice: Choice, output: As = Output.TABLE) -> None:
    """Show the versions of a group that the cluster still keeps: the age and image of each, and who runs it."""
    from slackwater.cli.commands.reading import Reading, read
    from slackwater.cli.looking.kept import read_history
    from slackwater.cli.pictures.history import history_document, history_picture

    def show(found: Versions) -> None:
        print_whole(history_picture(found))

    read(choice, Reading("history", read_history, history_document, show, history_picture), output)


@of_groups
def pause(
    choice: Choice,
    reason: Reason = "",
    timeout_s: ObeyedWithin = PATIENCE,  # type: ignore[assignment]
    yes: Yes = False,
) -> None:
    """Pause a group where it is: the operator restarts and hands over no pod until `resume`."""
    from slackwater.cli.giving import one

    give(choice, "pause", one.pause(reason), timeout_s, yes)


def undo(
    name: Name,
    namespace: Namespace = None,
    context: Context = None,
    to_revision: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="A number of `history`; without it, the newest with another template that has not failed."
        ),
    ] = None,
) -> None:
    """Go back to an earlier version: give spec.template what that one had, and roll it out behind all gates.

    Other fields of the spec stay as they are, as with `kubectl rollout undo`.
    """
    from slackwater.cli.reaching.choice import Choice
    from slackwater.cli.undoing.command import undo as order

    give(Choice(context, namespace, (name,)), "undo", order(to_revision), 0.0, yes=True)


def giving_command(word: str, annotation: str, text: str) -> Callable[..., None]:
    """The command that gives the one of `annotation`; that of PAUSE is taken back. `text`: its help."""

    def command(
        choice: Choice,
        timeout_s: ObeyedWithin = PATIENCE,  # type: ignore[assignment]
        yes: Yes = False,
    ) -> None:
        from slackwater.cli.giving import one

        give(choice, word, one.resume if annotation == PAUSE else one.command(annotation), timeout_s, yes)

    command.__doc__ = text
    return of_groups(command)


_GIVEN = (
    ("resume", PAUSE, "Let a paused group go on."),
    ("promote", PROMOTE, "End the canary's hold, so that the rollout goes on."),
    ("abort", ABORT, "Give the rollout up, and go back to the last good version."),
    ("retry", RETRY, "Try a version that has failed once more."),
    ("restart", RESTART, "Replace every pod, each after its gates, with the same version."),
    ("force", FORCE, "Let the rollout go on as a rollback does, without waiting for a calm group."),
    ("approve", APPROVE, "Apply the recommended timeouts to the group."),
)
GIVING = {word: giving_command(word, annotation, text) for word, annotation, text in _GIVEN}


def give(choice: Choice, verb: str, order: Order, timeout_s: float, yes: bool) -> None:
    """To one group as ever; else a question, what came of each, and at the end who failed and why."""
    from slackwater.cli.giving import many, one
    from slackwater.cli.reaching.choice import chosen

    if (place := choice.one) is not None:
        say(one_line(asyncio.run(one.give(choice.context, place, order, timeout_s))))
        return
    places = asyncio.run(chosen(choice))
    try:
        many.confirm(verb, choice, places, yes)
    except OptionMissing as error:
        raise typer.BadParameter(str(error)) from error
    outcomes = asyncio.run(many.give_each(choice, places, verb, order, timeout_s))
    complain(verb, many.failed(outcomes, choice), len(outcomes))


def register(app: typer.Typer) -> None:
    """Add them all."""
    app.command("list")(list_groups)
    for command in (why, members, lag, history, pause, undo):
        app.command()(command)
    for word, command in GIVING.items():
        app.command(word)(command)
