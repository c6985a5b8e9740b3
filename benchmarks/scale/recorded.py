"""One group at rest as the API server has it: brought there by the operator itself, and then copied under other names.

The reconciler of the operator makes its objects over a cluster in memory; what others would do, the StatefulSet
controller, the kubelets and the consumers, is played here. Pods, and who manages which field, are as large as a real
API server's.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slackwater.adapters.cluster.paths import (
    CONSUMER_GROUP,
    KAFKA_CONNECTION,
    POD,
    POD_DISRUPTION_BUDGET,
    SERVICE,
    STATEFUL_SET,
)
from slackwater.api.annotations import TEMPLATE_HASH
from slackwater.api.errors import SlackwaterError
from slackwater.api.timestamps import timestamp
from slackwater.core.world.observation import (
    GroupObservation,
    GroupState,
    GroupType,
    Member,
    PartitionOffsets,
    TopicPartition,
)
from slackwater.ports import Kind
from slackwater.shell.store import Key

Json = dict[str, Any]

NAMESPACE, CONNECTION = "default", "main"
NAME: Final = "group-000000"
PARTITIONS: Final = 6
"""Of the one topic that each group has for itself."""
KINDS: Final = (CONSUMER_GROUP, STATEFUL_SET, SERVICE, POD_DISRUPTION_BUDGET, POD)
KEY: Final = Key(NAMESPACE, NAME)
_SERVICE_ACCOUNT: Final = ("serviceAccountName", "serviceAccount")
"""Written into each StatefulSet, and no part of the digest."""


class NotAtRest(SlackwaterError):
    """A group that was to be at rest is not."""


def name_of(number: int) -> str:
    return f"group-{number:06}"


def topic_of(name: str) -> str:
    return f"orders-of-{name}"


@dataclass(frozen=True)
class Recorded:
    """Objects of group `NAME`, by kind, as JSON."""

    pods: int
    connection: Json
    texts: Mapping[Kind, tuple[str, ...]]

    def objects(self, kind: Kind, number: int) -> Iterator[Json]:
        """Those of one of the copies, each made again."""
        return map(json.loads, self.text_of(kind, number))

    def text_of(self, kind: Kind, number: int) -> tuple[str, ...]:
        name = name_of(number)
        digest, version = _hash_in(self._template.replace(NAME, name)), f'"resourceVersion": "{number + 1}"'
        return tuple(
            each.replace(NAME, name).replace(self._hash, digest).replace('"resourceVersion": "1"', version)
            for each in self.texts[kind]
        )

    @property
    def _hash(self) -> str:
        return str(json.loads(self._template)["metadata"]["annotations"][TEMPLATE_HASH])

    @property
    def _template(self) -> str:
        return json.dumps(json.loads(self.texts[STATEFUL_SET][0])["spec"]["template"])


def _hash_in(template: str) -> str:
    """As `render_template` makes it; that a copy's pass finds nothing to do proves that it is right."""
    body = json.loads(template)
    del body["metadata"]["annotations"][TEMPLATE_HASH]
    for written in _SERVICE_ACCOUNT:
        body["spec"].pop(written, None)
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]


def view_of(name: str, pods: int, at: float) -> GroupObservation:
    """Of a group whose every pod is a member, and that has read all there is."""
    topic = topic_of(name)
    partitions = frozenset(TopicPartition(topic, number) for number in range(PARTITIONS))
    members = tuple(
        Member(f"{name}-{pod}-4be2", f"{name}-{pod}", "consumer", f"/{address_of(pod)}", _owned(partitions, pod, pods))
        for pod in range(pods)
    )
    state = GroupState.STABLE if members else GroupState.EMPTY
    offsets = dict.fromkeys(partitions, PartitionOffsets(100, 100))
    return GroupObservation(
        name, at, state, GroupType.CLASSIC, "range" if members else "", coordinator=1, members=members,
        partitions=partitions, offsets=offsets, answered_at=at,
    )  # fmt: skip


def _owned(partitions: frozenset[TopicPartition], pod: int, pods: int) -> frozenset[TopicPartition]:
    return frozenset(each for each in partitions if each.partition % pods == pod)


def address_of(pod: int) -> str:
    return f"10.0.0.{pod + 1}"


def group_object(pods: int) -> Json:
    """As people write it."""
    resources = {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}}
    probe = {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 5}
    env = [{"name": f"SETTING_{number}", "value": f"value-{number}"} for number in range(8)]
    container = {
        "name": "consumer",
        "image": "registry.example.com/team/consumer:1.2.3",
        "env": env,
        "ports": [{"name": "http", "containerPort": 8080}],
        "readinessProbe": probe,
        "resources": resources,
    }
    template = {"metadata": {"labels": {"app": NAME}}, "spec": {"containers": [container]}}
    spec = {
        "groupId": NAME,
        "connectionRef": {"name": CONNECTION},
        "topics": [topic_of(NAME)],
        "replicas": pods,
        "client": {"library": "Librdkafka", "version": "2.12.1"},
        "rollout": {"stableFor": "1s"},
        "template": template,
    }
    metadata = {"name": NAME, "namespace": NAMESPACE, "uid": f"0f1e2d3c-0000-4000-8000-{NAME}", "generation": 1}
    metadata |= {"resourceVersion": "1", "creationTimestamp": timestamp(time.time() - 7200), "finalizers": []}
    return {"apiVersion": CONSUMER_GROUP.api_version, "kind": "ConsumerGroup", "metadata": metadata, "spec": spec}


