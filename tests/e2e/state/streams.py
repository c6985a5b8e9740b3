"""Kafka Streams applications on the sandbox's node: their volumes, and what they say of restoration.

The node has no provisioner. Its PersistentVolumes are folders, made before the claims that they are for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from confluent_kafka import Consumer, TopicPartition

from sandbox.images import STREAMS
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import PARTITIONS, REPLICAS, with_env, with_image
from tests.e2e.stage.stage import Stage

THREADS: Final = 2
READ_S: Final = 5.0
CLAIM: Final = "state"


def claim(storage: str = "1Gi") -> Json:
    """Of no storage class: only a volume that is meant for it will do."""
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "",
        "resources": {"requests": {"storage": storage}},
    }
    return {"metadata": {"name": CLAIM}, "spec": spec}


def streams_group(stage: Stage, name: str, **settings: Any) -> Json:
    """Three pods of two threads each, which count the words of the loaded topic, not applied yet."""
    client = {"library": "KafkaStreams", "version": "4.3.0"}
    timeouts = {"session": "60s"}
    asked = {"membersPerPod": THREADS, "client": client, "timeouts": timeouts, "volumeClaimTemplates": [claim()]}
    group = with_image(stage.group(name, **{**asked, **settings}), STREAMS)
    group = with_env(
        group,
        START_DELAY_SECONDS=None,
        OUTPUT_TOPIC=output_of(stage, name),
        KAFKA_STATE_DIR="/state",
        KAFKA_AUTO_OFFSET_RESET="earliest",
        KAFKA_REPLICATION_FACTOR="1",
    )
    group["spec"]["template"]["spec"]["volumes"] = []  # the claim of that name instead
    container = group["spec"]["template"]["spec"]["containers"][0]
    container["startupProbe"] = {**container["readinessProbe"], "failureThreshold": 120}
    return group


def output_of(stage: Stage, name: str) -> str:
    """Removed with the stage: its name begins with the topic's."""
    return f"{stage.topic}-{name}-counts"


@contextmanager
def volumes(stage: Stage, name: str, folder: Path) -> Iterator[None]:
    """A folder of this machine for each pod's claim, which whoever runs in the pod may write to."""
    made = [_volume(stage, f"{CLAIM}-{name}-{ordinal}", folder / str(ordinal)) for ordinal in range(REPLICAS)]
    for each in made:
        path = Path(each["spec"]["hostPath"]["path"])
        path.mkdir(parents=True)
        path.chmod(0o777)
    stage.cluster.apply(*made)
    try:
        yield
    finally:
        stage.cluster.kubectl("delete", "pv", *(each["metadata"]["name"] for each in made), "--wait=false")


def _volume(stage: Stage, claimed_by: str, folder: Path) -> Json:
    namespace = stage.cluster.namespace
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{namespace}-{claimed_by}"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "",
            "claimRef": {"namespace": namespace, "name": claimed_by},
            "hostPath": {"path": str(folder.absolute())},
        },
    }


def restored(stage: Stage, name: str) -> dict[str, int]:
    """By pod, how many records it has read from changelogs since it started."""
    found = {}
    for pod in stage.cluster.pods(name):
        called = pod["metadata"]["name"]
        path = f"/api/v1/namespaces/{stage.cluster.namespace}/pods/{called}:8080/proxy/restored"
        found[called] = int(stage.cluster.kubectl("get", "--raw", path))
    return found


def counts(stage: Stage, topic: str, partitions: int = PARTITIONS) -> dict[str, int]:
    """Of each word the last count that was written."""
    reader = Consumer(
        {"bootstrap.servers": stage.kafka.bootstrap_servers, "group.id": "none", "enable.auto.commit": False}
    )
    found: dict[str, int] = {}
    try:
        ends = {n: reader.get_watermark_offsets(TopicPartition(topic, n))[1] for n in range(partitions)}
        left = {number: end for number, end in ends.items() if end}
        reader.assign([TopicPartition(topic, number, 0) for number in left])
        while left:
            record = reader.poll(READ_S)
            assert record is not None and record.error() is None, f"no record for {READ_S} s, {left} to come"
            key, value = record.key(), record.value()
            assert isinstance(key, bytes) and isinstance(value, bytes)
            found[key.decode()] = int.from_bytes(value, "big")
            number, offset = record.partition(), record.offset()
            if number in left and offset is not None and offset + 1 >= left[number]:
                del left[number]
    finally:
        reader.close()
    return found
