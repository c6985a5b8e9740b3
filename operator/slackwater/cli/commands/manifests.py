"""The commands about a manifest that is not applied yet: `plan` and `diff`.

As in `main`, what takes a second to import is imported by the command that needs it.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Annotated

import typer

from slackwater.cli import edge as failures
from slackwater.cli.errors import FileUnusable
from slackwater.cli.options import As, Context, For, Namespace, Output, print_document, print_whole
from slackwater.cli.pictures.documents import plan_document
from slackwater.cli.planning.files import STDIN, Manifests, read_manifests, read_world_file
from slackwater.cli.planning.outlook import Outlook, outlook_table, recorded_outlook
from slackwater.cli.reaching.kubeconfig import namespace_of
from slackwater.terminal import Terminal

DIFFERS = 1
UNKNOWN = 2
"""Exit codes of `diff`, as those of `kubectl diff`: every other failure's is above 1 as well."""

Files = Annotated[
    list[str],
    typer.Option(
        "--filename",
        "-f",
        metavar="FILE",
        help="The ConsumerGroup's manifest; - for standard input. A KafkaConnection beside it counts as well, and may"
        " stand in a file of its own: repeat -f for it.",
    ),
]


def plan(
    files: Files,
    world: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Plan from a recorded world (see observe), or from standard input by -; no cluster is needed.",
        ),
    ] = None,
    namespace: Namespace = None,
    context: Context = None,
    duration_s: For = None,
    output: As = Output.TABLE,
) -> None:
    """Say what applying a manifest would do now, and why. Changes nothing."""
    if world is not None:
        _check_world_alone({"-n": namespace, "--context": context, "--for": duration_s})
        if world == STDIN and STDIN in files:
            raise typer.BadParameter("-f and --world cannot both be standard input: give one of them a file")
    manifests = read_manifests(*files)
    if world is not None:
        outlook = recorded_outlook(read_world_file(world), manifests, world)
    else:
        place = _place_of(manifests, namespace, context)
        from slackwater.cli.planning.foreseeing import live_outlook

        outlook = asyncio.run(live_outlook(context, place, manifests, duration_s))
    _print_outlook(outlook, output)


def diff(files: Files, namespace: Namespace = None, context: Context = None, output: As = Output.TABLE) -> None:
    """Show what applying a manifest would change: fields, consumers' settings, and which pods. Changes nothing.

    Exit codes: 0 no change, 1 a change, 2 or more an error.
    """
    differs = False

    def show() -> None:
        nonlocal differs
        differs = show_difference(files, namespace, context, output)

    if failed := failures.run(show):
        raise typer.Exit(max(failed, UNKNOWN))
    if differs:
        raise typer.Exit(DIFFERS)


def show_difference(files: Iterable[str], namespace: str | None, context: str | None, output: Output) -> bool:
    """Print it; returns whether there is any."""
    manifests = read_manifests(*files)
    place = _place_of(manifests, namespace, context)
    from slackwater.cli.planning.difference import difference_document, difference_picture
    from slackwater.cli.planning.foreseeing import find_difference

    found = asyncio.run(find_difference(context, place, manifests))
    if output is Output.TABLE:
        picture, console = difference_picture(found), Terminal(highlight=False)
        if console.is_terminal:
            console.print(picture)
        else:  # who reads it there looks for whole lines
            print_whole(picture)
    else:
        print_document(difference_document(found), output)
    return bool(found.objects)


def register(app: typer.Typer) -> None:
    """Add them."""
    app.command()(plan)
    app.command()(diff)


def _check_world_alone(given: Mapping[str, object]) -> None:
    if there := [option for option, value in given.items() if value is not None]:
        raise typer.BadParameter(f"--world needs no cluster: leave out {' and '.join(there)}")


def _place_of(manifests: Manifests, namespace: str | None, context: str | None) -> str:
    named = manifests.group["metadata"].get("namespace")
    if named and namespace and named != namespace:
        raise FileUnusable(f"the manifest names namespace {named}, and -n says {namespace}: leave one of them out")
    return named or namespace or namespace_of(context)


def _print_outlook(outlook: Outlook, output: Output) -> None:
    if output is not Output.TABLE:
        print_document(plan_document(outlook.world, outlook.plan, outlook.explanation), output)
        return
    console = Terminal()
    console.print(outlook_table(outlook, console.options.ascii_only))
