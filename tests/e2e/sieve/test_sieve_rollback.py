"""A version that never joins goes back by itself, and another is aborted, while each write meets each fault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT
from tests.e2e.sieve.arena import QUICK, Arena, arena, group, group_of
from tests.e2e.sieve.faults import FAULTS, Fault
from tests.e2e.sieve.table import keep
from tests.e2e.stage.groups import REPLICAS, with_env

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.minutes(6),
    pytest.mark.timeout(1200),
]

SCENARIO: Final = "rollback"
ALL: Final = (Fault.NONE, *FAULTS)
BACK: Final = {**QUICK, "rejoinTimeout": "30s", "onFailure": "Rollback"}
BACK_BY_HAND: Final = {**QUICK, "rejoinTimeout": "5m"}


@pytest.fixture(scope="module")
def played(crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Arena]:
    with arena("sieve-rollback", kubeconfig, bootstrap_servers, ROOT / "build" / "e2e" / "sieve_rollback") as made:
        made.stage.create(*(group(made, fault, rollout=BACK) for fault in made.faults))
        made.play(apply_a_bad_version, has_gone_back)
        keep(SCENARIO, {fault: made.met(fault) for fault in made.faults})
        yield made


@pytest.fixture(scope="module")
def aborted(played: Arena) -> Arena:
    """The same groups: a second bad version, with time enough for somebody to abort it."""
    before = {fault: played.met(fault) for fault in played.faults}
    played.play(apply_another, holds_at_its_first_pod)
    played.play(abort, has_gone_back)
    keep("abort", played.met_since(before))
    return played


def apply_a_bad_version(arena: Arena, fault: Fault) -> None:
    arena.stage.cluster.apply(with_env(group(arena, fault, rollout=BACK), VERSION="2", NEVER_JOIN="1"))


def apply_another(arena: Arena, fault: Fault) -> None:
    arena.stage.cluster.apply(with_env(group(arena, fault, rollout=BACK_BY_HAND), VERSION="3", NEVER_JOIN="1"))


def holds_at_its_first_pod(arena: Arena, fault: Fault) -> bool:
    return arena.stage.cluster.condition(group_of(fault), "RolloutGated").get("reason") == "MemberNotRejoined"


def abort(arena: Arena, fault: Fault) -> None:
    arena.stage.cluster.annotate(group_of(fault), "abort", "1")


def has_gone_back(arena: Arena, fault: Fault) -> bool:
    return arena.has_come_to(fault, "RolledBack") and arena.is_parked(fault)


class TestByItself:
    @pytest.mark.parametrize("fault", ALL)
    def test_one_pod_goes_there_and_back(self, played: Arena, fault: Fault) -> None:
        played.assert_ended(fault)
        played.assert_restarts(fault, {0: 0, 1: 0, REPLICAS - 1: 2})
        played.assert_one_at_a_time(fault, REPLICAS)

    @pytest.mark.parametrize("fault", ALL)
    def test_the_group_is_whole_and_the_status_says_so(self, played: Arena, fault: Fault) -> None:
        played.assert_ended(fault)
        played.assert_whole_in_kafka(fault, REPLICAS)
        played.assert_status(fault, "RolledBack", "True")

    @pytest.mark.parametrize("fault", FAULTS)
    def test_each_write_met_the_fault(self, played: Arena, fault: Fault) -> None:
        played.assert_each_write_met_it(fault)


class TestAborted:
    @pytest.mark.parametrize("fault", ALL)
    def test_one_pod_goes_back(self, aborted: Arena, fault: Fault) -> None:
        aborted.assert_ended(fault)
        aborted.assert_restarts(fault, {0: 0, 1: 0, REPLICAS - 1: 1})
        aborted.assert_one_at_a_time(fault, REPLICAS)

    @pytest.mark.parametrize("fault", ALL)
    def test_the_group_is_whole_and_the_status_says_so(self, aborted: Arena, fault: Fault) -> None:
        aborted.assert_ended(fault)
        aborted.assert_whole_in_kafka(fault, REPLICAS)
        aborted.assert_status(fault, "RolledBack", "True")

    @pytest.mark.parametrize("fault", FAULTS)
    def test_each_write_met_the_fault(self, aborted: Arena, fault: Fault) -> None:
        aborted.assert_each_write_met_it(fault)
