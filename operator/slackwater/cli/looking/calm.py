"""Watching a group for a while, with progress on a terminal's standard error, so that output can go into a pipe."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from slackwater.api.resources import ConsumerGroup
from slackwater.cli.looking.lookout import LOOK_INTERVAL_S, Lookout
from slackwater.terminal import Terminal

BEYOND_STABLE_FOR_S = 1.0
"""A look every second shows `stableFor` of calm only when it goes on a little longer."""


def long_enough_s(group: ConsumerGroup) -> float:
    """Seconds of watching after which the gates can say of a calm group that it is calm."""
    return group.spec.rollout.stable_for_s + BEYOND_STABLE_FOR_S


async def watch_for(lookout: Lookout, what: str, duration_s: float) -> None:
    """Look once, and from the end of that every second until `duration_s` are over: whom the first look shows may have
    come at its end. `what` is shown meanwhile."""
    await lookout.look()
    began_at = time.monotonic()
    if duration_s <= 0:
        return
    with _bar(what, duration_s) as show:
        while (elapsed_s := time.monotonic() - began_at) < duration_s:
            show(elapsed_s)
            await asyncio.sleep(min(LOOK_INTERVAL_S, duration_s - elapsed_s))
            await lookout.look()


@contextmanager
def _bar(what: str, total_s: float) -> Iterator[Callable[[float], None]]:
    console = Terminal(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total_s)
        yield lambda elapsed_s: bar.update(task, completed=elapsed_s)
