"""What reading commands have in common: one group's picture as it always was, or those of many, and what was not read.

It is imported by the command that runs, since it brings the clients along.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rich.console import RenderableType

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.cli.commands.choosing import complain
from slackwater.cli.errors import KafkaUnseen
from slackwater.cli.looking.looks import Look
from slackwater.cli.looking.watching import look_once
from slackwater.cli.options import Output, print_document, print_whole
from slackwater.cli.pictures.beside import beside, list_document, titled
from slackwater.cli.reaching.choice import Choice, Place
from slackwater.cli.reaching.each import read_each, read_one
from slackwater.cli.words.standing import unseen_in_words
from slackwater.core.world.observation import GroupObservation, Unobserved
from slackwater.core.world.world import World
from slackwater.terminal import Terminal

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    verb: str
    read: Callable[[KubernetesApi, Place], Awaitable[T]]
    document: Callable[[T], Any]
    show: Callable[[T], None]
    """For people, alone."""
    picture: Callable[[T], RenderableType] | None = None
    """A table, which may stand beside those of other groups. None: `show` comes once for each, below its name."""
    says_the_name: bool = False
    """`show` begins with it."""


def read(choice: Choice, reading: Reading[T], output: Output) -> None:
    """Raises SomeFailed where some of many could not be read, and else as `reading.read`."""
    if (one := choice.one) is not None:
        value = asyncio.run(read_one(choice.context, one, reading.read))
        if output is Output.TABLE:
            reading.show(value)
        else:
            print_document(reading.document(value), output)
        return
    outcomes = asyncio.run(read_each(choice, reading.read, reading.verb))
    found = [(each.place, each.value) for each in outcomes if each.value is not None]
    if output is not Output.TABLE:
        print_document(list_document([reading.document(value) for _, value in found]), output)
    else:
        _show([(str(place) if choice.everywhere else place.name, value) for place, value in found], reading)
    complain(reading.verb, [each for each in outcomes if each.error is not None], len(outcomes))


def _show(found: Sequence[tuple[str, T]], reading: Reading[T]) -> None:
    console = Terminal()
    if reading.picture is not None:
        pictures = [titled(name, reading.picture(value)) for name, value in found]
        if console.is_terminal:
            for row in beside(pictures, console):
                print_whole(row)
            return
        for at, picture in enumerate(pictures):
            print_whole(picture if at == 0 else titled("", picture))
        return
    for at, (name, value) in enumerate(found):
        if at:
            console.print()
        if not reading.says_the_name:
            console.print(name, style="bold", highlight=False)
        reading.show(value)


async def look_at_kafka(api: KubernetesApi, place: Place) -> tuple[World, GroupObservation]:
    """Raises KafkaUnseen, and as `look_once`."""
    world = (await look_once(api, place)).world
    if isinstance(world.kafka, Unobserved):
        raise KafkaUnseen(unseen_in_words(world, world.kafka))
    return world, world.kafka


def of_kafka(
    verb: str,
    document: Callable[[World, GroupObservation], Any],
    picture: Callable[[World, GroupObservation], RenderableType],
) -> Reading[tuple[World, GroupObservation]]:
    return Reading(
        verb,
        look_at_kafka,
        lambda seen: document(*seen),
        lambda seen: print_whole(picture(*seen)),
        lambda seen: picture(*seen),
    )


def of_look(
    verb: str, document: Callable[[Look], Any], show: Callable[[Look], None], *, says_the_name: bool = False
) -> Reading[Look]:
    return Reading(verb, look_once, document, show, says_the_name=says_the_name)
