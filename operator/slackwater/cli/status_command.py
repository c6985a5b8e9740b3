"""`slackwater status`: one picture of a group, or a live one."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import aclosing

from rich.console import Console, RenderableType
from rich.live import Live

from slackwater.api.parsing import parse_consumer_group
from slackwater.cli.access import cluster, read_group
from slackwater.cli.documents import status_document
from slackwater.cli.live import Sight, live_sights, sight_of
from slackwater.cli.lookout import Lookout
from slackwater.cli.view import render_view

Show = Callable[[Sight], None]


async def look_once(context: str | None, namespace: str, name: str) -> Sight:
    """Raises ClusterFailed, NoSuchGroup and NotInstalled."""
    async with cluster(context) as api:
        lookout = Lookout(api)
        try:
            snapshot = await read_group(api, namespace, name)
            await lookout.aim(parse_consumer_group(snapshot.group), snapshot.connection)
            await lookout.look()
            return sight_of(snapshot, lookout)
        finally:
            await lookout.close()


async def look_on(context: str | None, namespace: str, name: str, show: Show) -> None:
    """Show sight after sight until the group is deleted. Raises ClusterFailed, NoSuchGroup and NotInstalled."""
    async with cluster(context) as api:
        await read_group(api, namespace, name)  # for its sentences, where there is no such group
        async with aclosing(live_sights(api, namespace, name)) as sights:
            async for sight in sights:
                show(sight)


def in_place(console: Console, live: Live) -> Show:
    """Redraw a terminal's picture when it changed."""

    def rendered(sight: Sight) -> str:
        with console.capture() as capture:
            console.print(_picture(sight))
        return capture.get()

    return _when_changed(rendered, lambda sight: live.update(_picture(sight), refresh=True))


def one_below_the_other(console: Console) -> Show:
    """A picture after the other, where there is no terminal to redraw."""
    return _when_changed(_gist, lambda sight: console.print(_picture(sight), "", soft_wrap=False))


def line_by_line(write: Callable[[str], None]) -> Show:
    """A JSON document a line, for programs."""
    return _when_changed(_gist, lambda sight: write(json.dumps(status_document(sight.world, sight.plan))))


def _when_changed(gist: Callable[[Sight], object], show: Show) -> Show:
    last: list[object] = []

    def show_if_new(sight: Sight) -> None:
        now = gist(sight)
        if last != [now]:
            last[:] = [now]
            show(sight)

    return show_if_new


def _picture(sight: Sight) -> RenderableType:
    return render_view(sight.world, sight.plan, trouble=sight.trouble)


def _gist(sight: Sight) -> object:
    """All but what changes with every look: the time, how long ago something was, and the lag."""
    document = status_document(sight.world, sight.plan)
    group = {key: value for key, value in document["group"].items() if key not in ("observedAt", "lag")}
    pods = [{key: value for key, value in pod.items() if key not in ("note", "lag")} for pod in document["pods"]]
    return {**document, "at": None, "group": group, "pods": pods, "trouble": sight.trouble}
