"""`slackwater observe`: both halves of a group's world, recorded as a document that can be planned from."""

from __future__ import annotations

from slackwater.api.parsing import parse_consumer_group
from slackwater.cli.looking.calm import long_enough_s, watch_for
from slackwater.cli.looking.lookout import Lookout
from slackwater.cli.reaching.cluster import cluster, read_group
from slackwater.core.world.world import World


async def record(context: str | None, namespace: str, name: str, duration_s: float | None) -> World:
    """Watch the group for `duration_s`, by default long enough to tell whether it is calm, then take the world down.

    A Kafka that cannot be seen is recorded as such. Raises ClusterFailed, NoSuchGroup and NotInstalled.
    """
    async with cluster(context) as api:
        lookout = Lookout(api)
        try:
            snapshot = await read_group(api, namespace, name)
            group = parse_consumer_group(snapshot.group)
            await lookout.aim(group, snapshot.connection, snapshot.memory)
            duration_s = long_enough_s(group) if duration_s is None else duration_s
            await watch_for(lookout, f"watching group {group.group_id}", duration_s)
            snapshot = await read_group(api, namespace, name)
            return lookout.world(snapshot)
        finally:
            await lookout.close()
