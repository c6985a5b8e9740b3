"""`slackwater plan` and `slackwater diff` from the cluster and Kafka as they are now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.snapshot import Snapshot, is_hidden, read_or_hidden, read_snapshot, read_workloads
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.resources import ConsumerGroup
from slackwater.cli.looking.calm import long_enough_s, watch_for
from slackwater.cli.looking.lookout import Lookout
from slackwater.cli.looking.vouched import as_it_is_known
from slackwater.cli.planning.applying import as_applied, connection_beside
from slackwater.cli.planning.difference import Difference, difference
from slackwater.cli.planning.files import Manifests
from slackwater.cli.planning.outlook import Outlook, outlook_on
from slackwater.cli.reaching.cluster import check_installed, check_namespace, cluster
from slackwater.cli.words.gates import Mark, ask_gates
from slackwater.core.plan import plan
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.world import World

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The world as of now with a manifest applied, and what there was before."""

    world: World
    live: ConsumerGroup | None
    connection: Json | None
    """The KafkaConnection that the manifest names, as it is in the cluster."""
    beside: Json | None
    """As it stands in the manifest's file."""


async def live_outlook(context: str | None, namespace: str, manifests: Manifests, longest_s: float | None) -> Outlook:
    """From the cluster and Kafka as they are, seen from this machine.

    Where only time is short to judge the group's calm, it is watched for `longest_s`, by default for as long as the
    gates ask for. Raises ClusterFailed, NotInstalled, NoSuchNamespace and InvalidSpec.
    """
    async with cluster(context) as api:
        lookout = Lookout(api)
        try:
            world = (await foresee(api, lookout, namespace, manifests)).world
            enough_s = long_enough_s(world.group) if longest_s is None else longest_s
            if enough_s > 0 and _wants_time(world):
                await watch_for(lookout, f"watching whether group {world.group.group_id} is calm", enough_s)
                world = (await foresee(api, lookout, namespace, manifests)).world
        finally:
            await lookout.close()
    return outlook_on(world, remark_on(world))


async def find_difference(context: str | None, namespace: str, manifests: Manifests) -> Difference:
    """Between the cluster and what it would be with the manifest applied. Raises as `live_outlook`."""
    async with cluster(context) as api:
        lookout = Lookout(api)
        try:
            foreseen = await foresee(api, lookout, namespace, manifests)
        finally:
            await lookout.close()
    outlook = outlook_on(foreseen.world, remark_on(foreseen.world))
    hidden = foreseen.connection is not None and is_hidden(foreseen.connection)  # nobody can tell it apart from here
    return difference(outlook, foreseen.live, foreseen.connection, None if hidden else foreseen.beside)


async def foresee(api: KubernetesApi, lookout: Lookout, namespace: str, manifests: Manifests) -> Foreseen:
    """One look."""
    name = manifests.group["metadata"]["name"]
    snapshot = await read_snapshot(api, namespace, name)
    live = None if snapshot is None else parse_consumer_group(snapshot.group)
    group = as_applied(live, manifests.group, namespace)
    snapshot = await _around_a_new_group(api, group) if snapshot is None else snapshot
    connection = await _connection(api, group, snapshot.connection)
    beside = connection_beside(group, manifests.connections, None)
    used = connection if beside is None else as_it_is_known(beside, connection)
    await lookout.aim(group, used, snapshot.memory)
    await lookout.look()
    return Foreseen(lookout.world(replace(snapshot, connection=used), group), live, connection, beside)


async def _around_a_new_group(api: KubernetesApi, group: ConsumerGroup) -> Snapshot:
    await check_installed(api)
    await check_namespace(api, group.namespace)
    return Snapshot(group={}, workloads=await read_workloads(api, group.namespace, group.name))


async def _connection(api: KubernetesApi, group: ConsumerGroup, found: Json | None) -> Json | None:
    """The one that the manifest names, which may be another than the live group's."""
    reference = group.spec.connection_ref
    if found is not None and (found["kind"], found["metadata"]["name"]) == (reference.kind, reference.name):
        return found
    return await read_or_hidden(api, group.namespace, reference.model_dump())


def _wants_time(world: World) -> bool:
    """A rollout is on or would begin, and nothing but time is missing to say what the gates say."""
    decided = plan(world)
    if world.workload is None or not decided.memory.phase.under_way:
        return False
    return any(gate.mark is Mark.UNKNOWN for gate in ask_gates(world, decided))


def remark_on(world: World) -> str:
    new = "it would be new to the cluster; " if world.workload is None else ""
    if isinstance(world.kafka, Unobserved):
        unseen = f"from this machine the group cannot be seen in Kafka ({world.kafka.message})"
        return f"{new}{unseen}; the operator may see it"
    return f"{new}judged from this machine, by the cluster and Kafka as they are now"
