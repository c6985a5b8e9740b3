"""The Kubernetes half of a world: a ConsumerGroup with everything around it, as objects of the API."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from slackwater.adapters.cluster.errors import Forbidden
from slackwater.adapters.cluster.paths import (
    CLUSTER_KAFKA_CONNECTION,
    CONSUMER_GROUP,
    CONTROLLER_REVISION,
    POD,
    STATEFUL_SET,
    connection_place,
)
from slackwater.adapters.cluster.translation import (
    ReadPod,
    controller_uid,
    group_of,
    left_of,
    loose_ordinals,
    revision_template,
    to_pods,
    to_workload,
    without_controller,
)
from slackwater.api.annotations import GROUP_LABEL
from slackwater.api.kafka_connection import prefixes_of
from slackwater.api.owned_settings import OwnedSetting
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.resources import ConsumerGroup
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.made_with import ADOPTED, asked_for
from slackwater.core.world.memory import RolloutMemory, read_memory
from slackwater.core.world.observation import KafkaView
from slackwater.core.world.two_sets import names_of
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World
from slackwater.ports import Cluster

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Objects as the API server gave them; None where there is none."""

    group: Json
    connection: Json | None = None
    workloads: Sequence[Json] = ()
    """The StatefulSets that have the group's names, ours or not."""
    pods: Sequence[Json] = ()
    last_good_template: Json | None = None
    written: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """By name, uid and generation of the StatefulSet that our own last write made, where that is known."""
    told_running: Mapping[str, float] = field(default_factory=dict)
    """When a watch first told that a container runs, by its id."""
    memory: RolloutMemory | None = None
    """What the group's status remembers, where it was parsed before."""
    read_pod: ReadPod | None = None
    """By which each pod is read, where some were read before."""


def servers_given(connection: Json, group: ConsumerGroup, sets: Sequence[Workload]) -> str:
    """Of a connection that is hidden, those that the group's pods are given; empty where there is none yet."""
    if not is_hidden(connection):
        return str(connection["spec"]["bootstrapServers"])
    variable = OwnedSetting.BOOTSTRAP_SERVERS.variable(group.spec.client.env_prefix)
    containers = (each for found in sets for each in (found.template.get("spec") or {}).get("containers") or ())
    given = (env for container in containers for env in container.get("env") or () if env["name"] == variable)
    return next((str(env["value"]) for env in given if env.get("value")), "")


def memory_in(group: Json) -> RolloutMemory:
    """What the object's status remembers. Raises InvalidSpec."""
    return read_memory(group.get("status") or {})


async def read_snapshot(
    api: Cluster,
    namespace: str,
    name: str,
    remembered: Callable[[Json], RolloutMemory] = memory_in,
    connection_of: Callable[[Json], Awaitable[Json | None]] | None = None,
) -> Snapshot | None:
    """Read everything again; None when there is no such ConsumerGroup. Raises ClusterFailed.

    `remembered` parses the memory in the ConsumerGroup's status, or knows it already. `connection_of` reads what a
    connectionRef names; who is no operator may have it hidden (`read_or_hidden`).
    """
    group = await api.read(CONSUMER_GROUP, namespace, name)
    if group is None:
        return None
    memory = remembered(group)
    connection, workloads, (pods, _) = await asyncio.gather(
        (connection_of or partial(read_or_hidden, api, namespace))(group["spec"]["connectionRef"]),
        read_workloads(api, namespace, name),
        api.list_all(POD, namespace, f"{GROUP_LABEL}={name}"),
    )
    template = await read_last_good_template(api, group, workloads, memory)
    return Snapshot(group, connection, workloads, pods, template, memory=memory)


async def read_connection(api: Cluster, own_namespace: str, namespace: str, reference: Json) -> Json | None:
    """As the operator does it: the connection that a ConsumerGroup of this namespace refers to. Raises ClusterFailed.

    None where there is none, and of ClusterKafkaConnections where none is used: `own_namespace` is empty then.
    """
    kind, place, name = connection_place(namespace, reference)
    if kind is CLUSTER_KAFKA_CONNECTION and not own_namespace:
        return None
    return await api.read(kind, place, name)


