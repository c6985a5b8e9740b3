"""Groups are deleted, with each deletionPolicy, while each write meets each fault: nothing of them is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT
from tests.e2e.sieve.arena import Arena, arena, group, group_of
from tests.e2e.sieve.faults import FAULTS, Fault
from tests.e2e.sieve.table import keep

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.minutes(3),
    pytest.mark.timeout(900),
]

ALL: Final = (Fault.NONE, *FAULTS)
REMOVAL: Final = "remove in Kafka"
POLICIES: Final = {"Retain": "EMPTY", "DeleteGroup": "DEAD"}
"""What the brokers say of the group afterwards."""


@pytest.fixture(scope="module", params=POLICIES)
def deleted(request: pytest.FixtureRequest, crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Arena]:
    policy: str = request.param
    name = f"sieve-deletion-{policy.lower()}"
    with arena(name, kubeconfig, bootstrap_servers, ROOT / "build" / "e2e" / name) as made:
        made.stage.create(*(group(made, fault, deletionPolicy=policy) for fault in made.faults))
        made.play(delete, is_gone)
        keep(f"deletion, {policy}", {fault: made.met(fault) for fault in made.faults})
        yield made


def delete(arena: Arena, fault: Fault) -> None:
    arena.stage.cluster.kubectl("delete", "cg", group_of(fault), "--wait=false")


def is_gone(arena: Arena, fault: Fault) -> bool:
    return arena.stage.cluster.get("cg", group_of(fault)) is None


@pytest.mark.parametrize("fault", ALL)
def test_nothing_is_left(deleted: Arena, fault: Fault, request: pytest.FixtureRequest) -> None:
    deleted.assert_ended(fault)
    name = group_of(fault)
    assert deleted.stage.cluster.pods(name) == []
    assert deleted.stage.cluster.get("sts", name) is None
    seen = deleted.stage.kafka.look(deleted.stage.group_id(name))
    assert (seen.state, seen.members) == (POLICIES[request.node.callspec.params["deleted"]], {})


@pytest.mark.parametrize("fault", FAULTS)
def test_each_write_met_the_fault(deleted: Arena, fault: Fault) -> None:
    """An operator that is killed has not seen the pods end: it leaves their members to their sessions."""
    deleted.assert_each_write_met_it(fault, *([REMOVAL] if fault.kills else []))
