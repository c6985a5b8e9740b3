"""The coordinator moves, a consumer and a broker lose every packet and get them again: each in the middle of a change.

On three brokers of its own. The coordinator is moved by reassigning `__consumer_offsets`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT
from tests.e2e.experiments.black_hole import addresses_of, black_hole
from tests.e2e.experiments.figures import Figures, keep, measure
from tests.e2e.experiments.seen import made_since, most_taken, reasons
from tests.e2e.experiments.three_brokers import ThreeBrokers, three_brokers
from tests.e2e.experiments.worlds import KINDS, World, played
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.stage import Stage, staged
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.quiet, pytest.mark.long, pytest.mark.minutes(10), pytest.mark.timeout(1200)]

SESSION_S: Final = 20
GRACE_S: Final = 30
"""Kubernetes' default: a pod that ends while a broker is cut off has yet to write down what it was given."""
CLIENT: Final = {"library": "Librdkafka", "version": "2.16.1"}
Table = dict[str, Figures]


@pytest.fixture(scope="module")
def brokers(sandbox_up: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreeBrokers]:
    with three_brokers(tmp_path_factory.mktemp("three-brokers")) as made:
        yield made


@pytest.fixture(scope="module")
def stage(crds: None, kubeconfig: Path, brokers: ThreeBrokers) -> Iterator[Stage]:
    with staged("coordinator", kubeconfig, brokers.bootstrap_servers, ROOT / "build" / "e2e" / "coordinator") as made:
        yield made


@pytest.fixture(scope="module")
def worlds(stage: Stage) -> Iterator[tuple[World, ...]]:
    spec = {"client": CLIENT, "protocol": {"target": "Eager"}}
    worlds = (World(stage, kind, SESSION_S, env={"BROKERS_GO_DOWN": "1"}, grace_s=GRACE_S, spec=spec) for kind in KINDS)
    with played(*worlds) as made:
        yield made


def play(event: str, worlds: tuple[World, ...], version: str, happens: Callable[[], None]) -> Table:
    """Roll a version out in all worlds, have it happen when each has its first new pod, and measure to the end."""
    since = time.time()
    for world in worlds:
        world.apply(VERSION=version)
    for world in worlds:
        wait_for(f"the first new pod of {world.name}", partial(_new, world, version), 120.0, world.pod_names)
    happens()
    return finish(event, worlds, since)


def finish(event: str, worlds: tuple[World, ...], since: float) -> Table:
    def one(world: World) -> Figures:
        world.wait_rolled_out()
        world.wait_served()
        return measure(world, since, time.time())

    with ThreadPoolExecutor(len(worlds)) as pool:
        found = dict(zip(worlds, pool.map(one, worlds), strict=True))
    for world, figures in found.items():
        said = reasons(world.stage, world.name, since) if world.kind.is_ours else []
        keep("coordinator", event, world.kind.label, figures, said=said)
    for world in worlds:
        if world.kind.is_ours:
            assert most_taken(world.stage, world.name, since) == 1
            assert set(made_since(world.stage, world.name, since).values()) == {1}
    table = {world.name: figures for world, figures in found.items()}
    assert {name: figures.missing for name, figures in table.items()} == dict.fromkeys(table, 0)
    return table


def test_the_coordinator_moves_in_the_middle_of_a_rollout(brokers: ThreeBrokers, worlds: tuple[World, ...]) -> None:
    before = {world.name: brokers.coordinator(world.group_id) for world in worlds}
    table = play("Coordinator moved", worlds, "moved", brokers.move_coordinators)
    after = {world.name: brokers.coordinator(world.group_id) for world in worlds}
    assert all(after[name] != before[name] for name in before)
    assert table["slackwater-static"].rebalances == 0


def test_a_consumer_is_cut_off_in_the_middle_of_a_rollout(worlds: tuple[World, ...]) -> None:
    """Of each world the lowest ordinal, which is replaced last, or any that runs; until its session is over.

    A StatefulSet on its own does not wait for the group, and may replace the pod before that; Slackwater replaces it as
    one that is down, as soon as it is.
    """
    addresses = addresses_of(worlds[0].stage.kafka.bootstrap_servers)

    def cut(world: World) -> None:
        pod = next(each for each in world.pods() if _runs(each))
        with black_hole(pod, *addresses):
            gone = partial(_goes_on_without, world, pod, time.time())
            wait_for(f"{world.name} to go on without it", gone, 120.0, world.now)

    def happens() -> None:
        with ThreadPoolExecutor(len(worlds)) as pool:
            list(pool.map(cut, worlds))

    play("Consumer cut off", worlds, "consumer-cut-off", happens)


def test_a_broker_is_cut_off_in_the_middle_of_a_rollout(brokers: ThreeBrokers, worlds: tuple[World, ...]) -> None:
    """The one that coordinates one of Slackwater's groups; until another one does."""
    world = next(world for world in worlds if world.kind.is_ours)
    old = brokers.coordinator(world.group_id)

    def happens() -> None:
        with brokers.cut_off(old):
            wait_for("another coordinator", lambda: brokers.coordinator_now(world.group_id) not in (None, old), 120.0)

    play("Broker cut off", worlds, "broker-cut-off", happens)


def test_the_coordinator_moves_in_the_middle_of_an_upgrade(brokers: ThreeBrokers, worlds: tuple[World, ...]) -> None:
    """To KIP-848, online: by the operator, and by kubectl with the consumers' settings changed by hand."""
    began = time.time()
    before = {world.name: brokers.coordinator(world.group_id) for world in worlds}
    for world in worlds:
        world.upgrade()
    for world in worlds:
        wait_for(f"the first new pod of {world.name}", partial(_made, world, began), 120.0, world.pod_names)
    brokers.move_coordinators()
    finish("Coordinator moved in an upgrade", worlds, began)
    for world in worlds:
        assert world.now().kind == "CONSUMER"
        assert brokers.coordinator(world.group_id) != before[world.name]


def _new(world: World, version: str) -> bool:
    wanted = {"name": "VERSION", "value": version}
    return any(wanted in pod["spec"]["containers"][0]["env"] and _runs(pod) for pod in world.pods())


def _made(world: World, since: float) -> bool:
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(since))
    return any(pod["metadata"]["creationTimestamp"] > moment and _runs(pod) for pod in world.pods())


def _runs(pod: Json) -> bool:
    return bool(pod["status"].get("phase") == "Running")


def _goes_on_without(world: World, pod: Json, since: float) -> bool:
    """Whether it is replaced, or others were given records of all partitions since: no rebalance ends before that."""
    if pod["metadata"]["uid"] not in {each["metadata"]["uid"] for each in world.pods()}:
        return True
    others = (row.partition for row in world.rows(since) if row.pod != pod["metadata"]["name"])
    return set(others) == set(range(world.partitions))
