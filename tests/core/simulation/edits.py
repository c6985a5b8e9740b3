"""Every field of a ConsumerGroup, and how a history edits it: what is drawn, as changes of the spec.

Names are paths in the spec. What goes together in an edit stands together: an image has the number of members that it
has, a session goes when KIP-848 comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from tests.core.simulation.life import Changes
from tests.core.simulation.outside import SESSION_S
from tests.core.simulation.versions import NOT_DRAWN, VERSIONS

Draw = Callable[[Random], Changes]
GOOD: Final = ("v1", "v2", "v3")
BAD: Final = tuple(name for name, version in VERSIONS.items() if not version.works)
JOINS_WRONGLY: Final = ("nameless", "comes-and-goes")
LOSES_A_THREAD: Final = "loses-a-thread"
"""Histories do not draw it: for as long as the dead thread's session lasts nobody sees that its pod does not serve, and
where `stableFor` is shorter than that the next pod may go."""
OF_TWO: Final = {LOSES_A_THREAD: "loses-one-of-two", "stands-from-the-start": "stands-in-one-of-two"}
"""Where two members are asked for: what is left of three would be whole."""
WORKS_WRONGLY: Final = ("calls-itself-0", "ends-and-ends", "refunds-only", "stands-from-the-start")
"""Histories do not draw them, so that their seeds go on meaning what they mean."""
OTHERS: Final = ("two-threads", "three-threads")
CONTAINER: Final = "template.spec.containers"


def one_of(path: str, *values: Any) -> Draw:
    return lambda random: ((path, random.choice(values)),)


def image(version: str, name: str = "consumer", **container: Any) -> Changes:
    """With the number of members that the version has."""
    members = {**VERSIONS, **NOT_DRAWN}[version].members
    containers = [{"name": name, "image": f"consumer:{version}", **container}]
    return ((CONTAINER, containers), ("membersPerPod", members), ("client.container", name))


def _template(random: Random) -> Changes:
    versions = random.choices((GOOD, BAD, JOINS_WRONGLY, OTHERS), (6, 2, 1, 1))[0]
    resources = random.choice(({}, {}, {"resources": {"limits": {"memory": "64Mi"}}}))
    own = random.choice(({}, {}, {"env": [{"name": "LOG_LEVEL", "value": random.choice(("info", "debug"))}]}))
    return image(random.choice(versions), random.choice(("consumer", "consumer", "worker")), **resources, **own)


def _labels(random: Random) -> Changes:
    return (("template.metadata", {"labels": {"team": random.choice("ab")}}),)


def _target(random: Random) -> Changes:
    """Classic timeouts have no place under KIP-848."""
    target = random.choice((None, "Eager", "Cooperative", "Consumer"))
    session = None if target == "Consumer" else f"{SESSION_S}s"
    return (("protocol.target", target), ("timeouts.session", session), ("timeouts.heartbeat", None))


def _client(random: Random) -> Changes:
    library, version = random.choice(
        (("Librdkafka", "2.12.1"), ("Librdkafka", "2.3"), ("Java", "2.8"), ("Java", "2.3"), ("FranzGo", "1.18"))
    )
    # Java's consumers offer both assignors by themselves since 3.0; the simulated ones offer range, whatever is said.
    return (("client.library", library), ("client.version", version))


def _streams(random: Random) -> Changes:
    version = random.choice(("3.9", "2.3"))
    upgrade_from = random.choice(("2.3", None))
    streams = (("client.library", "KafkaStreams"), ("client.version", version))
    return (*streams, ("protocol.target", "Cooperative"), ("protocol.upgradeFrom", upgrade_from))


def _own_profiles(random: Random) -> Changes:
    """Of a library that the operator does not know."""
    assignors = {"Eager": "range", "EagerAndCooperative": "range,cooperative", "Cooperative": "cooperative"}
    given: dict[str, Any] = {name: {"partition.assignment.strategy": each} for name, each in assignors.items()}
    given["Consumer"] = {"group.protocol": "consumer"}
    profiles = {name: given[name] for name in random.sample(sorted(given), k=random.randint(1, len(given)))}
    return (("client.library", "Other"), ("client.version", None), ("protocol.profiles", profiles))


EDITS: Final[Mapping[str, Draw]] = {
    "replicas": one_of("replicas", 0, 1, 2, 3, 3, 4, 5),
    "topics": one_of("topics", ["orders"], ["orders", "refunds"]),
    "membersPerPod": one_of("membersPerPod", 1, 1, 2, 3),
    "membership": one_of("membership", "Static", "Static", "Dynamic"),
    "connectionRef": lambda random: (("connectionRef", {"name": random.choice(("main", "other"))}),),
    "client": _client,
    "client of Streams": _streams,
    "client of nobody knows what": _own_profiles,
    "client.envPrefix": one_of("client.envPrefix", "KAFKA_", "SPRING_", None),
    "client.metrics": one_of("client.metrics", {"port": 9102}, {"port": 9102, "path": "/m"}, None),
    "protocol.target": _target,
    "protocol.allowDowntime": one_of("protocol.allowDowntime", True, False),
    "timeouts.mode": one_of("timeouts.mode", "Off", "Recommend", "Auto"),
    "timeouts.session": one_of("timeouts.session", "12s", "15s", "20s"),
    "timeouts.heartbeat": one_of("timeouts.heartbeat", "2s", "3s", None),
    "timeouts.consumer": one_of("timeouts.consumer", {"session": "50s", "heartbeat": "6s"}, {"session": "45s"}, None),
    "timeouts.maxPollInterval": one_of("timeouts.maxPollInterval", "6m", None),
    "timeouts.maxPollRecords": one_of("timeouts.maxPollRecords", 100, None),
    "timeouts.objective": one_of(
        "timeouts.objective", {"recoverWithin": "30s", "needlessRebalancesPerMonth": 1.0}, None
    ),
    "timeouts.warmUp": one_of("timeouts.warmUp", "1m", None),
    "rollout.strategy": one_of("rollout.strategy", "InPlace", "WarmHandover"),
    "rollout.handover": one_of("rollout.handover", "Overlapping", "Predictive"),
    "rollout.surgeTimeout": one_of("rollout.surgeTimeout", "15s", None),
    "rollout.stableFor": one_of("rollout.stableFor", "0s", "3s", "6s"),
    "rollout.maxLag": one_of("rollout.maxLag", {"absolute": 5000}, {"growth": 3000}, None),
    "rollout.rejoinTimeout": one_of("rollout.rejoinTimeout", "20s", "30s"),
    "rollout.onFailure": one_of("rollout.onFailure", "Pause", "Rollback"),
    "rollout.canary": one_of("rollout.canary", [{"replicas": 1, "hold": "8s"}], [{"replicas": 1}], None),
    "deletionPolicy": one_of("deletionPolicy", "Retain", "DeleteGroup"),
    "template": _template,
    "template.metadata": _labels,
}

NEVER_EDITED: Final[Mapping[str, str]] = {
    "groupId": "it cannot be changed: the API server refuses that, as tests/e2e show",
    "connectionRef.kind": "no decision tells one kind from the other: tests/shell, tests/e2e/rights",
    "rollout.maxUnavailable": "histories' seeds go on meaning what they mean: test_several plays them with it",
    "rollout.canary.percent": "likewise: test_several",
    "volumeClaimTemplates.metadata.name": "likewise: test_volumes",
    "volumeClaimTemplates.spec.accessModes": "likewise: test_volumes",
    "persistentVolumeClaimRetentionPolicy.whenDeleted": "likewise: test_volumes",
    "persistentVolumeClaimRetentionPolicy.whenScaled": "likewise: test_volumes",
    "readinessGate": "the simulation's pods have no conditions: tests/core/members/test_rejoined.py, tests/e2e/rights",
    "disruptionBudget.enabled": "no decision sees the budget: tests/shell/test_reconciler_beside.py",
    "disruptionBudget.maxUnavailable": "likewise: tests/core/manifests",
    "disruptionBudget.unhealthyPodEvictionPolicy": "likewise: tests/core/manifests",
}
"""Path → why no history edits it."""
