"""`slackwater fleet plan`: when a fleet's groups would move, as they wait, all of them, or by a campaign.

As in `main`, what takes a second to import is imported by the command that needs it.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer

from slackwater.api.amounts import IntOrPercent
from slackwater.cli.errors import FileUnusable
from slackwater.cli.options import As, Context, Namespace, Output, parse_name, print_document, print_whole
from slackwater.cli.reaching.kubeconfig import namespace_of

if TYPE_CHECKING:
    from slackwater.core.fleet.seen import FleetSeen

_LOCAL: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


def parse_limit(text: str) -> str:
    """`coordinators=2`, `all=10%`."""
    name, _, amount = text.partition("=")
    if not re.fullmatch("[1-9][0-9]?%|100%|[1-9][0-9]{0,3}", amount):
        raise typer.BadParameter(f"{text!r} is no limit: write BUDGET=NUMBER, such as coordinators=2 or all=10%")
    return f"{parse_name(name)}={amount}"


def limits_of(given: Sequence[str]) -> dict[str, IntOrPercent]:
    """As `parse_limit` let them through."""
    pairs = (each.split("=") for each in given)
    return {name: amount if amount.endswith("%") else int(amount) for name, amount in pairs}


def parse_local(text: str) -> str:
    if not _LOCAL.fullmatch(text) or not _is_a_time(text):
        raise typer.BadParameter(f"{text!r} is no local time: write one such as 2026-12-01T22:00, in the fleet's zone")
    return text


def _is_a_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:  # no calendar has it
        return False
    return True


@dataclass(frozen=True, slots=True)
class Typed:
    """What is planned, as it was typed."""

    namespace: str | None
    context: str | None
    output: Output
    at: str | None = None
    """In the fleet's time zone."""
    limits: dict[str, IntOrPercent] = field(default_factory=dict)


def plan(  # noqa: PLR0913, PLR0917 - an option each
    name: Annotated[
        str | None,
        typer.Argument(
            help="The ConsumerFleet's name; -f names it, too.", metavar="NAME", parser=parse_name, show_default=False
        ),
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--filename",
            "-f",
            metavar="FILE",
            help="With the FleetCampaign in it; - for standard input. A ConsumerFleet beside it counts as well, and may"
            " stand in a file of its own: repeat -f for it.",
        ),
    ] = None,
    namespace: Namespace = None,
    context: Context = None,
    everybody: Annotated[
        bool, typer.Option("--all-restart", help="If all its groups restarted; else how those that wait go on.")
    ] = False,
    limits: Annotated[
        list[str] | None,
        typer.Option(
            "--max",
            metavar="BUDGET=NUMBER",
            parser=parse_limit,
            help="If a budget had another max; repeat it for more.",
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="TIME",
            parser=parse_local,
            help="With --all-restart or -f: if it began then, such as 2026-12-01T22:00, in the fleet's time zone.",
        ),
    ] = None,
    output: As = Output.TABLE,
) -> None:
    """Say when a fleet's groups would move and be done, by how long they took so far, and what makes it last.

    With -f: what a campaign would do, who would be in which wave, and who would be left as they are, and why. It runs
    the operator's own order, budgets and windows forward. Changes nothing.
    """
    if at is not None and not (everybody or files):
        raise typer.BadParameter("--at is for --all-restart or -f: add one of them")
    if everybody and files:
        raise typer.BadParameter("-f says what the campaign does: leave out --all-restart, or -f")
    typed = Typed(namespace, context, output, at, limits_of(limits or ()))
    if files:
        _plan_campaign(files, name, typed)
    elif name is None:
        raise typer.BadParameter("say what to plan: a fleet by its NAME, or a campaign by -f FILE")
    else:
        _plan_fleet(name, typed, everybody=everybody)


def _plan_fleet(name: str, typed: Typed, *, everybody: bool) -> None:
    from slackwater.cli.looking.fleets import read_look
    from slackwater.cli.pictures.forecast import forecast_document, forecast_picture
    from slackwater.cli.reaching.choice import Place
    from slackwater.cli.reaching.each import read_one
    from slackwater.core.fleet.forecast import Question, forecast

    place = Place(typed.namespace or namespace_of(typed.context), name)
    look = asyncio.run(read_one(typed.context, place, read_look))
    _check_limits(typed, look.fleet)
    question = Question(everybody, _moment(typed, look.fleet, look.board.now), typed.limits)
    found = forecast(look.board, look.fleet, question)
    surplus = look.board.surplus_in(place.namespace)
    if typed.output is Output.TABLE:
        print_whole(forecast_picture(found, look.fleet, look.board.now, surplus))
    else:
        print_document(forecast_document(found, look.fleet, look.board.now, surplus), typed.output)


def _plan_campaign(files: Sequence[str], name: str | None, typed: Typed) -> None:
    from slackwater.cli.pictures.campaign_plan import campaign_plan_document, campaign_plan_picture
    from slackwater.cli.planning.campaigns import foreseen_campaign, read_campaign_asked
    from slackwater.cli.planning.files import read_campaign_manifests
    from slackwater.cli.reaching.choice import Place
    from slackwater.core.fleet.campaign_forecast import Assumed
    from slackwater.terminal import Terminal

    manifests = read_campaign_manifests(*files)
    metadata, fleet = manifests.campaign["metadata"], manifests.campaign["spec"]["fleetRef"]["name"]
    if name not in (None, fleet):
        raise FileUnusable(f"the campaign is one of fleet {fleet}, and not of {name}: leave out {name}, or correct it")
    named = metadata.get("namespace")
    if named and typed.namespace not in (None, named):
        what = f"the manifest names namespace {named}, and -n says {typed.namespace}"
        raise FileUnusable(f"{what}: leave one of them out")
    place = Place(named or typed.namespace or namespace_of(typed.context), metadata["name"])
    asked = asyncio.run(read_campaign_asked(typed.context, place, manifests))
    _check_limits(typed, asked.fleet)
    assumed = Assumed(_moment(typed, asked.fleet, asked.fleets.board.now), typed.limits)
    found = foreseen_campaign(asked, assumed)
    if typed.output is not Output.TABLE:
        print_document(campaign_plan_document(found), typed.output)
        return
    console = Terminal(highlight=False)
    if console.is_terminal:
        console.print(campaign_plan_picture(found))
    else:  # who reads it there looks for whole lines
        print_whole(campaign_plan_picture(found))


def _check_limits(typed: Typed, fleet: FleetSeen) -> None:
    """Raises BadParameter where one is of a budget that there is not."""
    budgets = [each.name for each in fleet.fleet.spec.budgets]
    if unknown := sorted(set(typed.limits) - set(budgets)):
        there = ", ".join(budgets) or "none at all"
        raise typer.BadParameter(f"{fleet.fleet.name} has no budget {unknown[0]}: there are {there}")


def _moment(typed: Typed, fleet: FleetSeen, now: float) -> float | None:
    """Raises BadParameter where it is over."""
    from slackwater.cli.words.fleets import moment_in

    at = None if typed.at is None else moment_in(fleet, typed.at)
    if at is not None and at < now:
        raise typer.BadParameter(f"{typed.at} is over: write a time that is to come")
    return at
