"""Worlds to show and to plan from: a group called payments, its pods and its members, with what is to be different."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from slackwater.api.consumer_group import Membership
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.resources import ConsumerGroup
from slackwater.core.manifests.template import render_template
from slackwater.core.plan import plan
from slackwater.core.status.compose import compose_status
from slackwater.core.world.broker import Bounds, BrokerFacts, MigrationPolicy
from slackwater.core.world.handover import Begun, Handover, Held, Replacement
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
from slackwater.core.world.pods import Pod, Run
from slackwater.core.world.profile import Profile
from slackwater.core.world.step import Step
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World
from tests.api.manifests import consumer_group
from tests.core.factories import changed

NOW: Final = 1_764_000_000.0
"""2025-11-24T16:00:00Z"""
SERVERS: Final = "broker:9092"
OLD, NEW = "payments-5d4c7b9f66", "payments-7f9c6d8b54"
UID: Final = "group-uid"
BROKERS: Final = BrokerFacts(
    NOW - 20,
    serves_consumer_protocol=True,
    group_version=1,
    migration_policy=MigrationPolicy.BIDIRECTIONAL,
    classic_session=Bounds(6_000, 1_800_000),
    consumer_session=Bounds(45_000, 60_000),
    consumer_heartbeat=Bounds(5_000, 15_000),
)
"""As brokers are without further settings (F22, F23)."""


def group(annotations: Mapping[str, str] | None = None, generation: int = 3, **spec: Any) -> ConsumerGroup:
    manifest = consumer_group(topics=["orders", "refunds"], **{"replicas": 3, **spec})
    manifest["metadata"] |= {
        "namespace": "shop",
        "uid": UID,
        "generation": generation,
        "annotations": dict(annotations or {}),
    }
    return parse_consumer_group(manifest)


def observation(replicas: int = 3, at: float = NOW - 0.5, **changes: Any) -> GroupObservation:
    """A calm group whose members own four partitions each."""
    partitions = [TopicPartition("orders", n) for n in range(replicas * 3)]
    partitions += [TopicPartition("refunds", n) for n in range(replicas)]
    members = tuple(_member(ordinal, frozenset(partitions[ordinal::replicas])) for ordinal in range(replicas))
    offsets = {p: PartitionOffsets(committed=1000 + int(at - NOW), end=1010 + int(at - NOW)) for p in partitions}
    seen = GroupObservation(
        "payments", at, GroupState.STABLE, GroupType.CLASSIC, "range", None, 1, members, frozenset(partitions), offsets
    )
    return replace(seen, **changes)


def _member(ordinal: int, assignment: frozenset[TopicPartition]) -> Member:
    instance_id = f"payments-{ordinal}"
    host = f"/10.88.0.{ordinal + 10}"
    return Member(f"{instance_id}-4f1c", instance_id, "consumer", host, assignment)


def history(last: GroupObservation, watched_s: float = 60.0) -> GroupHistory:
    """That of a group which looked the same all the time, one look a second."""
    folded = GroupHistory()
    for back_s in range(int(watched_s), -1, -1):
        earlier = {p: replace(o, committed=(o.committed or 0) - back_s) for p, o in last.offsets.items()}
        folded = advance(folded, replace(last, observed_at=last.observed_at - back_s, offsets=earlier))
    return folded


def pod(ordinal: int, revision: str = NEW, **changes: Any) -> Pod:
    made = Pod(
        name=f"payments-{ordinal}",
        ordinal=ordinal,
        uid=f"pod-{ordinal}",
        revision=revision,
        created_at=NOW - 3600,
        ready=True,
        ready_changed_at=NOW - 3590,
        started_at=NOW - 3598,
        address=f"10.88.0.{ordinal + 10}",
        workload="payments",
    )
    return replace(made, **changes)


def world(of: ConsumerGroup | None = None, watched_s: float = 60.0, **changes: Any) -> World:
    """A group at rest: three pods of one version, calm, with every partition owned."""
    of = of or group()
    assert of.spec.membership is Membership.STATIC
    template = render_template(of, SERVERS, Profile.OWN_CHOICE)
    workload = Workload(
        name="payments",
        uid="workload-uid",
        resource_version="100",
        generation=4,
        observed_generation=4,
        replicas=of.spec.replicas,
        partition=of.spec.replicas,
        strategy=UpdateStrategy.ROLLING_UPDATE,
        current_revision=NEW,
        update_revision=NEW,
        template_hash=template.hash,
        owner_uid=UID,
    )
    memory = RolloutMemory(
        phase=RolloutPhase.COMPLETE,
        target_hash=template.hash,
        last_good_revision=NEW,
        last_good_hash=template.hash,
        started_at=NOW - 3600,
        session_timeout_ms=45_000,
    )
    seen = observation(of.spec.replicas)
    made = World(
        now=NOW,
        group=of,
        kafka=seen,
        history=history(seen, watched_s),
        sets=(workload,),
        all_pods=tuple(pod(ordinal) for ordinal in range(of.spec.replicas)),
        memory=memory,
        bootstrap_servers=SERVERS,
        broker=BROKERS,
    )
    return changed(made, **changes)


def made_with(profile: Profile, of: ConsumerGroup, **changes: Any) -> World:
    """A group at rest whose pods have a profile, so that Kafka shows what they have."""
    template = render_template(of, SERVERS, profile)
    seen = of_profile(profile, observation(of.spec.replicas))
    made = world(of, kafka=seen, history=history(seen))
    assert made.workload is not None
    memory = replace(
        made.memory, protocol=profile, target_hash=template.hash, last_good_hash=template.hash, ids_given=3
    )
    workload = replace(made.workload, template=template.body, template_hash=template.hash)
    pods = tuple(replace(pod, protocol=profile) for pod in made.pods)
    return changed(changed(made, memory=memory, workload=workload, pods=pods), **changes)


def of_profile(profile: Profile, seen: GroupObservation) -> GroupObservation:
    """As Kafka shows a calm group all of whose members have the profile (F4, F6)."""
    if profile is Profile.CONSUMER:
        members = tuple(replace(m, target=m.assignment, epoch=7) for m in seen.members)
        return replace(seen, type=GroupType.CONSUMER, assignor="uniform", epoch=7, members=members, settings={})
    return replace(seen, assignor="cooperative-sticky" if profile is Profile.COOPERATIVE else "range")


def rolling(watched_s: float = 60.0, **changes: Any) -> World:
    """In the middle of a rollout: payments-2 has the new version, payments-1 is next."""
    made = world(watched_s=watched_s)
    assert made.workload is not None
    workload = replace(made.workload, partition=2, current_revision=OLD)
    memory = replace(made.memory, phase=RolloutPhase.PROGRESSING, started_at=NOW - 120, last_good_revision=OLD)
    pods = (pod(0, OLD), pod(1, OLD), pod(2, NEW, created_at=NOW - 100, started_at=NOW - 98))
    return changed(changed(made, workload=workload, memory=memory, pods=pods), **changes)


def handing_over() -> World:
    """In the middle of a warm rollout: payments-alt-0 has taken over, payments-alt-1 is to."""
    of = group(rollout={"strategy": "WarmHandover"})
    made = world(of)
    assert made.workload is not None
    in_use = replace(
        made.workload, template_hash="an older one", replicas=2, partition=2, start=1, created_at=NOW - 9000
    )
    newcomer = replace(
        made.workload, name="payments-alt", uid="other-uid", replicas=2, partition=2, created_at=NOW - 130
    )
    pods = [pod(ordinal, OLD) for ordinal in (1, 2)]
    for ordinal in (0, 1):
        new = pod(
            ordinal, NEW, uid=f"alt-{ordinal}", created_at=NOW - 100 + 96 * ordinal, name=f"payments-alt-{ordinal}"
        )
        pods.append(replace(new, workload="payments-alt", started_at=NOW - 98 + 96 * ordinal, ready=ordinal == 0))
    ids = {"payments-1": "payments-1-4f1c"}
    held = Held(ids, Run("pod-1", NOW - 3598, 0))
    handover = Handover(1, "payments-alt", NOW - 4, Begun(held), Replacement(newcomer.template_hash))
    step = Step(1, NOW - 4, ids, made=True)
    memory = replace(
        made.memory,
        phase=RolloutPhase.PROGRESSING,
        started_at=NOW - 120,
        last_good_revision=OLD,
        handover=handover,
        step=step,
    )
    return replace(made, memory=memory, sets=(in_use, newcomer), all_pods=tuple(pods))


def with_status(world: World) -> World:
    """As the operator would have left it: with the status that it composes of this world."""
    status = compose_status(world, plan(world), {})
    return replace(world, group=world.group.model_copy(update={"status": status}))
