"""`slackwater campaign …`: one run through a fleet's groups, wave by wave.

As in `main`, what takes a second to import is imported by the command that needs it.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import asyncio
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from slackwater.api.fleet_campaign import MOST_FAILURES
from slackwater.api.fleet_defaults import PinnedField
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
    from slackwater.cli.giving.campaign import Told

campaign = typer.Typer(
    cls=Whole,
    help="Runs through the groups of a fleet, wave by wave: start, status, pause, promote.",
    rich_markup_mode=None,
)

PATIENCE: Final = "30s"

Name = Annotated[str, typer.Argument(help="The FleetCampaign's name.", metavar="NAME", parser=parse_name)]
NameOrAll = Annotated[
    str | None,
    typer.Argument(help="The FleetCampaign's name; a line for each when not given.", metavar="NAME", parser=parse_name),
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


def parse_field(text: str) -> str:
    """One that changes pods or their protocol: all others are in force without a campaign."""
    fields = [each.value for each in PinnedField]
    if text in fields:
        return text
    if close := get_close_matches(text, fields, n=1):
        raise typer.BadParameter(f"{text!r} is no such field: did you mean {close[0]}?")
    raise typer.BadParameter(f"{text!r} is none of what groups take up by a campaign: write one of {', '.join(fields)}")


@campaign.callback(invoke_without_command=True)
def show_help(context: typer.Context) -> None:
    """Without a verb, as `slackwater` itself does it."""
    if context.invoked_subcommand is None:
        say(context.get_help())


@campaign.command("status")
def status(
    name: NameOrAll = None,
    namespace: Namespace = None,
    everywhere: Annotated[bool, typer.Option("--all-namespaces", "-A", help="Those of every namespace.")] = False,
    context: Context = None,
    output: As = Output.TABLE,
) -> None:
    """Show how far a campaign is: its waves, whom it skipped and why, who has failed, and when it ends.

    `fleet plan -f FILE` says beforehand what one would do. Changes nothing.
    """
    if everywhere and (namespace is not None or name is not None):
        what = "-n" if namespace is not None else "a name"
        raise typer.BadParameter(f"-A and {what} exclude each other: leave one of them out")
    place = None if everywhere else namespace or namespace_of(context)
    if name is None:
        _show_all(context, place, output)
        return
    from slackwater.cli.pictures.campaign import campaign_document, campaign_picture
    from slackwater.cli.reaching.choice import Place
    from slackwater.cli.reaching.each import read_one
    from slackwater.cli.reaching.fleets import read_campaign

    found = asyncio.run(read_one(context, Place(place or "", name), read_campaign))
    if output is Output.TABLE:
        Terminal(highlight=False).print(campaign_picture(found))
    else:
        print_document(campaign_document(found), output)


@campaign.command("start")
def start(  # noqa: PLR0913, PLR0917 - an option each
    name: Name,
    fleet: Annotated[
        str | None, typer.Option(metavar="NAME", parser=parse_name, help="Make it: the ConsumerFleet that it is about.")
    ] = None,
    restart: Annotated[bool, typer.Option("--restart", help="It restarts each group.")] = False,
    apply_defaults: Annotated[
        bool, typer.Option("--apply-defaults", help="Each group takes up what the fleet's spec.defaults say.")
    ] = False,
    field: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD",
            parser=parse_field,
            help="Of the defaults, such as protocol.target; repeat it for more. All that goes into pods when left out.",
        ),
    ] = None,
    changes: Annotated[
        bool, typer.Option("--changes", help="It orders the changes of groups whose annotation names it.")
    ] = False,
    max_failures: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", min=0, max=MOST_FAILURES, help="After more failed groups than so many none begins."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say in its status what would be, and move nobody.")
    ] = False,
    namespace: Namespace = None,
    context: Context = None,
    timeout_s: ObeyedWithin = PATIENCE,  # type: ignore[assignment]
) -> None:
    """Start a campaign through a fleet's groups, in the fleet's waves; without --fleet, let a paused one go on.

    Waves of its own, a selector and a deadline are for a manifest.
    """
    from slackwater.cli.giving import campaign as giving

    actions = {"--restart": restart, "--apply-defaults": apply_defaults, "--changes": changes}
    asked = [option for option, is_given in actions.items() if is_given]
    if field and not apply_defaults:
        raise typer.BadParameter("--field is for --apply-defaults: add it")
    if fleet is None:
        if asked or dry_run or max_failures is not None:
            raise typer.BadParameter("say of which fleet: --fleet NAME")
        from slackwater.cli.reaching.choice import Place

        place = Place(namespace or namespace_of(context), name)
        say(one_line(asyncio.run(giving.let_go_on(context, place, timeout_s))))
        return
    if len(asked) != 1:
        raise typer.BadParameter(f"say what the campaign does: one of {', '.join(actions)}")
    from slackwater.cli.reaching.choice import Place

    fields = {"fields": field} if field else {}
    action = {"restart": {}} if restart else {"applyDefaults": fields} if apply_defaults else {"changes": {}}
    spec: dict[str, Any] = {"fleetRef": {"name": fleet}, "action": action}
    spec |= {} if max_failures is None else {"maxFailures": max_failures}
    spec |= {"dryRun": True} if dry_run else {}
    place = Place(namespace or namespace_of(context), name)
    say(one_line(asyncio.run(giving.start(context, place, spec, timeout_s))))


@campaign.command("pause")
def pause(
    name: Name,
    namespace: Namespace = None,
    context: Context = None,
    timeout_s: ObeyedWithin = PATIENCE,  # type: ignore[assignment]
) -> None:
    """Let no other group of a campaign begin; those that have begun finish. `campaign start NAME` goes on."""
    from slackwater.cli.giving import campaign as giving

    _tell(context, namespace, name, giving.pause, timeout_s)


@campaign.command("promote")
def promote(
    name: Name,
    namespace: Namespace = None,
    context: Context = None,
    timeout_s: ObeyedWithin = PATIENCE,  # type: ignore[assignment]
) -> None:
    """Let the next wave begin, where the one before waits for somebody to say so."""
    from slackwater.cli.giving import campaign as giving

    _tell(context, namespace, name, giving.promote, timeout_s)


def register(app: typer.Typer) -> None:
    """Add them."""
    app.add_typer(campaign, name="campaign")


def _tell(context: str | None, namespace: str | None, name: str, told: Told, timeout_s: float) -> None:
    from slackwater.cli.giving.campaign import tell
    from slackwater.cli.reaching.choice import Place

    place = Place(namespace or namespace_of(context), name)
    say(one_line(asyncio.run(tell(context, place, told, timeout_s))))


def _show_all(context: str | None, place: str | None, output: Output) -> None:
    from slackwater.cli.looking.fleets import read_campaigns
    from slackwater.cli.pictures.beside import list_document
    from slackwater.cli.pictures.campaign import campaign_document, campaigns_table

    found = asyncio.run(read_campaigns(context, place))
    if output is not Output.TABLE:
        print_document(list_document([campaign_document(each) for each in found]), output)
    elif found:
        print_whole(campaigns_table(found, with_namespace=place is None))
    else:
        more = "campaign start makes one" if place is None else "-A shows those of all namespaces"
        say(f"There are no FleetCampaigns in {place or 'any namespace'}: {more}.", err=True)
