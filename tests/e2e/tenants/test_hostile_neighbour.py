"""One namespace does all that it can to harm the others, while a group in another one is rolled out under load."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest
import yaml

from slackwater.api.depth import allow_deep_objects
from tests.chart.helm import CHART, helm
from tests.conftest import ROOT
from tests.e2e.handover.handovers import Cost, create, rolled_out, warm_group
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import CONNECTION
from tests.e2e.stage.stage import Stage, remove_groups
from tests.e2e.stage.waiting import wait_for
from tests.e2e.tenants.attacks import Servers, attacks, group, servers
from tests.e2e.tenants.test_hostile_objects import create_deep

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.quiet, pytest.mark.minutes(5), pytest.mark.timeout(1200)]

GOOD: Final = "good"
FIGURES: Final = ROOT / "build" / "bench" / "hostile.json"
STALL_S: Final = 0.25
"""So long the event loop may stand still, or for three times as long as it does on this machine without an attack."""
MEMORY_MIB: Final = 512
"""The chart's limit."""
_STALL: Final = re.compile(r"^slackwater_event_loop_longest_stall_seconds (\S+)$", re.MULTILINE)
_PEAK: Final = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


@dataclass
class Figures:
    """What it came to. `…_without`: before the first attack, on the same machine with the same rollout."""

    longest_stall_seconds: float = 0.0
    longest_stall_seconds_without: float = 0.0
    peak_mib: float = 0.0
    peak_mib_without: float = 0.0
    ready_seconds: float = 0.0
    """From the start of an operator that meets all of it until it is ready."""
    ready_seconds_without: float = 0.0
    operator_restarts: int = 0
    neighbour_rebalances: int = 0
    neighbour_idle_partition_seconds: float = 0.0
    neighbour_idle_partition_seconds_without: float = 0.0
    attacks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Hostile:
    stage: Stage
    """Of the neighbour."""
    evil: Cluster
    figures: Figures


@pytest.fixture(scope="module")
def hostile(stage: Stage) -> Iterator[Hostile]:
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
        ready_s = started(stage)
        create(stage, warm_group(stage, GOOD))
        yield Hostile(stage, evil, Figures(ready_seconds_without=ready_s))
        remove_groups(evil)
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


def started(stage: Stage) -> float:
    """Seconds until it was ready."""
    began = time.perf_counter()
    stage.operator.start()
    stage.operator.wait_ready()
    return time.perf_counter() - began


def longest_stall_s(stage: Stage) -> float:
    found = _STALL.search(stage.operator.metrics())
    assert found is not None
    return float(found.group(1))


def peak_mib(stage: Stage) -> float:
    assert stage.operator.process is not None
    found = _PEAK.search(Path(f"/proc/{stage.operator.process.pid}/status").read_text())
    assert found is not None
    return int(found.group(1)) / 1024


def roll_out(stage: Stage, version: str) -> Cost:
    cost = rolled_out(stage, warm_group(stage, GOOD, env={"VERSION": version}))
    assert (cost.rebalances, cost.missing, cost.went_back) == (0, 0, 0), cost
    return cost


@pytest.fixture(scope="module")
def peace(hostile: Hostile) -> Cost:
    """What the same rollout costs while nobody attacks."""
    cost = roll_out(hostile.stage, "2")
    hostile.figures.longest_stall_seconds_without = longest_stall_s(hostile.stage)
    hostile.figures.peak_mib_without = peak_mib(hostile.stage)
    hostile.figures.neighbour_idle_partition_seconds_without = cost.idle_s
    return cost


@pytest.fixture(scope="module")
def attacked(hostile: Hostile, peace: Cost) -> Iterator[dict[str, list[Json]]]:
    """All at once, each until the operator has met it."""
    with servers() as at:
        yield attack(hostile, at)


def attack(hostile: Hostile, at: Servers) -> dict[str, list[Json]]:
    stage, evil = hostile.stage, hostile.evil
    made = dict(attacks(evil, at, stage.kafka.bootstrap_servers, stage.group_id(GOOD)))
    stage.kafka.make_topic(evil.namespace, 1)
    evil.apply(*made[CONNECTION], *made["s9-metrics"])
    wait_for("a pod before the quota is used up", lambda: evil.pods("s9-metrics"), 120.0, stage.operator.log_tail)
    evil.apply(*(each for objects in made.values() for each in objects))
    create_deep(evil, group(evil, "s1-deep", CONNECTION))
    hostile.figures.attacks = sorted({*made, "s1-deep"} - {CONNECTION})
    for name in hostile.figures.attacks:
        wait_for(f"the operator to meet {name}", partial(is_met, evil, name), 180.0, stage.operator.log_tail)
    return made


def is_met(evil: Cluster, name: str) -> bool:
    return bool(evil.status(name).get("conditions"))


def test_the_neighbour_is_rolled_out_as_in_peace(hostile: Hostile, attacked: dict[str, list[Json]]) -> None:
    stage, figures = hostile.stage, hostile.figures
    process = stage.operator.process
    cost = roll_out(stage, "3")
    assert process is not None
    figures.operator_restarts += process.poll() is not None
    figures.neighbour_rebalances = cost.rebalances
    figures.neighbour_idle_partition_seconds = cost.idle_s
    figures.longest_stall_seconds, figures.peak_mib = longest_stall_s(stage), peak_mib(stage)
    keep(figures)
    assert figures.operator_restarts == 0
    assert figures.longest_stall_seconds <= max(STALL_S, 3 * figures.longest_stall_seconds_without), figures
    assert figures.peak_mib < MEMORY_MIB, figures


def test_an_operator_that_starts_meets_all_of_it_and_is_ready(
    hostile: Hostile, attacked: dict[str, list[Json]]
) -> None:
    stage = hostile.stage
    stage.operator.kill()
    hostile.figures.ready_seconds = started(stage)
    roll_out(stage, "4")
    assert stage.operator.process is not None
    assert stage.operator.process.poll() is None
    hostile.figures.peak_mib = max(hostile.figures.peak_mib, peak_mib(stage))
    hostile.figures.longest_stall_seconds = max(hostile.figures.longest_stall_seconds, longest_stall_s(stage))
    keep(hostile.figures)
    assert hostile.figures.peak_mib < MEMORY_MIB


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("s1-deep", "InvalidSpec"),
        ("s3-thief", "GroupIdShared"),
        ("s8-rounds", "ConnectionInvalid"),
        ("s7-flood", "KafkaUnreachable"),
        ("s11-slow-0", "KafkaUnreachable"),
    ],
)
def test_whoever_attacks_learns_what_is_wrong_with_his_own(
    hostile: Hostile, attacked: dict[str, list[Json]], name: str, reason: str
) -> None:
    def reasons() -> set[str]:
        return {str(each["reason"]) for each in hostile.evil.status(name).get("conditions", ())}

    wait_for(f"{name} to be {reason}", lambda: reason in reasons(), 60.0, reasons)


def keep(figures: Figures) -> None:
    FIGURES.parent.mkdir(parents=True, exist_ok=True)
    FIGURES.write_text(json.dumps(asdict(figures), indent=2) + "\n")
