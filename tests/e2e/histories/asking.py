"""What people ask for, as a ConsumerGroup, and what a pod then has. Pure: no cluster, no Kafka.

What goes together in an edit stands together: a spec has the topics, the threads and the timeouts that its image reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import consumer_group, with_env

Asked = dict[str, Any]
BEGINS_WITH: Final[Mapping[str, Any]] = {
    "version": "1",
    "bad": False,
    "poll": "5m",
    "team": "a",
    "topics": "shared",
    "membership": "Static",
    "membersPerPod": 1,
    "container": "consumer",
    "client": "2.16.1",
    "session": "45s",
}
"""Whatever is not in it is left to the defaults until somebody edits it."""
_ROLLOUT: Final = ("canary", "surgeTimeout")
_NO_BOUND: Final = {"absolute": None, "growth": None}
_NO_CONSUMER: Final = {"session": None, "heartbeat": None}
"""A patch that names the one leaves the other."""
_ROLLOUT_WITH_DEFAULT: Final = ("onFailure", "handover")
_SPEC_WITH_DEFAULT: Final = ("deletionPolicy", "readinessGate")
_BUDGET: Final = ("enabled", "maxUnavailable", "unhealthyPodEvictionPolicy")
_TIMEOUTS: Final = ("mode", "maxPollRecords", "objective")
_REFRESH_MS: Final = "2000"
"""For how long a client may overlook that a topic has grown: five minutes by default."""
_ENV: Final = (
    "VERSION",
    "NEVER_JOIN",
    "TOPICS",
    "MEMBERS",
    "KAFKA_MAX_POLL_INTERVAL_MS",
    "KAFKA_SESSION_TIMEOUT_MS",
    "KAFKA_HEARTBEAT_INTERVAL_MS",
    "KAFKA_BOOTSTRAP_SERVERS",
    "KAFKA_PARTITION_ASSIGNMENT_STRATEGY",
)
_OURS_ALONE: Final = (
    "slackwater.dev/",
    "controller-revision-hash",
    "statefulset.kubernetes.io/",
    "apps.kubernetes.io/",
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a group lives: what its manifest has that nobody edits."""

    cluster: Cluster
    name: str
    shared_topic: str
    servers: str
    rejoin: str

    @property
    def own_topic(self) -> str:
        return f"{self.shared_topic}-{self.name}"

    def topics(self, asked: Asked) -> list[str]:
        both = {"shared": [self.shared_topic], "own": [self.own_topic]}
        return both.get(asked["topics"], [self.shared_topic, self.own_topic])


def is_kip_848(asked: Asked) -> bool:
    return asked.get("target") == "Consumer"


def manifest(asked: Asked, place: Place) -> Json:
    rollout = {"stableFor": asked.get("stableFor", "1s"), "rejoinTimeout": place.rejoin, "strategy": _strategy(asked)}
    rollout |= {name: asked.get(name) for name in _ROLLOUT}
    rollout["maxLag"] = asked.get("maxLag") and {**_NO_BOUND, **asked["maxLag"]}
    rollout |= {name: asked[name] for name in _ROLLOUT_WITH_DEFAULT if name in asked}
    topics = place.topics(asked)
    made = consumer_group(place.cluster, place.name, place.shared_topic, rollout)
    container = asked["container"] if asked.get("names container") else None
    client = {"version": asked["client"], "container": container, "metrics": asked.get("metrics")}
    made["spec"] |= {
        "replicas": asked["replicas"],
        "connectionRef": {"name": "main" if asked.get("connection") == "main" else place.name},
        "topics": topics,
        "membership": asked["membership"],
        "membersPerPod": asked["membersPerPod"],
        "client": {"library": "Librdkafka", **client},
        "protocol": {name: asked[name] for name in ("target", "allowDowntime") if name in asked},
        "timeouts": _timeouts(asked),
        "disruptionBudget": {name: asked[name] for name in _BUDGET if name in asked},
    }
    made["spec"] |= {name: asked[name] for name in _SPEC_WITH_DEFAULT if name in asked}
    return _with_template(made, asked, topics)


def _strategy(asked: Asked) -> str:
    """A warm handover is for static members of the classic protocol: the API server refuses it for others."""
    can = asked["membership"] == "Static" and not is_kip_848(asked)
    return str(asked.get("strategy", "InPlace")) if can else "InPlace"


def _timeouts(asked: Asked) -> Json:
    """Sessions of classic members have no place under KIP-848."""
    classic = {name: None if is_kip_848(asked) else asked.get(name) for name in ("session", "heartbeat")}
    consumer = asked.get("consumer") and {**_NO_CONSUMER, **asked["consumer"]}
    given: Json = {name: asked[name] for name in _TIMEOUTS if name in asked}
    return {"maxPollInterval": asked["poll"], "consumer": consumer, **classic, **given}


