"""Upgrades that something comes in the way of, and what the tests have to judge them by."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from tests.e2e.stage.cluster import Json, condition
from tests.e2e.stage.groups import PARTITIONS, REPLICAS, with_env
from tests.e2e.stage.kafka import Lookout, Sighting
from tests.e2e.stage.processes import kill
from tests.e2e.stage.progress import is_ready, pods_of
from tests.e2e.stage.recorder import Record
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for
from tests.e2e.upgrades.upgrade_ways import Way, aiming_at, group_before, profile_of

DEADLINE_S: Final = 420.0
REFUSED: Final = "INCONSISTENT_GROUP_PROTOCOL"
"""What a member logs that has no protocol in common with the others (F2)."""


class Fault(StrEnum):
    """What happens in the middle of a step."""

    NONE = "nothing"
    KILL_NEW = "new-pod-killed"
    """SIGKILL for the process of a pod that the step has made."""
    KILL_OLD = "old-pod-killed"
    EVICT = "old-pod-evicted"
    """The first pod is deleted, as a node's drain does, and made again: by whatever revision is the current one."""
    SCALE_UP = "scale-up"
    SCALE_DOWN = "scale-down"
    TEMPLATE = "template-change"
    ABORT = "rollback"
    """By annotation; then retry."""
    TURN = "other-target"


class Moment(StrEnum):
    """When it happens. Bounces have one moment each: when their first pod is back and the others are not made yet."""

    STEP_1 = "step-1"
    STEP_2 = "step-2"
    STOPPING = "stopping"
    """DrainCutover: the pods are told to end."""
    REMOVING = "removing"
    """The pods have ended, their members are there still."""
    STARTING = "starting"


@dataclass(frozen=True)
class Scenario:
    way: Way
    moment: Moment
    fault: Fault

    @property
    def name(self) -> str:
        """Of the group as well."""
        return f"{self.way.name}-{self.moment}-{self.fault}"

    @property
    def step(self) -> int:
        return 2 if self.moment is Moment.STEP_2 else 1

    @property
    def replicas(self) -> int:
        """In the end."""
        return {Fault.SCALE_UP: REPLICAS + 1, Fault.SCALE_DOWN: REPLICAS - 1}.get(self.fault, REPLICAS)

    @property
    def target(self) -> str:
        """Where it ends."""
        return self.way.elsewhere if self.fault is Fault.TURN else self.way.target


@dataclass
class Played:
    """One scenario, from the change of the target to its end. Moments are seconds since the epoch."""

    scenario: Scenario
    began: float = 0.0
    struck: float = 0.0
    ended: float = 0.0
    sightings: list[Sighting] = field(default_factory=list)
    pods: list[Record] = field(default_factory=list)
    """Every version of the group's pods, in their order."""
    at_the_end: list[Json] = field(default_factory=list)
    after_rollback: list[str] = field(default_factory=list)
    """The pods' profiles when the step had been taken back."""
    said_after_rollback: Json = field(default_factory=dict)
    """The condition ProtocolUpgrade then."""


def play(stage: Stage, scenario: Scenario) -> Played:
    """Run a group, ask for the other protocol, let the fault happen, and wait for the end."""
    name, way = scenario.name, scenario.way
    group = group_before(stage, name, way)
    if scenario.fault is Fault.KILL_OLD:  # one that ends at once is gone before it can be killed
        group = with_env(group, DEADLOCK_ON_SIGTERM="1")
    stage.create(group)
    played = Played(scenario)
    with Lookout(stage.kafka, stage.group_id(name)) as lookout:
        played.began = time.time()
        group = aiming_at(group, way, way.target)
        stage.cluster.apply(group)
        _wait_moment(stage, played)
        played.struck = time.time()
        _strike(stage, played, group)
        wait_for(
            f"the end of {name}", lambda: has_ended(stage, scenario), DEADLINE_S, lambda: what_is_seen(stage, scenario)
        )
        played.ended = time.time()
        played.sightings = lookout.sightings(played.began)
    played.pods = pods_of(stage.recorder.records("pods"), name)
    played.at_the_end = stage.cluster.pods(name)
    stage.cluster.kubectl("delete", "cg", name, "--wait=false")
    return played


def _wait_moment(stage: Stage, played: Played) -> None:
    scenario, began = played.scenario, played.began
    name, profile = scenario.name, scenario.way.path[scenario.step]

    def has_a_new_pod(obj: Json) -> bool:
        back = is_ready(obj) or scenario.moment is Moment.STARTING
        return _is_of(obj, name) and profile_of(obj) == profile and back

    def is_stopping(obj: Json) -> bool:
        return bool(obj["metadata"]["name"] == name and obj["spec"]["replicas"] == 0)

    if scenario.moment in (Moment.STOPPING, Moment.REMOVING):
        stage.recorder.first(f"{name} stopping", "statefulsets", is_stopping, began, DEADLINE_S)
    else:
        stage.recorder.first(f"{scenario.moment} of {name}", "pods", has_a_new_pod, began, DEADLINE_S)
    if scenario.moment is Moment.REMOVING:
        wait_for(f"{name} having ended", lambda: _nobody_left(stage, name, began), DEADLINE_S)


