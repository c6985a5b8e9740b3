"""A command to many groups: shown and asked for first, then given to some at a time; at the end, who failed and why.

A group that is as it was fails where it was named, as it does alone. Where labels or --all chose it, it is left as it
is and said to be: `resume --all` is about those that are paused.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import typer

from slackwater.cli.errors import NotConfirmed, NothingToDo, NotTakenUp, OptionMissing
from slackwater.cli.giving.one import Order
from slackwater.cli.reaching.choice import Choice, Place
from slackwater.cli.reaching.cluster import cluster
from slackwater.cli.reaching.each import Outcome, each
from slackwater.core.decision.words import count, listing
from slackwater.terminal import one_line, say

SHOWN: Final = 50
"""Names that still can be read before a question."""


def confirm(verb: str, choice: Choice, places: Sequence[Place], yes: bool) -> None:
    """Where labels or --all have chosen more than one. Raises NotConfirmed, and OptionMissing where nobody is there."""
    if yes or choice.names or len(places) == 1:
        return
    what = f"{verb} concerns {count(len(places), 'ConsumerGroup')}"
    if not sys.stdin.isatty():
        raise OptionMissing(f"{what} ({listing(map(str, places))}), and nobody is there to be asked: add --yes")
    say(f"{what}:", err=True)
    for place in places[:SHOWN]:
        say(f"  {place if choice.everywhere else place.name}", err=True)
    if (rest := len(places) - SHOWN) > 0:
        say(f"  and {rest} more, which slackwater list shows", err=True)
    if not typer.confirm(f"{verb.capitalize()} all {len(places)}?", err=True):
        raise NotConfirmed(f"{verb} was not confirmed: nothing was done")


@dataclass
class Patience:
    """How long each is waited for: no more at all once one was waited for in vain, for there is one operator."""

    timeout_s: float

    def over(self) -> None:
        self.timeout_s = 0.0


async def give_each(
    choice: Choice, places: Sequence[Place], verb: str, order: Order, timeout_s: float
) -> list[Outcome[str]]:
    """Says of each what came of it, as soon as it did. Raises ClusterRefused where there is no cluster."""
    patience, begun, through = Patience(timeout_s), set[Place](), set[Place]()
    async with cluster(choice.context) as api:

        async def act(place: Place) -> str:
            begun.add(place)
            try:
                return await order(api, place, patience.timeout_s)
            except NotTakenUp:
                patience.over()
                raise

        def done(outcome: Outcome[str]) -> None:
            through.add(outcome.place)
            say_what_came(outcome, choice)

        try:
            return await each(places, act, verb, done)
        except BaseException:
            for what, group in (("not begun", set(places) - begun), ("not known whether it was done", begun - through)):
                if group:
                    say(f"Broken off, {what}: {', '.join(map(str, sorted(group)))}.", err=True)
            raise


def say_what_came(outcome: Outcome[str], choice: Choice) -> None:
    """On standard output, if something came of it, or if nothing had to: who failed is said at the end."""
    words = outcome.value
    if outcome.error is not None and is_as_it_was(outcome, choice):
        words = f"{outcome.place.name}: unchanged: {outcome.error}"
    if words is not None:
        words = one_line(words)
        say(f"{outcome.place.namespace}/{words}" if choice.everywhere else words)


def is_as_it_was(outcome: Outcome[str], choice: Choice) -> bool:
    """It was not named, and needs nothing."""
    return isinstance(outcome.error, NothingToDo) and not choice.names


def failed(outcomes: Sequence[Outcome[str]], choice: Choice) -> list[Outcome[str]]:
    return [each for each in outcomes if each.error is not None and not is_as_it_was(each, choice)]
