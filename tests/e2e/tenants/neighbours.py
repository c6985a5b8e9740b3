"""A neighbour that is rolled out under load, one operator for it and for a namespace that is up to no good."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import yaml

from slackwater.api.depth import allow_deep_objects
from tests.chart.helm import CHART, helm
from tests.conftest import ROOT
from tests.e2e.handover.handovers import Cost, cost_of, create, rolled_out, warm_group
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import CONNECTION, group_id
from tests.e2e.stage.stage import Stage, remove_groups
from tests.e2e.stage.waiting import wait_for
from tests.e2e.tenants.attacks import THIEF, group
from tests.e2e.tenants.test_hostile_objects import create_deep
from tests.e2e.tenants.twin import Twin

GOOD: Final = "good"
DEEP: Final = "s1-deep"
"""Whose object is handed over as text."""
CROWDED: Final = "s14-members"
STRANGERS: Final = 4
STALL_S: Final = 0.25
"""So long the event loop may stand still, whatever a tenant does."""
MEMORY_MIB: Final = 512
"""The chart's limit."""
_STALL: Final = re.compile(r"^slackwater_event_loop_longest_stall_seconds (\S+)$", re.MULTILINE)
_PEAK: Final = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True)
class Hostile:
    stage: Stage
    """Of the neighbour."""
    evil: Cluster
    ready_seconds: float
    """From the start of the operator until it was ready, before anything was made."""
    twin: Twin


@contextmanager
def neighbours(stage: Stage) -> Iterator[Hostile]:
    """One operator for both namespaces, and nobody attacks yet."""
    allow_deep_objects()  # this process reads them, too
    evil = Cluster(stage.cluster.kubeconfig, f"e2e-evil-{uuid4().hex[:6]}")
    evil.kubectl("create", "namespace", evil.namespace)
    try:
        evil.kubectl("create", "quota", "small", "--hard=pods=4")
        grant(stage, evil)
        stage.operator.kill()
        stage.operator.environment["SLACKWATER_NAMESPACE"] = f"{stage.cluster.namespace},{evil.namespace}"
        stage.operator.environment["SLACKWATER_TELEMETRY"] = f"file:{stage.operator.log.parent / 'events'}"
        twin = Twin(stage.operator.log.parent / "twin")
        ready_s = started(stage, twin)
        create(stage, warm_group(stage, GOOD))
        try:
            yield Hostile(stage, evil, ready_s, twin)
        finally:
            twin.end()
        remove_all(evil)
    finally:
        evil.kubectl("delete", "namespace", evil.namespace, "--wait=false")


def grant(stage: Stage, evil: Cluster) -> None:
    """The chart's own rights, in the second namespace."""
    both = f"{{{stage.cluster.namespace},{evil.namespace}}}"
    settings = ("crds.install=false", f"watchNamespaces={both}", "anySecret=true")
    words = (f"--namespace={stage.cluster.namespace}", *(f"--set={setting}" for setting in settings))
    rendered = yaml.safe_load_all(helm("template", "slackwater", str(CHART), *words))
    there = [each for each in rendered if each and each["metadata"].get("namespace") == evil.namespace]
    assert {each["kind"] for each in there} == {"Role", "RoleBinding"}
    evil.apply(*there)


def remove_all(evil: Cluster) -> None:
    evil.kubectl("delete", "consumerfleets,fleetcampaigns", "--all", "--wait=false")
    remove_groups(evil)


def started(stage: Stage, twin: Twin) -> float:
    """Seconds until it was ready."""
    twin.start()
    began = time.perf_counter()
    stage.operator.start()
    stage.operator.wait_ready()
    return time.perf_counter() - began


def longest_stall_s(stage: Stage) -> float:
    found = _STALL.search(stage.operator.metrics())
    assert found is not None
    return float(found.group(1))


def holds_nobody_up(stall_s: float, twin_stall_s: float) -> bool:
    """The promise is STALL_S of the operator's own. What a process that does nothing stood still in the same run, the
    machine took from both, and is added; on a machine with processors to spare it is a hundredth of a second."""
    return stall_s <= STALL_S + twin_stall_s


def peak_mib(stage: Stage) -> float:
    assert stage.operator.process is not None
    found = _PEAK.search(Path(f"/proc/{stage.operator.process.pid}/status").read_text())
    assert found is not None
    return int(found.group(1)) / 1024


def roll_out(stage: Stage, version: str) -> Cost:
    cost = rolled_out(stage, warm_group(stage, GOOD, env={"VERSION": version}))
    nothing_is_noticed(cost)
    return cost


def meanwhile(stage: Stage, doing: Callable[[], object]) -> Cost:
    """What the neighbour's consumers had meanwhile: nothing happens to them."""
    cost = cost_of(stage, GOOD, doing)
    nothing_is_noticed(cost)
    return cost


def nothing_is_noticed(cost: Cost) -> None:
    assert (cost.rebalances, cost.missing, cost.went_back, cost.idle_s) == (0, 0, 0, 0.0), cost


@contextmanager
def crowd(stage: Stage, evil: Cluster) -> Iterator[None]:
    """Whoever may read a group of the namespace in Kafka joins it, by names that steer terminals and are as long as
    Kafka takes them."""
    name = "\x1b]0;owned\x07[red]\u202e" + "x" * 32_000
    with ExitStack() as stack:
        for each in range(STRANGERS):
            stack.enter_context(stage.kafka.foreign_member(group_id(evil, CROWDED), evil.namespace, f"{name}{each}"))
        yield


def by_command(stage: Stage, *line: str, namespace: str) -> subprocess.CompletedProcess[str]:
    """What an administrator's command says."""
    command = [str(ROOT / ".venv" / "bin" / "slackwater"), *line, "-n", namespace]
    settings = {**os.environ, "KUBECONFIG": str(stage.cluster.kubeconfig)}
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=False, timeout=60)


def put(evil: Cluster, *objects: Json) -> None:
    """As GitOps does it: what `kubectl apply` notes of an object by itself, an annotation has no room for."""
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    evil.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=listed)


def apply_attack(evil: Cluster, name: str, objects: list[Json]) -> None:
    if objects:
        put(evil, *objects)
    if name == DEEP:
        create_deep(evil, group(evil, DEEP, CONNECTION))
    if name == THIEF:
        evil.kubectl("delete", "cg", GOOD, "--wait=false")


def wait_met(stage: Stage, evil: Cluster, name: str) -> None:
    """Until the operator has met it: it has let the thief go, and says something of all others."""

    def is_met() -> bool:
        return evil.get("cg", GOOD) is None if name == THIEF else bool(evil.status(name).get("conditions"))

    wait_for(f"the operator to meet {name}", is_met, 180.0, stage.operator.log_tail)
