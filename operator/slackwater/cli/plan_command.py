"""`slackwater plan`: what the operator would do now, and why, once a manifest were applied."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.paths import KAFKA_CONNECTION, STATEFUL_SET
from slackwater.adapters.cluster.snapshot import Snapshot, read_snapshot, to_world
from slackwater.api.parsing import parse_consumer_group, parse_kafka_connection
from slackwater.api.resources import ConsumerGroup
from slackwater.cli.access import check_installed, cluster
from slackwater.cli.applying import as_applied, connection_beside
from slackwater.cli.errors import FileUnusable
from slackwater.cli.explanation import Explanation, Outcome, explain
from slackwater.cli.files import Manifests
from slackwater.cli.gates import Mark, ask_gates
from slackwater.cli.lookout import Lookout
from slackwater.cli.view import gate_signs
from slackwater.cli.watching import long_enough_s, watch_for
from slackwater.core.memory import timestamp
from slackwater.core.observation import Unobserved
from slackwater.core.plan import Plan, plan
from slackwater.core.world import World

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A world with the manifest applied, what the core plans for it, and that in words."""

    world: World
    plan: Plan
    explanation: Explanation
    remark: str = ""
    """What to bear in mind about it."""


def judge(world: World, remark: str = "") -> Judgement:
    decided = plan(world)
    return Judgement(world, decided, explain(world, decided), remark)


def judge_recorded(world: World, manifests: Manifests, path: str) -> Judgement:
    """From a recorded world. Raises FileUnusable when it is another group's, and InvalidSpec."""
    metadata = manifests.group["metadata"]
    named = (metadata.get("namespace", world.group.namespace), metadata["name"])
    recorded = (world.group.namespace, world.group.name)
    if named != recorded:
        there, here = "/".join(recorded), "/".join(named)
        raise FileUnusable(f"{path} records ConsumerGroup {there}, not {here}: record that one, or give its manifest")
    group = as_applied(world.group, manifests.group, world.group.namespace)
    connection = connection_beside(group, manifests.connections, None)
    servers = world.bootstrap_servers
    if connection is not None:
        servers = parse_kafka_connection(connection).spec.bootstrap_servers
    world = replace(world, group=group, bootstrap_servers=servers)
    return judge(world, f"judged from {path}, recorded at {timestamp(int(world.now))}")


async def judge_live(context: str | None, namespace: str, manifests: Manifests, longest_s: float | None) -> Judgement:
    """From the cluster and Kafka as they are, seen from this machine.

    Where only time is short to judge the group's calm, it is watched for `longest_s`, by default for as long as the
    gates ask for. Raises ClusterFailed, NotInstalled and InvalidSpec.
    """
    async with cluster(context) as api:
        lookout = Lookout(api)
        try:
            world = await _look(api, lookout, namespace, manifests)
            enough_s = long_enough_s(world.group) if longest_s is None else longest_s
            if enough_s > 0 and _wants_time(world):
                await watch_for(lookout, f"watching whether group {world.group.group_id} is calm", enough_s)
                world = await _look(api, lookout, namespace, manifests)
        finally:
            await lookout.close()
    return judge(world, _remark(world))


def judgement_table(judgement: Judgement, ascii_only: bool) -> RenderableType:
    """The judgement as a person reads it."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for label, text in _lines(judgement, ascii_only):
        table.add_row(label, text)
    return table


def _lines(judgement: Judgement, ascii_only: bool) -> Iterator[tuple[str, Text]]:
    explanation, group = judgement.explanation, judgement.world.group
    yield "Group", Text.assemble((group.name, "bold"), f" in namespace {group.namespace}")
    if judgement.remark:
        yield "", Text(judgement.remark, "dim")
    style = "bold yellow" if explanation.outcome is Outcome.HOLD else "bold"
    reason = f"{explanation.reason}: " if explanation.reason else ""
    yield ("Hold" if explanation.outcome is Outcome.HOLD else "Now"), Text(f"{reason}{explanation.words}", style)
    if explanation.afterwards:
        yield "Then", Text(explanation.afterwards)
    for number, note in enumerate(judgement.plan.notes):
        yield ("" if number else "Events"), Text(f"{note.reason}: {note.message}", "yellow" if note.warning else "")
    signs = gate_signs(ascii_only)
    if explanation.gates and not explanation.gates_asked:
        yield "Gates", Text("as they stand; what comes now disturbs no pod, and so does not ask them", "dim")
    for gate in explanation.gates:
        label = "Gates" if gate.number == 1 and explanation.gates_asked else ""
        sentence = f": {gate.message}" if gate.message else ""
        sign, sign_style = signs[gate.mark]
        yield label, Text.assemble((sign, sign_style), f" {gate.number} {gate.name}{sentence}")


async def _look(api: KubernetesApi, lookout: Lookout, namespace: str, manifests: Manifests) -> World:
    """A world as of now, with the manifest applied."""
    name = manifests.group["metadata"]["name"]
    snapshot = await read_snapshot(api, namespace, name)
    live = None if snapshot is None else parse_consumer_group(snapshot.group)
    group = as_applied(live, manifests.group, namespace)
    snapshot = await _around_a_new_group(api, group) if snapshot is None else snapshot
    connection = await _connection(api, group, snapshot.connection)
    connection = connection_beside(group, manifests.connections, connection)
    await lookout.aim(group, connection)
    await lookout.look()
    return to_world(replace(snapshot, connection=connection), lookout.view, lookout.history, time.time(), group)


async def _around_a_new_group(api: KubernetesApi, group: ConsumerGroup) -> Snapshot:
    await check_installed(api)
    workload = await api.read(STATEFUL_SET, group.namespace, group.name)
    return Snapshot(group={}, workload=workload)


async def _connection(api: KubernetesApi, group: ConsumerGroup, found: Json | None) -> Json | None:
    """The one that the manifest names, which may be another than the live group's."""
    name = group.spec.connection_ref.name
    if found is not None and found["metadata"]["name"] == name:
        return found
    return await api.read(KAFKA_CONNECTION, group.namespace, name)


def _wants_time(world: World) -> bool:
    """A rollout is on or would begin, and nothing but time is missing to say what the gates say."""
    decided = plan(world)
    if world.workload is None or not decided.memory.phase.under_way:
        return False
    return any(gate.mark is Mark.UNKNOWN for gate in ask_gates(world, decided))


def _remark(world: World) -> str:
    if world.workload is None:
        return "it would be new to the cluster"
    if isinstance(world.kafka, Unobserved):
        return "judged from this machine, which cannot see the group in Kafka; the operator may"
    return "judged from this machine, from the cluster and Kafka as they are now"
