"""One act for each of many groups, some at a time: what comes of one keeps none of the others from its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterFailed, ClusterUnreachable, NotLetIn
from slackwater.api.errors import SlackwaterError
from slackwater.cli.errors import NotTried
from slackwater.cli.reaching.choice import Choice, Place, chosen
from slackwater.cli.reaching.cluster import advised, cluster
from slackwater.terminal import Terminal

T = TypeVar("T")
AT_A_TIME: Final = 16
"""Requests that an API server has to answer for one person at once."""
LOOKS_AT_A_TIME: Final = 8
"""A look at a group has connections of its own to Kafka's brokers."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What came of it for one group: a value, or why not."""

    place: Place
    value: T | None = None
    error: SlackwaterError | None = None


async def each(
    places: Sequence[Place],
    act: Callable[[Place], Awaitable[T]],
    what: str,
    done: Callable[[Outcome[T]], None] = lambda _: None,
    at_a_time: int = AT_A_TIME,
) -> list[Outcome[T]]:
    """`act` for each of `places`; outcomes in their order. A terminal shows `what`, and how many are through.

    Once the cluster lets nobody in or does not answer, none begins any more: those are `NotTried`. `done` is called as
    soon as one is through; when the person interrupts, it has been called for all that are.
    """
    room, outcomes = asyncio.Semaphore(at_a_time), dict[Place, Outcome[T]]()
    away: list[SlackwaterError] = []

    async def one(place: Place) -> None:
        async with room:
            outcome = await _try(place)
        outcomes[place] = outcome
        done(outcome)
        show(len(outcomes))

    async def _try(place: Place) -> Outcome[T]:
        if away:
            return Outcome(place, error=NotTried(f"not tried, since {away[0]}"))
        try:
            return Outcome(place, await act(place))
        except ClusterFailed as error:
            if isinstance(error, ClusterUnreachable | NotLetIn):
                away.append(error)
            return Outcome(place, error=advised(error))
        except SlackwaterError as error:
            return Outcome(place, error=error)

    with _bar(what, len(places)) as show:
        async with asyncio.TaskGroup() as group:
            for place in places:
                group.create_task(one(place))
    return [outcomes[place] for place in places]


async def read_one(context: str | None, place: Place, read: Callable[[KubernetesApi, Place], Awaitable[T]]) -> T:
    """Raises as `read`, and ClusterRefused where there is no cluster."""
    async with cluster(context) as api:
        return await read(api, place)


async def read_each(
    choice: Choice, read: Callable[[KubernetesApi, Place], Awaitable[T]], what: str
) -> list[Outcome[T]]:
    """Of all that are chosen. Raises as `chosen`, and ClusterRefused where there is no cluster."""
    places = await chosen(choice)
    async with cluster(choice.context) as api:
        return await each(places, lambda place: read(api, place), what, at_a_time=LOOKS_AT_A_TIME)


@contextmanager
def _bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """On a terminal's standard error. What is printed meanwhile goes above it, where that is the same terminal."""
    console = Terminal(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        redirect_stdout=sys.stdout.isatty(),
    ) as bar:
        task = bar.add_task(what, total=total)
        yield lambda through: bar.update(task, completed=through)
