"""One group as it is from moment to moment: both halves of its world, read again and again.

async with cluster(context) as api:
    async with aclosing(live_looks(api, "shop", "payments")) as looks:
        async for look in looks:
            live.update(render_view(look.world, look.plan, trouble=look.trouble))
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterUnreachable
from slackwater.adapters.cluster.snapshot import Snapshot, read_snapshot
from slackwater.api.parsing import parse_consumer_group
from slackwater.cli.looking.lookout import LOOK_INTERVAL_S, Lookout
from slackwater.cli.words.deletion import decide
from slackwater.core.decision.decision import Decision
from slackwater.core.world.world import World

REFRESH_INTERVAL_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Look:
    """A world, what the core plans for it, and a sentence when it is not of now."""

    world: World
    plan: Decision
    trouble: str = ""


def look_at(snapshot: Snapshot, lookout: Lookout) -> Look:
    """As of now. Raises InvalidSpec."""
    world = lookout.world(snapshot)
    return Look(world, decide(world))


async def live_looks(
    api: KubernetesApi, namespace: str, name: str, interval_s: float = REFRESH_INTERVAL_S
) -> AsyncGenerator[Look, None]:
    """Looks of a group, about one every `interval_s`, until it is deleted. Ends at once when there is no such group.

    An API server that does not answer is waited for: the last look comes again, with the trouble. Close the generator
    (`contextlib.aclosing`) when leaving it early. Raises ClusterRefused.
    """
    lookout, last = Lookout(api), None
    looking: asyncio.Task[None] | None = None
    try:
        while True:
            try:
                snapshot = await read_snapshot(api, namespace, name)
                if snapshot is None:
                    return
                await lookout.aim(parse_consumer_group(snapshot.group), snapshot.connection, snapshot.memory)
                looking = looking or asyncio.create_task(_keep_looking(lookout), name="lookout")
                last = look_at(snapshot, lookout)
            except ClusterUnreachable as error:
                if last is None:
                    raise
                last = replace(last, trouble=f"not of now: {error}")
            yield last
            if looking is not None and looking.done():
                looking.result()
            await asyncio.sleep(interval_s)
    finally:
        if looking is not None:
            looking.cancel()
            await asyncio.wait({looking})
        await lookout.close()


async def _keep_looking(lookout: Lookout) -> None:
    """On its own, so that a Kafka which does not answer holds nothing up."""
    while True:
        began_at = time.monotonic()
        await lookout.look()
        await asyncio.sleep(max(0.05, LOOK_INTERVAL_S - (time.monotonic() - began_at)))
