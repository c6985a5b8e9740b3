"""Sixty groups over three coordinators, one apply for all, and an operator that is killed ten times: five times over.

The fleet lets three groups move at a time, and one of each coordinator. Who moved is read from pods, and who
coordinates whom from the brokers: the operator's own word counts for nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import pytest
from confluent_kafka.admin import AdminClient

from tests.conftest import ROOT
from tests.e2e.kubernetes.own_brokers import three_brokers
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import with_env
from tests.e2e.stage.progress import incarnations, is_ready, most_at_once, pods_of
from tests.e2e.stage.recorder import Record
from tests.e2e.stage.stage import Stage, staged
from tests.e2e.stage.waiting import wait_for

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.quiet,
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.minutes(30),
    pytest.mark.timeout(3600),
]

NAMES: Final = tuple(f"group-{number:02}" for number in range(60))
FLEET: Final = "all"
AT_MOST: Final = 3
KILLS: Final = 10
RUNS: Final = 5


@dataclass(frozen=True, slots=True)
class Place:
    stage: Stage
    coordinators: Mapping[str, int]


@pytest.fixture(scope="module")
def place(crds: None, kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with three_brokers(tmp_path_factory.mktemp("brokers")) as brokers:
        servers = ",".join(each.bootstrap_servers for each in brokers)
        with staged("sixty_groups", kubeconfig, servers, ROOT / "build" / "e2e" / "sixty_groups") as stage:
            stage.cluster.apply(fleet())
            stage.create(*(group(stage, name, "1") for name in NAMES))
            yield Place(stage, coordinators(stage))
            stage.cluster.kubectl("delete", "consumerfleet", FLEET)


def fleet() -> Json:
    budgets = [{"name": "all", "max": AT_MOST}, {"name": "coordinators", "per": "Coordinator", "max": 1}]
    spec = {"selector": {}, "budgets": budgets}
    return {
        "apiVersion": "slackwater.dev/v1alpha1",
        "kind": "ConsumerFleet",
        "metadata": {"name": FLEET},
        "spec": spec,
    }


def group(stage: Stage, name: str, version: str) -> Json:
    """One pod, which starts at once."""
    return with_env(stage.group(name, replicas=1), VERSION=version, START_DELAY_SECONDS="0")


def coordinators(stage: Stage) -> dict[str, int]:
    admin = AdminClient({"bootstrap.servers": stage.kafka.bootstrap_servers, "log_level": 0})
    asked = admin.describe_consumer_groups([stage.group_id(name) for name in NAMES])
    return {name: asked[stage.group_id(name)].result(20.0).coordinator.id for name in NAMES}


def done(stage: Stage, version: str) -> int:
    """How many groups have a Ready pod of this version."""
    found, _ = stage.cluster.api.list_all("pods", stage.cluster.namespace, "slackwater.dev/group")
    return sum(is_ready(pod) and _version(pod) == version for pod in found)


def wait_done(stage: Stage, version: str, many: int) -> None:
    wait_for(f"{many} groups to be done", lambda: done(stage, version) >= many, 600.0, stage.operator.log_tail)


def _version(pod: Json) -> str:
    env = pod["spec"]["containers"][0]["env"]
    return next(str(each["value"]) for each in env if each["name"] == "VERSION")


def spans(records: list[Record], since: float) -> dict[str, tuple[float, float]]:
    """Name → from when its pod is on its way out until the next one is Ready."""
    found: dict[str, tuple[float, float]] = {}
    for name in NAMES:
        of_it = [record for record in pods_of(records, name) if record.seen_at >= since]
        leaving = [r.seen_at for r in of_it if r.deleted or "deletionTimestamp" in r.obj["metadata"]]
        ready = [r.seen_at for r in of_it if not r.deleted and is_ready(r.obj)]
        found[name] = (min(leaving), next(at for at in ready if at > max(leaving)))
    return found


@pytest.mark.parametrize("run", range(RUNS))
def test_three_move_at_a_time_and_one_of_each_coordinator(place: Place, run: int) -> None:
    stage, version = place.stage, str(run + 2)
    began, before = time.time(), {name: incarnations(stage.recorder.records("pods"), name) for name in NAMES}
    stage.cluster.apply(*(group(stage, name, version) for name in NAMES))
    for reached in sorted(Random(run).sample(range(len(NAMES) - AT_MOST), KILLS)):
        wait_done(stage, version, reached)
        stage.operator.kill()
        stage.operator.start()
        stage.operator.wait_ready()
    for name in NAMES:
        stage.cluster.wait_complete(name, 900.0)
    records = stage.recorder.records("pods")
    after = {name: incarnations(records, name) for name in NAMES}
    made = {pod: len(uids) for each in after.values() for pod, uids in each.items()}
    assert made == {pod: len(uids) + 1 for each in before.values() for pod, uids in each.items()}
    found = spans(records, began)
    assert most_at_once(found) <= AT_MOST
    for coordinator in set(place.coordinators.values()):
        ours = {name: span for name, span in found.items() if place.coordinators[name] == coordinator}
        assert most_at_once(ours) == 1, f"at coordinator {coordinator}"
    assert coordinators(stage) == place.coordinators, "they moved meanwhile: the run shows nothing"
