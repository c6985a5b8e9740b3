"""A group is scaled up and down while each write meets each fault: nobody who stays is touched."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT
from tests.e2e.sieve.arena import Arena, arena, group, group_of
from tests.e2e.sieve.faults import FAULTS, Fault
from tests.e2e.sieve.table import keep
from tests.e2e.stage.groups import REPLICAS

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.minutes(4),
    pytest.mark.timeout(900),
]

SCENARIO: Final = "scaling"
ALL: Final = (Fault.NONE, *FAULTS)
MANY, FEW = REPLICAS + 1, REPLICAS - 1


@pytest.fixture(scope="module")
def scaled(crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Arena]:
    with arena("sieve-scaling", kubeconfig, bootstrap_servers, ROOT / "build" / "e2e" / "sieve_scaling") as made:
        made.stage.create(*(group(made, fault) for fault in made.faults))
        made.play(partial(scale, replicas=MANY), partial(is_scaled, replicas=MANY))
        made.play(partial(scale, replicas=FEW), partial(is_scaled, replicas=FEW))
        keep(SCENARIO, {fault: made.met(fault) for fault in made.faults})
        yield made


def scale(arena: Arena, fault: Fault, replicas: int) -> None:
    arena.stage.cluster.kubectl("scale", "cg", group_of(fault), f"--replicas={replicas}")


def is_scaled(arena: Arena, fault: Fault, replicas: int) -> bool:
    """Who is scaled away is out of the group, too."""
    return arena.has_completed(fault, replicas) and arena.has_members(fault, replicas)


@pytest.mark.parametrize("fault", ALL)
def test_nobody_who_stays_is_restarted(scaled: Arena, fault: Fault) -> None:
    scaled.assert_ended(fault)
    scaled.assert_restarts(fault, dict.fromkeys(range(MANY), 0))


@pytest.mark.parametrize("fault", ALL)
def test_those_who_stay_have_all_and_the_status_says_so(scaled: Arena, fault: Fault) -> None:
    """Sessions last 45 s: who is gone from the group before that was taken out."""
    scaled.assert_ended(fault)
    scaled.assert_whole_in_kafka(fault, FEW)
    scaled.assert_status(fault)


@pytest.mark.parametrize("fault", FAULTS)
def test_each_write_met_the_fault(scaled: Arena, fault: Fault) -> None:
    scaled.assert_each_write_met_it(fault)