def _nobody_left(stage: Stage, group: str, since: float) -> bool:
    gone = {r.name for r in pods_of(stage.recorder.records("pods", since), group) if r.deleted}
    return len(gone) == REPLICAS


def _strike(stage: Stage, played: Played, group: Json) -> None:
    scenario, cluster, name = played.scenario, stage.cluster, played.scenario.name
    match scenario.fault:
        case Fault.NONE:
            pass
        case Fault.KILL_NEW | Fault.KILL_OLD:
            _kill_one(stage, scenario)
        case Fault.EVICT:
            cluster.kubectl("delete", "pod", f"{name}-0", "--wait=false")
        case Fault.SCALE_UP | Fault.SCALE_DOWN:
            cluster.patch("cg", name, {"spec": {"replicas": scenario.replicas}})
        case Fault.TEMPLATE:
            cluster.apply(with_env(group, VERSION="2"))
        case Fault.TURN:
            cluster.apply(aiming_at(group, scenario.way, scenario.way.elsewhere))
        case Fault.ABORT:
            cluster.annotate(name, "abort", "1")
            wait_for(
                f"{name} rolled back", lambda: _is_back(stage, name), DEADLINE_S, lambda: what_is_seen(stage, scenario)
            )
            played.after_rollback = [profile_of(pod) for pod in cluster.pods(name)]
            played.said_after_rollback = cluster.condition(name, "ProtocolUpgrade")
            cluster.annotate(name, "retry", "1")


def _kill_one(stage: Stage, scenario: Scenario) -> None:
    new = scenario.way.path[scenario.step]

    def find() -> bool:
        chosen = [
            p for p in _all_pods(stage, scenario.name) if (profile_of(p) == new) == (scenario.fault is Fault.KILL_NEW)
        ]
        return any(kill(pod) for pod in chosen)

    wait_for(f"a process of {scenario.name} to kill", find, 30.0)


def _all_pods(stage: Stage, group: str) -> list[Json]:
    """Those that are on their way out, too."""
    found, _ = stage.cluster.api.list_all("pods", stage.cluster.namespace, f"slackwater.dev/group={group}")
    return found


def _is_back(stage: Stage, name: str) -> bool:
    obj = stage.cluster.get("cg", name) or {}
    pods = stage.cluster.pods(name)
    phase = (obj.get("status") or {}).get("rollout", {}).get("phase")
    return phase == "RolledBack" and len(pods) == REPLICAS and all(is_ready(pod) for pod in pods)


def has_ended(stage: Stage, scenario: Scenario) -> bool:
    """The operator says that the group is where it should be, and so does the broker."""
    obj = stage.cluster.get("cg", scenario.name) or {}
    status = obj.get("status") or {}
    protocol = status.get("protocol") or {}
    says = (
        status.get("observedGeneration") == obj["metadata"]["generation"]
        and protocol.get("current") == protocol.get("target") == scenario.target
        and "strategy" not in protocol
        and condition(obj, "ProtocolUpgrade").get("reason") == "ProtocolAsWanted"
        and status["rollout"]["phase"] == "Complete"
        and status["readyReplicas"] == status["updatedReplicas"] == scenario.replicas
    )
    if not says:
        return False
    seen = stage.kafka.look(stage.group_id(scenario.name))
    names = {f"{scenario.name}-{ordinal}" for ordinal in range(scenario.replicas)}
    return seen.state == "STABLE" and set(seen.members) == names and len(seen.owners) == seen.owned == PARTITIONS


def what_is_seen(stage: Stage, scenario: Scenario) -> str:
    said = stage.cluster.condition(scenario.name, "ProtocolUpgrade")
    pods = [(p["metadata"]["name"], profile_of(p), is_ready(p)) for p in _all_pods(stage, scenario.name)]
    return f"{said}; {pods}; {stage.kafka.look(stage.group_id(scenario.name))}; {stage.cluster.summary(scenario.name)}"


def _is_of(pod: Json, group: str) -> bool:
    return bool(pod["metadata"]["labels"].get("slackwater.dev/group") == group)


def profiles_together(records: list[Record]) -> Iterator[set[str]]:
    """After each change: the profiles of the pods that there are, those that are about to end included."""
    there: dict[str, str] = {}
    for record in records:
        if record.deleted:
            there.pop(record.name, None)
        else:
            there[record.name] = profile_of(record.obj)
        yield set(there.values())


def taken_down(played: Played) -> Iterator[set[str]]:
    """After each change: the pods that were Ready when they were told to end, until those that replace them are Ready.

    A pod whose process was killed is not among them, nor is one that was scaled away or evicted.
    """
    ready: dict[str, bool] = {}
    away: dict[str, str] = {}
    evicted = f"{played.scenario.name}-0" if played.scenario.fault is Fault.EVICT else ""
    for record in played.pods:
        name, uid = record.name, record.obj["metadata"]["uid"]
        if name == evicted or int(name.rpartition("-")[2]) >= played.scenario.replicas:
            continue
        if record.deleted or "deletionTimestamp" in record.obj["metadata"]:
            if ready.pop(name, False):
                away[name] = uid
        else:
            ready[name] = is_ready(record.obj)
            if ready[name] and away.get(name) != uid:
                away.pop(name, None)
        yield set(away)
