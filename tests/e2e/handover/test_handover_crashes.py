"""The operator killed after each write that handovers make, to the cluster or to Kafka: nothing rebalances or is lost.

Three groups at once under one operator, which dies after every write once and starts again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pytest

from tests.e2e.handover.handovers import Cost, costs_of, create, nothing_is_lost, pods, sets, warm_group
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.timeout(600)]  # `make crashes`

OVERLAPPING, PREDICTIVE, TAKEN_BACK = "overlapping", "predictive", "taken-back"
ROLLOUT: Final = {PREDICTIVE: {"handover": "Predictive"}, TAKEN_BACK: {"rejoinTimeout": "15s"}}
ENV: Final = {TAKEN_BACK: {"NEVER_JOIN": "1"}}
PHASE: Final = {OVERLAPPING: "Complete", PREDICTIVE: "Complete", TAKEN_BACK: "RolledBack"}
HANDED_OVER: Final = [name for name, phase in PHASE.items() if phase == "Complete"]


@dataclass(frozen=True)
class Survived:
    stage: Stage
    costs: dict[str, Cost]
    deaths: list[str]


@pytest.fixture(scope="module")
def survived(stage: Stage) -> Iterator[Survived]:
    create(stage, *(warm_group(stage, name, rollout=ROLLOUT.get(name)) for name in PHASE))
    deaths = stage.operator.log.with_name("deaths")
    deaths.unlink(missing_ok=True)
    stage.operator.kill()

    def doing() -> None:
        new = {name: {"VERSION": "2", **ENV.get(name, {})} for name in PHASE}
        stage.cluster.apply(*(warm_group(stage, name, rollout=ROLLOUT.get(name), env=new[name]) for name in PHASE))
        stage.operator.start(DEATHS=str(deaths))
        wait_for("the end of all", lambda: not on_their_way(stage), 480.0, lambda: on_their_way(stage))

    costs = costs_of(stage, PHASE, doing)
    stage.operator.kill()
    stage.operator.start()
    stage.operator.wait_ready()
    yield Survived(stage, costs, deaths.read_text().splitlines())


def on_their_way(stage: Stage) -> list[str]:
    return [stage.cluster.summary(name) for name in PHASE if not is_over(stage, name)]


def is_over(stage: Stage, name: str) -> bool:
    obj = stage.cluster.get("cg", name) or {}
    status = obj.get("status", {})
    seen = status.get("observedGeneration") == obj["metadata"]["generation"]
    return seen and status.get("rollout", {}).get("phase") == PHASE[name] and len(sets(stage, name)) == 1


@pytest.mark.parametrize("name", PHASE)
def test_it_ends_without_a_rebalance_and_nothing_is_lost(survived: Survived, name: str) -> None:
    workload = name if name == TAKEN_BACK else f"{name}-alt"
    assert pods(survived.stage, name) == [f"{workload}-{ordinal}" for ordinal in range(REPLICAS)]
    nothing_is_lost(survived.costs[name])


@pytest.mark.parametrize("name", HANDED_OVER)
def test_the_operator_died_after_each_of_its_writes(survived: Survived, name: str) -> None:
    """One that opens the new StatefulSet, one more and one less for each pod, and the end of the old one."""
    writes = [line for line in survived.deaths if line.startswith("apply StatefulSet ")]
    assert len([line for line in writes if line.split()[2] == f"{name}-alt"]) >= 1 + REPLICAS, writes
    assert len([line for line in writes if line.split()[2] == name]) >= REPLICAS, writes
    gone = [line.split()[3] for line in survived.deaths if line.startswith("delete StatefulSet ")]
    assert name in gone, survived.deaths
