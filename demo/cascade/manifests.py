"""What is applied to the cluster, as plain objects. Pure.

Every mode has the same consumers with the same group settings: Kafka's own Java client, whose process takes its time
to start. Bystanders are plain Deployments in every mode.
"""

from __future__ import annotations

from typing import Any, Final

from demo import modes as rollouts
from demo.cascade import modes
from demo.cascade.cast import Actor, Cast
from demo.cascade.modes import Mode
from demo.manifests import CONNECTION, RESTRICTED, object_of, pod_name, pod_template, variables, workload_of
from demo.modes import Kind
from sandbox.images import CONSUMER, KAFKA_TOOLS

Json = dict[str, Any]

LOAD: Final = "load"
FLEET: Final = "everybody"
BAD_IMAGE: Final = "slackwater/kafka-tools:bad-base"
"""Nobody has built it."""
_API: Final = "slackwater.dev/v1alpha1"
_ASSIGNOR: Final = "org.apache.kafka.clients.consumer.RangeAssignor"
_JAVA: Final = rollouts.Client.JAVA


def load(cast: Cast, servers: str) -> Json:
    """The producers: one container for each topic."""
    containers = [
        {
            "name": f"topic-{number}",
            "image": CONSUMER,
            "imagePullPolicy": "Never",
            "command": [
                *("python3", "-m", "sandbox.workload.producer", "--topic", topic),
                *("--rate", str(modes.MESSAGES_PER_PARTITION_S)),
            ],
            "env": variables({"KAFKA_BOOTSTRAP_SERVERS": servers}),
            "securityContext": RESTRICTED,
        }
        for number, topic in enumerate(cast.topics, start=1)
    ]
    spec = workload_of(LOAD, 1, containers[0])
    spec["template"]["spec"]["containers"] = containers
    return object_of("apps/v1", "Deployment", LOAD, spec)


def bystanders(cast: Cast, servers: str) -> list[Json]:
    """Dynamic members: a session that ends costs them a rebalance."""
    return [_bystander(actor, servers) for actor in cast.bystanders]


def fleet(mode: Mode) -> list[Json]:
    """The ConsumerFleet of a mode that has one."""
    return [object_of(_API, "ConsumerFleet", FLEET, mode.fleet)] if mode.fleet is not None else []


def groups(mode: Mode, cast: Cast, version: str, servers: str) -> list[Json]:
    """What runs all groups with this version: what one `kubectl apply` is given."""
    return [_group(mode, actor, version, servers) for actor in cast.groups]


def _group(mode: Mode, actor: Actor, version: str, servers: str) -> Json:
    container = _consumer(mode, actor, version)
    if mode.kind is Kind.CONSUMER_GROUP:
        return object_of(_API, "ConsumerGroup", actor.name, _consumer_group(actor, container))
    container["env"] += _by_hand(actor, servers, _ASSIGNOR, modes.SESSION_S)
    container["env"] += [pod_name("KAFKA_GROUP_INSTANCE_ID")] if mode.is_static else []
    spec = workload_of(actor.name, modes.MEMBERS, container)
    if mode.kind is Kind.DEPLOYMENT:
        return object_of("apps/v1", "Deployment", actor.name, spec)
    spec |= {"serviceName": actor.name, "podManagementPolicy": "Parallel"}
    return object_of("apps/v1", "StatefulSet", actor.name, spec)


def _consumer_group(actor: Actor, container: Json) -> Json:
    return {
        "groupId": actor.group_id,
        "connectionRef": {"name": CONNECTION},
        "topics": [actor.topic],
        "replicas": modes.MEMBERS,
        "client": {"library": _JAVA.value, "version": _JAVA.version},
        "protocol": {"target": "Eager"},
        "timeouts": {
            "maxPollInterval": f"{modes.MAX_POLL_INTERVAL_S}s",
            "session": f"{modes.SESSION_S}s",
            "heartbeat": f"{modes.HEARTBEAT_S}s",
        },
        "rollout": {
            "stableFor": f"{modes.STABLE_FOR_S}s",
            "rejoinTimeout": f"{modes.REJOIN_TIMEOUT_S}s",
            "onFailure": "Rollback",
        },
        "template": pod_template(actor.name, container),
    }


def _consumer(mode: Mode, actor: Actor, version: str) -> Json:
    is_bad = mode.bad_image and version == modes.SECOND
    return _container(actor, BAD_IMAGE if is_bad else KAFKA_TOOLS, {"VERSION": version})


def _bystander(actor: Actor, servers: str) -> Json:
    container = _container(actor, CONSUMER, {"VERSION": modes.FIRST})
    container["env"] += _by_hand(actor, servers, "range", modes.BYSTANDER_SESSION_S)
    return object_of("apps/v1", "Deployment", actor.name, workload_of(actor.name, modes.BYSTANDER_MEMBERS, container))


def _container(actor: Actor, image: str, values: dict[str, str]) -> Json:
    given = {**values, "TOPICS": actor.topic, "DELIVERIES_TOPIC": actor.deliveries_topic}
    return {
        "name": "consumer",
        "image": image,
        "imagePullPolicy": "Never",  # what is not on the node is nowhere
        "env": [*variables(given), pod_name("POD_NAME")],
        # A process that works and is late with an answer is not taken for one that does not work.
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 1, "failureThreshold": 30},
        "securityContext": RESTRICTED,
    }


def _by_hand(actor: Actor, servers: str, assignor: str, session_s: int) -> list[Json]:
    """What the operator writes into a ConsumerGroup's pods, but for the instance id."""
    return variables(
        {
            "KAFKA_BOOTSTRAP_SERVERS": servers,
            "KAFKA_GROUP_ID": actor.group_id,
            "KAFKA_PARTITION_ASSIGNMENT_STRATEGY": assignor,
            "KAFKA_SESSION_TIMEOUT_MS": str(session_s * 1000),
            "KAFKA_HEARTBEAT_INTERVAL_MS": str(modes.HEARTBEAT_S * 1000),
            "KAFKA_MAX_POLL_INTERVAL_MS": str(modes.MAX_POLL_INTERVAL_S * 1000),
        }
    )
