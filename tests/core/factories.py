"""Small builders of worlds. What a test does not say is as it should be: three Ready pods, a calm group, no lag."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from slackwater.api.parsing import parse_consumer_group
from slackwater.api.resources import ConsumerGroup
from slackwater.core.world.broker import Bounds, BrokerFacts, MigrationPolicy
from slackwater.core.world.history import GroupHistory, advance
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import (
    GroupObservation,
    GroupState,
    GroupType,
    Member,
    PartitionOffsets,
    TopicPartition,
)
from slackwater.core.world.pods import Pod
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World
from tests.api.manifests import consumer_group

NAME: Final = "payments"
UID: Final = "group-uid"
BOOTSTRAP: Final = "broker:9092"
NOW: Final = 1_000_000.0
"""Seconds since the epoch at which every test takes place; the pods have been up for a long time."""
LONG_AGO: Final = NOW - 10_000
OLD, NEW = f"{NAME}-old", f"{NAME}-new"
"""Revisions."""
PARTITIONS_PER_POD: Final = 2


BROKER: Final = BrokerFacts(
    LONG_AGO,
    serves_consumer_protocol=True,
    group_version=1,
    migration_policy=MigrationPolicy.BIDIRECTIONAL,
    classic_session=Bounds(6_000, 1_800_000),
    consumer_session=Bounds(45_000, 60_000),
    consumer_heartbeat=Bounds(5_000, 15_000),
)
"""As a broker is without further settings (F22, F23)."""


def group(annotations: dict[str, str] | None = None, generation: int = 1, **spec: Any) -> ConsumerGroup:
    """A ConsumerGroup of three static members, as the API server would give it."""
    manifest = consumer_group(NAME, **({"replicas": 3} | spec))
    manifest["metadata"] |= {"uid": UID, "generation": generation, "annotations": annotations or {}}
    return _parsed(json.dumps(manifest))


@lru_cache(maxsize=1024)
def _parsed(manifest: str) -> ConsumerGroup:
    """Models are frozen, and a simulation reads the same one at each of its steps."""
    return parse_consumer_group(json.loads(manifest))


def tp(number: int, topic: str = "orders") -> TopicPartition:
    return TopicPartition(topic, number)


def owned_by(ordinal: int) -> frozenset[TopicPartition]:
    """The partitions that a pod's member has in a calm group."""
    return frozenset(tp(ordinal * PARTITIONS_PER_POD + i) for i in range(PARTITIONS_PER_POD))


def member(ordinal: int, incarnation: str = "a", **changes: Any) -> Member:
    """A static member; another incarnation has another member id (F41)."""
    instance_id = f"{NAME}-{ordinal}"
    usual = Member(f"{instance_id}-{incarnation}", instance_id, "consumer", f"/10.0.0.{ordinal}", owned_by(ordinal))
    return replace(usual, **changes)


def dynamic_member(ordinal: int, **changes: Any) -> Member:
    return replace(member(ordinal), instance_id=None, member_id=f"consumer-{ordinal}", **changes)


def stranger(**changes: Any) -> Member:
    """A member that no pod of ours runs."""
    return replace(Member("console-1", None, "console", "/10.9.9.9"), **changes)


def members(*ordinals: int) -> tuple[Member, ...]:
    return tuple(member(ordinal) for ordinal in ordinals)


def observation(
    members: Iterable[Member] = members(0, 1, 2), at: float = NOW, lag: int = 0, replicas: int = 3, **changes: Any
) -> GroupObservation:
    """A calm classic group. `lag`: records behind, all of them in the first partition."""
    partitions = frozenset(tp(i) for i in range(replicas * PARTITIONS_PER_POD))
    offsets = {p: PartitionOffsets(100, 100 + (lag if p.partition == 0 else 0)) for p in partitions}
    usual = GroupObservation(
        NAME, at, GroupState.STABLE, GroupType.CLASSIC, "range", members=tuple(members), partitions=partitions
    )
    return replace(usual, **({"offsets": offsets} | changes))


def watched(observed: GroupObservation, for_s: float = 3600.0) -> GroupHistory:
    """The history of a group that has been as it is for so long, looked at twice."""
    earlier = replace(observed, observed_at=observed.observed_at - for_s)
    return advance(advance(GroupHistory(), earlier), observed)


def folded(*observations: GroupObservation) -> GroupHistory:
    history = GroupHistory()
    for observed in observations:
        history = advance(history, observed)
    return history


def pod(ordinal: int, revision: str = OLD, **changes: Any) -> Pod:
    """A pod that has been Ready for a long time."""
    usual = Pod(
        name=f"{NAME}-{ordinal}",
        ordinal=ordinal,
        uid=f"uid-{ordinal}",
        revision=revision,
        created_at=LONG_AGO,
        ready=True,
        ready_changed_at=LONG_AGO + 5,
        started_at=LONG_AGO + 2,
        address=f"10.0.0.{ordinal}",
        workload=NAME,
    )
    return replace(usual, **changes)


def fresh_pod(ordinal: int, age_s: float, revision: str = NEW, **changes: Any) -> Pod:
    """A pod that was made and has run since so many seconds ago."""
    born = NOW - age_s
    usual = pod(ordinal, revision, created_at=born, started_at=born, ready_changed_at=born, uid=f"uid-{ordinal}-new")
    return replace(usual, **changes)


def workload(**changes: Any) -> Workload:
    """A StatefulSet that has a new template which no pod runs yet."""
    usual = Workload(
        name=NAME,
        uid="set-uid",
        resource_version="7",
        generation=2,
        observed_generation=2,
        replicas=3,
        partition=3,
        strategy=UpdateStrategy.ROLLING_UPDATE,
        current_revision=OLD,
        update_revision=NEW,
        template_hash="",
        owner_uid=UID,
    )
    return replace(usual, **changes)


def world(**changes: Any) -> World:
    """Three pods of the old revision in a calm group; a rollout is under way and may restart the first pod now.

    `workload`, `pods`: see `placed`.
    """
    kafka = changes.get("kafka", observation())
    usual: dict[str, Any] = {
        "now": NOW,
        "group": group(),
        "kafka": kafka,
        "history": watched(kafka) if isinstance(kafka, GroupObservation) else GroupHistory(),
        "workload": workload(),
        "pods": (pod(0), pod(1), pod(2)),
        "memory": RolloutMemory(phase=RolloutPhase.PROGRESSING),
        "bootstrap_servers": BOOTSTRAP,
        "broker": BROKER,
    }
    return World(**(placed(usual) | placed(changes)))


def placed(words: dict[str, Any]) -> dict[str, Any]:
    """The fields of a World where a test says `workload` for its one StatefulSet, and `pods` for all there are."""
    placed = {key: value for key, value in words.items() if key not in ("workload", "pods")}
    if "workload" in words:
        placed["sets"] = () if words["workload"] is None else (words["workload"],)
    if "pods" in words:
        placed["all_pods"] = tuple(words["pods"])
    return placed


def changed(world: World, **changes: Any) -> World:
    """The world with other values, in the words of `placed`."""
    return replace(world, **placed(changes))