async def read_or_hidden(api: Cluster, namespace: str, reference: Json) -> Json | None:
    """The connection that a ConsumerGroup of this namespace refers to; None when there is none. Raises ClusterFailed.

    A tenant may not read what no namespace holds: then its name is all that is known (`is_hidden`).
    """
    kind, place, name = connection_place(namespace, reference)
    try:
        return await api.read(kind, place, name)
    except Forbidden:
        if place:
            raise
        return {"kind": kind.name, "metadata": {"name": name}, "spec": {"bootstrapServers": ""}}


def is_hidden(connection: Json) -> bool:
    """Nothing is known of it but its name."""
    return not connection["spec"]["bootstrapServers"]


async def read_workloads(api: Cluster, namespace: str, name: str) -> tuple[Json, ...]:
    """The StatefulSets that have the group's names. Raises ClusterFailed."""
    found = await asyncio.gather(*(api.read(STATEFUL_SET, namespace, each) for each in names_of(name)))
    return tuple(each for each in found if each is not None)


def needs_last_good_template(memory: RolloutMemory) -> str | None:
    """The revision that a decision may have to go back to; None while no rollout is in hand or given up."""
    return None if memory.phase.at_rest else memory.last_good_revision or None


async def read_last_good_template(
    api: Cluster, group: Json, workloads: Sequence[Json], memory: RolloutMemory
) -> Json | None:
    """None where none is needed, or none of the group's has that name. `workloads`: the StatefulSets that have the
    group's names. Raises ClusterFailed."""
    revision = needs_last_good_template(memory)
    if revision is None:
        return None
    found = await api.read(CONTROLLER_REVISION, group["metadata"]["namespace"], revision)
    if found is None or "data" not in found or not _is_of(group, workloads, found):
        return None
    return revision_template(found)


def _is_of(group: Json, workloads: Sequence[Json], revision: Json) -> bool:
    """Whether a StatefulSet of the group has it: by uid, since who makes one chooses its name and labels.

    `--cascade=orphan` leaves revisions that nobody has. A StatefulSet takes up those that match it, so that one beside
    the StatefulSet that it is named after is somebody else's.
    """
    metadata, kept = group["metadata"], revision["metadata"]
    ours = {each["uid"]: each["name"] for each in _metadata_of(workloads, metadata["uid"])}
    if owner := controller_uid(revision):
        return owner in ours
    named_after, _, _ = kept["name"].rpartition("-")
    return group_of(revision) == metadata["name"] and named_after not in ours.values()


def _metadata_of(workloads: Sequence[Json], owner: str) -> list[Json]:
    return [each["metadata"] for each in workloads if controller_uid(each) == owner]


def to_world(
    snapshot: Snapshot, kafka: KafkaView, history: GroupHistory, now: float, group: ConsumerGroup | None = None
) -> World:
    """Put both halves together. `group`: the parsed object, where the caller has it. Raises InvalidSpec."""
    group = group or parse_consumer_group(snapshot.group)
    all_sets = [to_workload(each, snapshot.written.get(each["metadata"]["name"])) for each in snapshot.workloads]
    ours = [each for each in all_sets if each.owner_uid == group.metadata.uid]
    # Where none is ours, one that has the group's very name is in the way; so is one whose pods have its instance ids.
    given_back = {each["metadata"]["name"] for each in snapshot.workloads if group_of(each) == group.name}
    sets = ours or [each for each in all_sets if each.name == group.name or each.name in given_back][:1]
    connection = snapshot.connection
    memory = snapshot.memory or memory_in(snapshot.group)
    asked = asked_for(group)

    def container_of(template_hash: str) -> str:
        return memory.made_with.get(template_hash or ADOPTED, asked).container

    return World(
        now=now,
        group=group,
        kafka=kafka,
        history=history,
        sets=tuple(sets),
        all_pods=to_pods(snapshot.pods, sets, container_of, snapshot.told_running, snapshot.read_pod),
        loose=loose_ordinals(snapshot.pods, sets, group.name) if sets else frozenset(),
        orphans=without_controller(left_of(group.name, snapshot.pods)),
        names_taken={each.name: each.owner for each in all_sets if each not in ours},
        memory=memory,
        bootstrap_servers=None if connection is None else servers_given(connection, group, sets),
        allowed_groups=() if connection is None or is_hidden(connection) else prefixes_of(connection, group.namespace),
        last_good_template=snapshot.last_good_template,
    )
