"""`slackwater status`: one picture of a group, or a live one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console, RenderableType
from rich.live import Live

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.api.parsing import parse_consumer_group
from slackwater.cli.looking.lookout import Lookout
from slackwater.cli.looking.looks import Look, live_looks, look_at
from slackwater.cli.options import Output, in_yaml
from slackwater.cli.pictures.documents import status_document
from slackwater.cli.pictures.view import render_view
from slackwater.cli.reaching.choice import Place
from slackwater.cli.reaching.cluster import cluster, read_group
from slackwater.terminal import Terminal, say

Show = Callable[[Look], None]


async def look_once(api: KubernetesApi, place: Place) -> Look:
    """Raises ClusterFailed, NoSuchGroup and NotInstalled."""
    lookout = Lookout(api)
    try:
        snapshot = await read_group(api, *place)
        await lookout.aim(parse_consumer_group(snapshot.group), snapshot.connection, snapshot.memory)
        await lookout.look()
        return look_at(snapshot, lookout)
    finally:
        await lookout.close()


async def look_on(context: str | None, place: Place, show: Show) -> None:
    """Show look after look until the group is deleted. Raises ClusterFailed, NoSuchGroup and NotInstalled."""
    async with cluster(context) as api:
        await read_group(api, *place)  # for its sentences, where there is no such group
        async with aclosing(live_looks(api, *place)) as looks:
            async for look in looks:
                show(look)


@dataclass(frozen=True, slots=True)
class Face:
    """What of a look is shown, for people and for programs; and what makes it another one."""

    picture: Callable[[Look], RenderableType]
    document: Callable[[Look], Any]
    gist: Callable[[Look], object]


def watch(context: str | None, place: Place, output: Output, face: Face) -> None:
    """Until the group is deleted, or Ctrl-C: redrawn on a terminal, else one below the other."""

    def follow(show: Show) -> None:
        asyncio.run(look_on(context, place, show))
        say(f"ConsumerGroup {place.name} was deleted.", err=True)

    console = Terminal()
    with suppress(KeyboardInterrupt):  # that is how one leaves it
        if output is Output.JSON:
            follow(line_by_line(say, face))
        elif output is Output.YAML:
            follow(_when_changed(face.gist, lambda look: say(f"---\n{in_yaml(face.document(look))}")))
        elif console.is_terminal:
            with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
                follow(in_place(console, live, face))
        else:
            follow(one_below_the_other(console, face))


def in_place(console: Console, live: Live, face: Face) -> Show:
    """Redraw a terminal's picture when it changed."""

    def rendered(look: Look) -> str:
        with console.capture() as capture:
            console.print(face.picture(look))
        return capture.get()

    return _when_changed(rendered, lambda look: live.update(face.picture(look), refresh=True))


def one_below_the_other(console: Console, face: Face) -> Show:
    """A picture after the other, where there is no terminal to redraw."""
    return _when_changed(face.gist, lambda look: console.print(face.picture(look), "", soft_wrap=False))


def line_by_line(write: Callable[[str], None], face: Face) -> Show:
    """A JSON document a line, for programs."""
    return _when_changed(face.gist, lambda look: write(json.dumps(face.document(look))))


def _when_changed(gist: Callable[[Look], object], show: Show) -> Show:
    last: list[object] = []

    def show_if_new(look: Look) -> None:
        now = gist(look)
        if last != [now]:
            last[:] = [now]
            show(look)

    return show_if_new


def _gist(look: Look) -> object:
    """All but what changes with every look: the time, how long ago something was, and the lag."""
    document = status_document(look.world, look.plan)
    group = {key: value for key, value in document["group"].items() if key not in ("observedAt", "lag")}
    pods = [{key: value for key, value in pod.items() if key not in ("note", "lag")} for pod in document["pods"]]
    return {**document, "at": None, "group": group, "pods": pods, "trouble": look.trouble}


STATUS: Final = Face(
    picture=lambda look: render_view(look.world, look.plan, trouble=look.trouble),
    document=lambda look: status_document(look.world, look.plan),
    gist=_gist,
)
