"""`slackwater fleet …`: what ConsumerFleets let move, what they would, and what people tell them.

As in `main`, what takes a second to import is imported by the command that needs it.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Final

import typer

from slackwater.cli.commands.fleet_plan import plan
from slackwater.cli.edge import invalid_sentence
from slackwater.cli.grouped import Whole
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
from slackwater.terminal import Terminal, one_line, say

if TYPE_CHECKING:
    from slackwater.cli.giving.fleet import Told
    from slackwater.cli.pictures.fleet import FleetLook

fleet = typer.Typer(
    cls=Whole,
    help="What ConsumerFleets let move, when, and what would be: status, plan, pause, resume, open.",
    rich_markup_mode=None,
)

REFRESH_S: Final = 2.0
LONGEST_OPEN_S: Final = 24 * 3600.0
PATIENCE: Final = "30s"

Name = Annotated[str, typer.Argument(help="The ConsumerFleet's name.", metavar="NAME", parser=parse_name)]
NameOrAll = Annotated[
    str | None,
    typer.Argument(help="The ConsumerFleet's name; a line for each when not given.", metavar="NAME", parser=parse_name),
]
Everywhere = Annotated[bool, typer.Option("--all-namespaces", "-A", help="The fleets of every namespace.")]
ObeyedWithin = Annotated[
    float,
    typer.Option(
        "--timeout",
        metavar="DURATION",
        parser=parse_seconds,
        help="How long to wait until the operator has taken it up; 0s does not wait.",
    ),
]


@fleet.callback(invoke_without_command=True)
def show_help(context: typer.Context) -> None:
    """Without a verb, as `slackwater` itself does it."""
    if context.invoked_subcommand is None:
        say(context.get_help())


@fleet.command("status")
def status(
    name: NameOrAll = None,
    namespace: Namespace = None,
    everywhere: Everywhere = False,
    context: Context = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Go on until somebody deletes the fleet, or until Ctrl-C.")
    ] = False,
    output: As = Output.TABLE,
) -> None:
    """Show what a fleet lets move, who moves, who waits and until when, and who has failed. Changes nothing."""
    if everywhere and (namespace is not None or name is not None):
        what = "-n" if namespace is not None else "a name"
        raise typer.BadParameter(f"-A and {what} exclude each other: leave one of them out")
    if watch and (name is None or output is not Output.TABLE):
        raise typer.BadParameter("--watch shows the table of one fleet: write its name, and no -o")
    place = None if everywhere else namespace or namespace_of(context)
    if name is None:
        _show_all(context, place, output)
    elif watch:
        _watch(context, place or "", name)
    else:
        _show(asyncio.run(_look(context, place or "", name)), output)


fleet.command("plan")(plan)


@fleet.command("pause")
def pause(
    name: Name,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, for whoever waits; it stands in spec.pause.")],
    namespace: Namespace = None,
    context: Context = None,
    timeout_s: ObeyedWithin = PATIENCE,  # type: ignore[assignment]
) -> None:
    """Let nothing of a fleet begin; what moves stops between two pods. Ways back and pods that are down go on."""
    from slackwater.cli.giving import fleet as giving

    if not reason.strip():
        raise typer.BadParameter("say why: --reason TEXT")
    _tell(context, namespace, name, giving.pause(reason), timeout_s)


@fleet.command("resume")
def resume(
    name: Name,
    namespace: Namespace = None,
    context: Context = None,
    timeout_s: ObeyedWithin = PATIENCE,  # type: ignore[assignment]
) -> None:
    """End a fleet's pause, and a halt after too many have failed."""
    from slackwater.cli.giving import fleet as giving

    _tell(context, namespace, name, giving.resume, timeout_s)


@fleet.command("open")
def open_fleet(
    name: Name,
    duration_s: Annotated[
        float,
        typer.Option("--for", metavar="DURATION", parser=parse_seconds, help="How long, such as 2h; 24h at most."),
    ],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it stands in Events and in the status.")],
    namespace: Namespace = None,
    context: Context = None,
    timeout_s: ObeyedWithin = PATIENCE,  # type: ignore[assignment]
) -> None:
    """Let a fleet's groups begin for a while, whatever windows, freezes and halts say. Budgets hold. Ends by itself."""
    from slackwater.cli.giving import fleet as giving

    if not reason.strip():
        raise typer.BadParameter("say why: --reason TEXT")
    if duration_s <= 0:
        raise typer.BadParameter("say for how long: --for DURATION, such as 2h")
    if duration_s > LONGEST_OPEN_S:
        raise typer.BadParameter("a fleet is opened for 24 hours at most: change the windows instead")
    _tell(context, namespace, name, giving.let_through(duration_s, reason), timeout_s)


def register(app: typer.Typer) -> None:
    """Add them."""
    app.add_typer(fleet, name="fleet")


def _tell(context: str | None, namespace: str | None, name: str, told: Told, timeout_s: float) -> None:
    from slackwater.cli.giving.fleet import tell
    from slackwater.cli.reaching.choice import Place

    place = Place(namespace or namespace_of(context), name)
    say(one_line(asyncio.run(tell(context, place, told, timeout_s))))


async def _look(context: str | None, namespace: str, name: str) -> FleetLook:
    from slackwater.cli.looking.fleets import read_look
    from slackwater.cli.reaching.choice import Place
    from slackwater.cli.reaching.each import read_one

    return await read_one(context, Place(namespace, name), read_look)


def _show(look: FleetLook, output: Output) -> None:
    from slackwater.cli.pictures.fleet import fleet_document, fleet_picture

    if output is Output.TABLE:
        Terminal(highlight=False).print(fleet_picture(look))
    else:
        print_document(fleet_document(look), output)


def _show_all(context: str | None, place: str | None, output: Output) -> None:
    from slackwater.cli.looking.fleets import read_looks
    from slackwater.cli.pictures.beside import list_document
    from slackwater.cli.pictures.fleet import fleet_document, fleets_table

    looks, unread = asyncio.run(read_looks(context, place))
    for error in unread:
        say(f"Not shown: {invalid_sentence(error)}.", err=True)
    if output is not Output.TABLE:
        print_document(list_document([fleet_document(each) for each in looks]), output)
    elif looks:
        print_whole(fleets_table(looks, with_namespace=place is None))
    elif not unread:
        more = (
            "apply one to say how many groups move at a time" if place is None else "-A shows those of all namespaces"
        )
        say(f"There are no ConsumerFleets in {place or 'any namespace'}: {more}.", err=True)


def _watch(context: str | None, namespace: str, name: str) -> None:
    """Until the fleet is deleted, or Ctrl-C: redrawn on a terminal, else one below the other."""
    from rich.live import Live

    from slackwater.cli.looking.fleets import follow
    from slackwater.cli.pictures.fleet import fleet_picture
    from slackwater.cli.reaching.choice import Place

    console, place = Terminal(highlight=False), Place(namespace, name)
    with suppress(KeyboardInterrupt):  # that is how one leaves it
        if console.is_terminal:
            with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
                asyncio.run(
                    follow(context, place, REFRESH_S, lambda look: live.update(fleet_picture(look), refresh=True))
                )
        else:
            asyncio.run(follow(context, place, REFRESH_S, lambda look: console.print(fleet_picture(look), "")))
        say(f"ConsumerFleet {name} was deleted.", err=True)
