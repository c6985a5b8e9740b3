"""Worlds of groups of any size: every pod there and Ready, each of its threads a member that owns one partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from slackwater.api.parsing import parse_consumer_group
from slackwater.core.manifests.template import render_template
from slackwater.core.world.history import GroupHistory, advance
from slackwater.core.world.identity import instance_id
from slackwater.core.world.memory import LastHolder, Release, RolloutMemory, RolloutPhase
from slackwater.core.world.observation import (
    GroupObservation,
    GroupState,
    GroupType,
    Member,
    PartitionOffsets,
    TopicPartition,
)
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile
from slackwater.core.world.step import Step
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World

NOW: Final = 1_000_000.0
UP_SINCE: Final = NOW - 10_000
NAME: Final = "payments"
OLD, NEW = f"{NAME}-old", f"{NAME}-new"
SERVERS: Final = "broker:9092"
_READY: Final[dict[str, Any]] = {"ready": True, "ready_changed_at": UP_SINCE + 5, "started_at": UP_SINCE + 2}
_CRASHED: Final[dict[str, Any]] = {
    "ready": False,
    "ready_changed_at": NOW - 6,
    "started_at": NOW - 4,
    "ended_at": NOW - 5,
    "last_run_started_at": UP_SINCE + 2,
    "restarts": 1,
}


@dataclass(frozen=True, slots=True)
class Size:
    pods: int
    members: int
    """Of each pod."""
    rolling: bool = False
    """Half of the pods have the new version, and all gates hold for the next; else the group is at rest."""
    modern: bool = False
    """KIP-848, where a death has to be proven and the holder of each instance id is remembered."""
    crashed: bool = False
    """Every container has just been started again, and the dead members still hold their instance ids."""


def world_of(size: Size) -> World:
    """A new one each time, so that nothing is known of it yet."""
    profile = Profile.CONSUMER if size.modern else Profile.EAGER
    spec = {"target": "Consumer" if size.modern else "Eager"}
    group = parse_consumer_group(_manifest(size.pods, size.members, spec))
    template = render_template(group, SERVERS, profile)
    kafka = _observation(size)
    history = advance(advance(GroupHistory(), _earlier(kafka, 7200)), _earlier(kafka, 3600))
    return World(
        now=NOW,
        group=group,
        kafka=kafka,
        history=advance(history, kafka),
        sets=(_stateful_set(size, template.hash, template.body),),
        all_pods=tuple(_pod(ordinal, size, profile) for ordinal in range(size.pods)),
        memory=_memory(size, template.hash, profile, kafka.members),
        bootstrap_servers=SERVERS,
    )


def _observation(size: Size) -> GroupObservation:
    members = tuple(
        _member(ordinal, thread, TopicPartition("orders", ordinal * size.members + thread), modern=size.modern)
        for ordinal in range(size.pods)
        for thread in range(size.members)
    )
    partitions = frozenset(partition for member in members for partition in member.assignment)
    return GroupObservation(
        NAME,
        NOW,
        GroupState.STABLE,
        GroupType.CONSUMER if size.modern else GroupType.CLASSIC,
        "uniform" if size.modern else "range",
        members=members,
        partitions=partitions,
        offsets=dict.fromkeys(partitions, PartitionOffsets(100, 100)),
        settings={} if size.modern else None,
    )


def _earlier(kafka: GroupObservation, seconds: float) -> GroupObservation:
    return GroupObservation(
        kafka.group_id,
        kafka.observed_at - seconds,
        kafka.state,
        kafka.type,
        kafka.assignor,
        members=kafka.members,
        partitions=kafka.partitions,
        offsets=kafka.offsets,
        settings=kafka.settings,
    )


def _member(ordinal: int, thread: int, owned: TopicPartition, *, modern: bool) -> Member:
    static, assignment = instance_id(NAME, ordinal, thread), frozenset({owned})
    target, epoch = (assignment, 7) if modern else (None, None)
    return Member(f"{static}-a", static, "consumer", f"/{_address(ordinal)}", assignment, target, epoch)


def _address(ordinal: int) -> str:
    return f"10.0.{ordinal // 250}.{ordinal % 250}"


def _pod(ordinal: int, size: Size, profile: Profile) -> Pod:
    revision = OLD if size.rolling and ordinal < size.pods // 2 else NEW
    return Pod(
        name=f"{NAME}-{ordinal}",
        ordinal=ordinal,
        uid=f"uid-{ordinal}",
        revision=revision,
        created_at=UP_SINCE,
        **(_CRASHED if size.crashed else _READY),
        address=_address(ordinal),
        protocol=profile,
        workload=NAME,
    )


def _stateful_set(size: Size, template_hash: str, template: Any) -> Workload:
    return Workload(
        name=NAME,
        uid="set-uid",
        resource_version="7",
        generation=2,
        observed_generation=2,
        replicas=size.pods,
        partition=size.pods // 2 if size.rolling else size.pods,
        strategy=UpdateStrategy.ROLLING_UPDATE,
        current_revision=OLD if size.rolling else NEW,
        update_revision=NEW,
        template_hash=template_hash,
        owner_uid="group-uid",
        template=template,
    )


def _memory(size: Size, version: str, profile: Profile, members: tuple[Member, ...]) -> RolloutMemory:
    holders = {m.instance_id: LastHolder(m.member_id, NOW - 3600) for m in members if m.instance_id is not None}
    released = {m.instance_id: Release(m.member_id, NOW - 1) for m in members if m.instance_id is not None}
    return RolloutMemory(
        phase=RolloutPhase.PROGRESSING if size.rolling else RolloutPhase.COMPLETE,
        target_hash=version,
        last_good_revision=OLD if size.rolling else NEW,
        last_good_hash="an older one" if size.rolling else version,
        started_at=NOW - 600,
        protocol=profile,
        ids_given=size.pods,
        holders=holders if size.modern else {},
        released=released if size.modern and size.crashed else {},
        step=Step(size.pods // 2, NOW - 60, made=True) if size.rolling else None,
    )


def _manifest(pods: int, members: int, protocol: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "slackwater.dev/v1alpha1",
        "kind": "ConsumerGroup",
        "metadata": {"name": NAME, "namespace": "bench", "uid": "group-uid", "generation": 1},
        "spec": {
            "groupId": NAME,
            "topics": ["orders"],
            "connectionRef": {"name": "main"},
            "replicas": pods,
            "membersPerPod": members,
            "client": {"library": "Java"},
            "protocol": protocol,
            "template": {"spec": {"containers": [{"name": "consumer", "image": "consumer:1"}]}},
        },
    }
