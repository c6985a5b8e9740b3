"""A group is made and rolled out in place while each write meets each fault: no pod is restarted twice for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT
from tests.e2e.sieve.arena import Arena, arena, group
from tests.e2e.sieve.faults import FAULTS, RETRY_AFTER_S, Fault
from tests.e2e.sieve.table import keep
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS, with_env

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.minutes(5),
    pytest.mark.timeout(900),
]

SCENARIO: Final = "rollout"
ALL: Final = (Fault.NONE, *FAULTS)


@pytest.fixture(scope="module")
def played(crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Arena]:
    with arena("sieve-rollout", kubeconfig, bootstrap_servers, ROOT / "build" / "e2e" / "sieve_rollout") as made:
        roll_out(made)
        keep(SCENARIO, {fault: made.met(fault) for fault in made.faults})
        yield made


def roll_out(arena: Arena) -> None:
    arena.play(lambda each, fault: each.stage.cluster.apply(gated(each, fault)), Arena.has_completed)
    arena.play(
        lambda each, fault: each.stage.cluster.apply(with_env(gated(each, fault), VERSION="2")), Arena.has_completed
    )


def gated(arena: Arena, fault: Fault) -> Json:
    """Its pods are Ready only once the operator has written that they are in the group."""
    return group(arena, fault, readinessGate=True)


@pytest.mark.parametrize("fault", ALL)
def test_every_pod_is_restarted_once(played: Arena, fault: Fault) -> None:
    played.assert_ended(fault)
    played.assert_made_once(fault)
    played.assert_restarts(fault, dict.fromkeys(range(REPLICAS), 1))
    played.assert_one_at_a_time(fault, REPLICAS)


@pytest.mark.parametrize("fault", ALL)
def test_the_group_is_whole_and_the_status_says_so(played: Arena, fault: Fault) -> None:
    played.assert_ended(fault)
    played.assert_whole_in_kafka(fault, REPLICAS)
    played.assert_status(fault)


@pytest.mark.parametrize("fault", FAULTS)
def test_each_write_met_the_fault(played: Arena, fault: Fault) -> None:
    played.assert_each_write_met_it(fault)


@pytest.mark.parametrize("fault", ALL)
def test_so_did_the_readiness_gate_of_each_pod(played: Arena, fault: Fault) -> None:
    gates = {each.write.name for each in played.met(fault) if each.write.row == "apply pods/status"}
    assert gates == {f"GROUP-{ordinal}" for ordinal in range(REPLICAS)}


def test_who_is_throttled_waits_for_as_long_as_it_is_asked_to(played: Arena) -> None:
    assert min(played.proxy.retried_after_s) >= RETRY_AFTER_S
