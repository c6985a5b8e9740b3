"""A table of behaviours that is often quoted, of groups with and without static members, measured in both worlds.

All four groups meet the same event at the same moment, on the same machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from tests.e2e.experiments.black_hole import addresses_of, black_hole
from tests.e2e.experiments.figures import Figures, keep, measure
from tests.e2e.experiments.seen import made_since, most_down
from tests.e2e.experiments.worlds import KINDS, World, played
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.quiet, pytest.mark.long, pytest.mark.minutes(6), pytest.mark.timeout(900)]

SESSION_S: Final = 20
OF_THREE: Final = frozenset(kind.name for kind in KINDS)
Table = dict[str, Figures]


@pytest.fixture(scope="module")
def worlds(stage: Stage) -> Iterator[tuple[World, ...]]:
    with played(*(World(stage, kind, SESSION_S) for kind in KINDS)) as made:
        yield made


def meet(event: str, worlds: tuple[World, ...], happens: Callable[[World], None]) -> Table:
    """Have it happen in all worlds at once, wait until all is served again, and measure."""

    def one(world: World) -> Figures:
        since = time.time()
        happens(world)
        world.wait_served()
        return measure(world, since, time.time())

    with ThreadPoolExecutor(len(worlds)) as pool:
        found = dict(zip(worlds, pool.map(one, worlds), strict=True))
    for world, figures in found.items():
        keep("behaviours", event, world.kind.label, figures)
    assert {world.name: figures.missing for world, figures in found.items()} == dict.fromkeys(OF_THREE, 0)
    return {world.name: figures for world, figures in found.items()}


def ours(worlds: tuple[World, ...]) -> Iterator[World]:
    return (world for world in worlds if world.kind.is_ours)


def test_a_pod_restarts(worlds: tuple[World, ...]) -> None:
    def restart(world: World) -> None:
        pod = world.pods()[-1]
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        world.stage.cluster.kubectl("delete", "pod", name)
        wait_for(f"another pod than {name}", lambda: _others(world, uid) == REPLICAS)

    table = meet("Pod restart", worlds, restart)
    assert table["plain-static"].rebalances == table["slackwater-static"].rebalances == 0
    assert table["plain-dynamic"].rebalances > 0
    assert table["slackwater-dynamic"].rebalances > 0


def test_a_version_is_rolled_out(worlds: tuple[World, ...]) -> None:
    began = time.time()
    table = meet("Rolling update", worlds, lambda world: world.roll_out(VERSION="2"))
    assert table["plain-static"].rebalances == table["slackwater-static"].rebalances == 0
    assert table["plain-dynamic"].rebalances > 0
    for world in ours(worlds):
        assert most_down(world.stage, world.name, REPLICAS, began) == 1
        assert set(made_since(world.stage, world.name, began).values()) == {1}


def test_a_pod_is_cut_off_for_longer_than_its_session(worlds: tuple[World, ...]) -> None:
    """The others take its partitions over in every world, and it gets some back; nobody restarts it."""
    brokers = addresses_of(worlds[0].stage.kafka.bootstrap_servers)
    began = time.time()

    def cut(world: World) -> None:
        with black_hole(world.pods()[-1], *brokers):
            wait_for(f"{world.name} to give its member up", lambda: has_left(world))

    table = meet("Network partition", worlds, cut)
    assert all(figures.rebalances > 0 for figures in table.values())
    for world in ours(worlds):
        assert set(made_since(world.stage, world.name, began).values()) == {0}
        world.stage.cluster.wait_condition(world.name, "Ready", "True")


def test_a_group_is_scaled_down(worlds: tuple[World, ...]) -> None:
    table = meet("Scale-down", worlds, lambda world: world.scale(REPLICAS - 1))
    assert all(figures.rebalances > 0 for figures in table.values())
    for world in ours(worlds):
        world.stage.cluster.wait_condition(world.name, "Ready", "True")


def _others(world: World, uid: str) -> int:
    return sum(pod["metadata"]["uid"] != uid for pod in world.pods())


def has_left(world: World) -> bool:
    """Whether the others own everything: their rebalance is over."""
    seen = world.now()
    return seen.state == "STABLE" and len({owner for _, owner in seen.owners}) == REPLICAS - 1