def _with_template(group: Json, asked: Asked, topics: list[str]) -> Json:
    made = with_env(
        group,
        VERSION=asked["version"],
        TOPICS=",".join(topics),
        MEMBERS=str(asked["membersPerPod"]),
        START_DELAY_SECONDS="0",
        KAFKA_TOPIC_METADATA_REFRESH_INTERVAL_MS=_REFRESH_MS,
        NEVER_JOIN="1" if asked["bad"] else None,
    )
    template = made["spec"]["template"]
    notes = {"again": asked["again"]} if "again" in asked else {}
    template["metadata"] = {"labels": {"team": asked["team"]}, "annotations": notes}
    template["spec"]["terminationGracePeriodSeconds"] = asked.get("grace", 10)
    container = template["spec"]["containers"][0]
    container["name"] = asked["container"]
    if memory := asked.get("memory"):
        container["resources"] = {"limits": {"memory": memory}, "requests": {"cpu": "1m", "memory": "16Mi"}}
    return made


def _ms(seconds: str) -> str:
    return f"{1000 * int(seconds.rstrip('s'))}"


def wanted_of_a_pod(asked: Asked, place: Place) -> Json:
    assignor = {"Eager": "range", "Cooperative": "cooperative-sticky"}.get(asked.get("target", ""))
    return {
        "VERSION": asked["version"],
        "NEVER_JOIN": "1" if asked["bad"] else None,
        "TOPICS": ",".join(place.topics(asked)),
        "MEMBERS": str(asked["membersPerPod"]),
        "KAFKA_MAX_POLL_INTERVAL_MS": f"{60_000 * int(asked['poll'].rstrip('m'))}",
        "KAFKA_SESSION_TIMEOUT_MS": None if is_kip_848(asked) else _ms(asked["session"]),
        "KAFKA_HEARTBEAT_INTERVAL_MS": None if is_kip_848(asked) else _ms(asked.get("heartbeat") or "3s"),
        "KAFKA_BOOTSTRAP_SERVERS": place.servers,
        "KAFKA_PARTITION_ASSIGNMENT_STRATEGY": assignor,
        "KIP-848": is_kip_848(asked),
        "instance id": asked["membership"] == "Static",
        "container": asked["container"],
        "memory": asked.get("memory"),
        "team": asked["team"],
        "grace": asked.get("grace", 10),
        "readiness gate": asked.get("readinessGate", False),
    }


def found_in_a_pod(pod: Json) -> Json:
    """What `wanted_of_a_pod` names, as it is."""
    spec, container = pod["spec"], pod["spec"]["containers"][0]
    env = {each["name"]: each.get("value") for each in container["env"]}
    return {name: env.get(name) for name in _ENV} | {
        "KIP-848": env.get("KAFKA_GROUP_PROTOCOL") == "consumer",
        "instance id": "KAFKA_GROUP_INSTANCE_ID" in env,
        "container": container["name"],
        "memory": ((container.get("resources") or {}).get("limits") or {}).get("memory"),
        "team": pod["metadata"]["labels"].get("team"),
        "grace": spec["terminationGracePeriodSeconds"],
        "readiness gate": any(
            each["conditionType"].startswith("slackwater") for each in spec.get("readinessGates", ())
        ),
    }


def all_that_people_see(pod: Json, name: str) -> str:
    """Of a pod, with its group's name left out: image, environment, labels, probes, whatever a template can say."""
    container = {k: v for k, v in pod["spec"]["containers"][0].items() if k not in ("volumeMounts", "env")}
    mounts = [m for m in pod["spec"]["containers"][0]["volumeMounts"] if not m["name"].startswith("kube-api-access")]
    labels = {k: v for k, v in pod["metadata"]["labels"].items() if not k.startswith(_OURS_ALONE)}
    env = sorted(pod["spec"]["containers"][0]["env"], key=lambda each: str(each["name"]))
    gates, grace = pod["spec"].get("readinessGates"), pod["spec"]["terminationGracePeriodSeconds"]
    text = json.dumps([ordinal_of(pod), labels, container, mounts, env, gates, grace], sort_keys=True)
    return text.replace(f'"{name}-$', '"GROUP-$').replace(f"-{name}", "-GROUP")


def ordinal_of(pod: Json) -> int:
    return int(pod["metadata"]["name"].rpartition("-")[2])


def session_of_the_group(asked: Asked) -> str | None:
    """In ms, where the group is to have one of its own in Kafka."""
    own = asked.get("consumer") if is_kip_848(asked) else None
    return _ms(own["session"]) if own else None
