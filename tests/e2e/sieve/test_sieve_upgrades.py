"""Groups are taken to another protocol while each write meets each fault, by each way that these clients can go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT
from tests.e2e.sieve.arena import QUICK, Arena, arena, group_of
from tests.e2e.sieve.faults import FAULTS, Fault
from tests.e2e.sieve.table import keep
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.upgrades import upgrade_ways
from tests.e2e.upgrades.upgrade_ways import Way, aiming_at, group_before

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.minutes(18),
    pytest.mark.timeout(1800),
]

ALL: Final = (Fault.NONE, *FAULTS)
WAYS: Final = {way.name: way for way in upgrade_ways.WAYS}


@pytest.fixture(scope="module", params=WAYS)
def upgraded(request: pytest.FixtureRequest, crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Arena]:
    way = WAYS[request.param]
    name = f"sieve-{way.name}"
    with arena(name, kubeconfig, bootstrap_servers, ROOT / "build" / "e2e" / name) as made:
        made.stage.create(*(before(made, fault, way) for fault in made.faults))
        made.play(
            lambda each, fault: each.stage.cluster.apply(aiming_at(before(each, fault, way), way, way.target)),
            lambda each, fault: each.has_protocol(fault, way.target),
        )
        keep(f"upgrade, {way.name}", {fault: made.met(fault) for fault in made.faults})
        yield made


@pytest.fixture
def way(request: pytest.FixtureRequest) -> Way:
    return WAYS[request.node.callspec.params["upgraded"]]


def before(arena: Arena, fault: Fault, way: Way) -> Json:
    made = group_before(arena.stage, group_of(fault), way)
    mine = {"connectionRef": {"name": group_of(fault)}, "rollout": QUICK}
    return {**made, "spec": {**made["spec"], **mine}}


@pytest.mark.parametrize("fault", ALL)
def test_every_pod_is_restarted_once_for_each_step(upgraded: Arena, way: Way, fault: Fault) -> None:
    upgraded.assert_ended(fault)
    upgraded.assert_restarts(fault, dict.fromkeys(range(REPLICAS), way.steps))
    if not way.drains:
        upgraded.assert_one_at_a_time(fault, REPLICAS)


@pytest.mark.parametrize("fault", ALL)
def test_the_group_is_whole_in_its_new_protocol_and_the_status_says_so(upgraded: Arena, way: Way, fault: Fault) -> None:
    upgraded.assert_ended(fault)
    upgraded.assert_whole_in_kafka(fault, REPLICAS)
    upgraded.assert_status(fault)
    seen = upgraded.stage.kafka.look(upgraded.stage.group_id(group_of(fault)))
    assert (seen.kind, seen.assignor) == way.shows


@pytest.mark.parametrize("fault", FAULTS)
def test_each_write_met_the_fault(upgraded: Arena, fault: Fault) -> None:
    upgraded.assert_each_write_met_it(fault)