def connection_object(bootstrap_servers: str) -> Json:
    metadata = {"name": CONNECTION, "namespace": NAMESPACE, "uid": "connection", "generation": 1}
    metadata |= {"resourceVersion": "1"}
    spec = {"bootstrapServers": bootstrap_servers}
    return {"apiVersion": KAFKA_CONNECTION.api_version, "kind": "KafkaConnection", "metadata": metadata, "spec": spec}


def controlled(workload: Json, pods: int) -> Json:
    """What its controller says of a StatefulSet whose pods are all up."""
    revision = f"{workload['metadata']['name']}-7c9d8b6f5"
    status = {
        "observedGeneration": workload["metadata"]["generation"],
        "currentRevision": revision,
        "updateRevision": revision,
        "replicas": pods,
        "readyReplicas": pods,
        "currentReplicas": pods,
        "updatedReplicas": pods,
        "availableReplicas": pods,
        "collisionCount": 0,
    }
    return {**workload, "status": status}


def pod_object(workload: Json, ordinal: int, at: float) -> Json:
    """As a kubelet has brought it up."""
    whose = workload["metadata"]["name"]
    template, name, began = workload["spec"]["template"], f"{whose}-{ordinal}", timestamp(at)
    named = {"controller-revision-hash": workload["status"]["updateRevision"]}
    named |= {"statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": str(ordinal)}
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": whose, "uid": workload["metadata"]["uid"]}
    metadata = {
        "name": name,
        "generateName": f"{whose}-",
        "namespace": NAMESPACE,
        "uid": f"5a6b7c8d-{ordinal:04}-4000-8000-{whose}",
        "creationTimestamp": began,
        "labels": {**template["metadata"]["labels"], **named},
        "annotations": template["metadata"]["annotations"],
        "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
    }
    token = {"name": "kube-api-access-x7k2p", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    containers = [{**each, "volumeMounts": [token]} for each in template["spec"]["containers"]]
    tolerations = [
        {"key": f"node.kubernetes.io/{why}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for why in ("not-ready", "unreachable")
    ]
    sources = [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}]
    sources += [{"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}]
    volume = {"name": token["name"], "projected": {"sources": sources, "defaultMode": 420}}
    placed = {"nodeName": "node-1", "tolerations": tolerations, "volumes": [volume], "hostname": name}
    spec = {**template["spec"], **placed, "containers": containers, "subdomain": whose, "schedulerName": "default"}
    conditions = [
        {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": began}
        for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]
    statuses = [
        {
            "name": each["name"],
            "image": each["image"],
            "imageID": f"{each['image']}@sha256:{'0' * 64}",
            "containerID": f"containerd://{name}-{each['name']}",
            "ready": True,
            "started": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": began}},
            "lastState": {},
        }
        for each in containers
    ]
    ip = address_of(ordinal)
    status = {"phase": "Running", "conditions": conditions, "containerStatuses": statuses, "startTime": began}
    status |= {"podIP": ip, "podIPs": [{"ip": ip}], "hostIP": "10.1.0.1", "hostIPs": [{"ip": "10.1.0.1"}]}
    return managed(
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status},
        ("kube-controller-manager", ("metadata", "spec")),
        ("kubelet", ("status",)),
    )


def managed(obj: Json, *managers: tuple[str, tuple[str, ...]]) -> Json:
    """With who has written which parts of it, as the API server keeps it."""
    entries = [
        {
            "manager": manager,
            "operation": "Apply",
            "apiVersion": obj["apiVersion"],
            "time": "2026-11-01T00:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": fields_of({part: obj[part] for part in parts if part in obj}),
        }
        for manager, parts in managers
    ]
    return {**obj, "metadata": {**obj["metadata"], "managedFields": entries}}


def fields_of(value: Any) -> Json:
    """As `fieldsV1` has them."""
    if isinstance(value, Mapping):
        return {f"f:{key}": fields_of(each) for key, each in value.items()}
    if isinstance(value, list) and all(isinstance(each, Mapping) and "name" in each for each in value):
        return {f'k:{{"name":"{each["name"]}"}}': {".": {}, **fields_of(each)} for each in value}
    return {}


def recorded_of(objects: Mapping[tuple[str, str, str], Json], pods: int) -> Recorded:
    """`objects`: those of a cluster in memory, with `NAME` at rest."""
    found: dict[Kind, list[str]] = {kind: [] for kind in KINDS}
    by_name = {kind.name: kind for kind in KINDS}
    for (kind, _, _), obj in objects.items():
        if kind in by_name:
            metadata = {**obj["metadata"], "resourceVersion": "1"}
            whole = {**obj, "apiVersion": by_name[kind].api_version, "kind": kind, "metadata": metadata}
            if "managedFields" not in metadata:
                whole = managed(whole, ("slackwater", ("metadata", "spec")), ("controller", ("status",)))
            found[by_name[kind]].append(json.dumps(whole))
    counts = Counter({kind: len(those) for kind, those in found.items()})
    if counts != Counter({kind: pods if kind is POD else 1 for kind in KINDS}) - Counter() and pods:
        raise NotAtRest(f"the recorded group has not all of its objects: {counts}")
    connection = objects["KafkaConnection", NAMESPACE, CONNECTION]
    return Recorded(pods, connection, {kind: tuple(those) for kind, those in found.items()})
