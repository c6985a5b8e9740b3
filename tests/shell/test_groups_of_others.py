"""A tenant without any right in Kafka, and a connection that an administrator wrote for all (no `groups`).

He names a group in which another team has members, offsets or settings, and which no ConsumerGroup runs.
"""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.adapters.cluster.paths import CONSUMER_GROUP, KAFKA_CONNECTION, POD, STATEFUL_SET
from slackwater.api.timestamps import timestamp
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType
from slackwater.shell.store import Key
from tests.core.factories import members, observation, stranger, watched
from tests.shell.fakes import KEY, connection_object
from tests.shell.reconciler_stage import Stage
from tests.shell.test_deletion import Stage as DeletionStage


def nobody(at: float) -> GroupObservation:
    return GroupObservation("payments", at, GroupState.EMPTY, GroupType.CLASSIC)


async def settle(stage: Stage, ordinals: range) -> None:
    """What the StatefulSet controller and the kubelet do: these pods run, and no others."""
    made = stage.api.objects["StatefulSet", *KEY]
    metadata = {**made["metadata"], "creationTimestamp": timestamp(int(stage.now()) - 500)}
    revisions = {"currentRevision": "r1", "updateRevision": "r1"}
    status = {"observedGeneration": metadata["generation"], **revisions}
    stage.store.put(STATEFUL_SET, stage.api._store(STATEFUL_SET, {**made, "metadata": metadata, "status": status}))
    there = {key: stage.store.get(POD, key) or {} for key in stage.store.keys(POD)}
    for key, obj in there.items():
        if int(key.name.rpartition("-")[2]) not in ordinals:
            stage.store.drop(POD, obj)
            del stage.api.objects["Pod", *key]
    for ordinal in ordinals:
        if Key(KEY.namespace, f"{KEY.name}-{ordinal}") not in there:
            stage.store.put(POD, stage.api._store(POD, running(stage, ordinal)))


def running(stage: Stage, ordinal: int) -> dict[str, Any]:
    """A pod that has run for a while; its process sleeps."""
    made, then = stage.api.objects["StatefulSet", *KEY], timestamp(int(stage.now()) - 400)
    template = made["spec"]["template"]
    owner = {"kind": "StatefulSet", "name": KEY.name, "uid": made["metadata"]["uid"], "controller": True}
    metadata: dict[str, Any] = {
        **{"namespace": KEY.namespace, "name": f"{KEY.name}-{ordinal}", "uid": f"pod-{ordinal}"},
        "creationTimestamp": then,
        "labels": {"slackwater.dev/group": KEY.name, "controller-revision-hash": "r1"},
        "annotations": template["metadata"]["annotations"],
        "ownerReferences": [owner],
    }
    container = {"name": template["spec"]["containers"][0]["name"], "containerID": f"c{ordinal}", "ready": True}
    conditions = [{"type": each, "status": "True", "lastTransitionTime": then} for each in ("Ready", "ContainersReady")]
    status = {
        **{"phase": "Running", "podIP": f"10.7.0.{ordinal}", "hostIP": "10.1.1.1", "conditions": conditions},
        "containerStatuses": [{**container, "started": True, "state": {"running": {"startedAt": then}}}],
    }
    return {"metadata": metadata, "spec": {}, "status": status}


async def passes(stage: Stage, kafka: Any, number: int = 8) -> None:
    for _ in range(number):
        stage.later_s += 2
        seen = kafka(stage.now())
        stage.connections.seen, stage.connections.history = seen, watched(seen)
        await stage.run()


def refer_to_the_shared_one(stage: Stage) -> None:
    shared = connection_object()
    shared["metadata"] |= {"name": "shared", "uid": "uid-of-shared"}
    shared["spec"] = {**shared["spec"], "bootstrapServers": "kafka.good:9092"}
    stage.store.put(KAFKA_CONNECTION, stage.api.add(KAFKA_CONNECTION, shared))
    known = stage.api.objects["ConsumerGroup", *KEY]
    stage.api.objects["ConsumerGroup", *KEY] = {**known, "spec": {**known["spec"], "connectionRef": {"name": "shared"}}}
    stage.see(stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, generation=3))


def theirs(at: float) -> GroupObservation:
    return observation(members(*range(10)), at=at)


async def test_who_was_never_in_its_kafka_takes_nobody_out() -> None:
    """He begins with brokers of his own, that say what he likes, asks for ten pods, which sleep, and scales to one;
    only then he refers to the shared connection."""
    stage = Stage(replicas=10)
    stage.connections.cluster_ids[KEY] = "evil"
    await passes(stage, nobody)
    await settle(stage, range(10))
    await passes(stage, nobody, 4)
    stage.scale(1)
    await passes(stage, nobody, 4)
    await settle(stage, range(1))
    await passes(stage, nobody, 4)
    refer_to_the_shared_one(stage)
    stage.connections.cluster_ids[KEY] = "good"
    await passes(stage, theirs, 2)
    await settle(stage, range(1))
    await passes(stage, theirs, 6)
    assert stage.connections.kafka.removed == [], (
        "live members of another team, in a cluster where this one never had any"
    )


async def test_a_group_that_no_pod_of_it_was_ever_in_keeps_its_offsets() -> None:
    stage = DeletionStage(deletionPolicy="DeleteGroup", groupId="nightly", ended_here=False)
    stage.remember(targetHash="abc", neverRan=True)  # as the operator writes it until a pod has run
    stage.add_pods()
    running = {"name": "consumer", "state": {"running": {"startedAt": "2026-01-01T00:00:10Z"}}}
    stage.api.objects["Pod", KEY.namespace, "payments-0"]["status"] = {
        "phase": "Running",
        "containerStatuses": [running],
    }
    stage.connections.seen = empty = observation(())  # nobody of ours is, or was, in it
    stage.connections.history = watched(empty)
    await stage.run()
    del stage.api.objects["Pod", KEY.namespace, "payments-0"]
    await stage.run()
    assert stage.is_gone
    assert stage.connections.kafka.deleted == [], "no member of this object's pods was ever seen in it"


async def test_settings_of_a_group_that_no_pod_of_it_was_ever_in_are_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Stage(
        groupId="nightly",
        protocol={"target": "Consumer"},
        client={"library": "Java", "version": "4.3"},
        timeouts={"consumer": {"session": "60s"}},
    )
    altered: list[Any] = []

    async def alter(group_id: str, values: Any) -> None:
        altered.append((group_id, dict(values)))

    stage.connections.kafka.alter_group_settings = alter  # type: ignore[attr-defined]
    for n in range(12):
        stage.later_s += 2
        kafka = observation(
            (stranger(),), at=stage.now(), type=GroupType.CONSUMER, assignor="uniform", epoch=4, settings={}
        )
        stage.connections.seen, stage.connections.history = kafka, watched(kafka)
        await stage.run()
        if n in (4, 7):
            await settle(stage, range(3))
    assert altered == [], "whose members are all strangers"
