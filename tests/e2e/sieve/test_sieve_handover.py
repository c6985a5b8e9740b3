"""Warm handover, and one that is aborted in its middle, while each write meets each fault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from slackwater.core.handover.steps import RETURNS
from tests.conftest import ROOT
from tests.e2e.handover.handovers import WARM, create, deliveries_topic, pods, sets
from tests.e2e.sieve.arena import QUICK, Arena, arena, group, group_of
from tests.e2e.sieve.faults import FAULTS, Fault
from tests.e2e.sieve.table import keep
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS, with_command, with_env
from tests.e2e.stage.progress import incarnations

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.minutes(9),
    pytest.mark.timeout(1800),
]

SCENARIO: Final = "handover"
ALL: Final = (Fault.NONE, *FAULTS)
STUCK: Final = 1
ONE_NEVER_JOINS: Final = (
    f'case "$HOSTNAME" in *-{STUCK}) export NEVER_JOIN=1;; esac; exec python3 -m sandbox.workload.consumer'
)


@pytest.fixture(scope="module")
def handed_over(crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Arena]:
    with arena("sieve-handover", kubeconfig, bootstrap_servers, ROOT / "build" / "e2e" / "sieve_handover") as made:
        create(made.stage, *(warm(made, fault, "1") for fault in made.faults))
        made.play(lambda each, fault: each.stage.cluster.apply(warm(each, fault, "2")), has_ended)
        keep(SCENARIO, {fault: made.met(fault) for fault in made.faults})
        yield made


@pytest.fixture(scope="module")
def gone_back(handed_over: Arena) -> Arena:
    """The same groups: of another version the second pod never joins, and somebody aborts it."""
    before = {fault: handed_over.met(fault) for fault in handed_over.faults}
    handed_over.play(lambda each, fault: each.stage.cluster.apply(stuck(each, fault)), is_in_the_middle)
    handed_over.play(lambda each, fault: each.stage.cluster.annotate(group_of(fault), "abort", "1"), has_gone_back)
    keep("handover, aborted", handed_over.met_since(before))
    return handed_over


def stuck(arena: Arena, fault: Fault) -> Json:
    """With time enough for somebody to abort it."""
    return with_command(warm(arena, fault, "3", rejoin_timeout="20m"), ONE_NEVER_JOINS)


def warm(arena: Arena, fault: Fault, version: str, rejoin_timeout: str = "3m") -> Json:
    made = group(arena, fault, rollout={**WARM, **QUICK, "rejoinTimeout": rejoin_timeout})
    return with_env(made, VERSION=version, DELIVERIES_TOPIC=deliveries_topic(arena.stage, group_of(fault)))


def has_ended(arena: Arena, fault: Fault) -> bool:
    return arena.has_come_to(fault, "Complete") and sets(arena.stage, group_of(fault)) == [f"{group_of(fault)}-alt"]


def is_in_the_middle(arena: Arena, fault: Fault) -> bool:
    """The first pod is handed over, and both of the next ordinal are there."""
    name = group_of(fault)
    at = [*(f"{name}-{ordinal}" for ordinal in (0, STUCK)), *(f"{name}-alt-{ordinal}" for ordinal in (STUCK, 2))]
    handover = (arena.stage.cluster.status(name).get("rollout") or {}).get("handover") or {}
    return handover.get("ordinal") == STUCK and pods(arena.stage, name) == sorted(at)


def has_gone_back(arena: Arena, fault: Fault) -> bool:
    return arena.has_come_to(fault, "RolledBack") and sets(arena.stage, group_of(fault)) == [f"{group_of(fault)}-alt"]


class TestForward:
    @pytest.mark.parametrize("fault", ALL)
    def test_each_ordinal_is_handed_over_once(self, handed_over: Arena, fault: Fault) -> None:
        """Where a write is late, the old process may be back meanwhile: then its replacement starts again, as often as
        that is so, until it is made where the old one was. Old pods are never made again."""
        handed_over.assert_ended(fault)
        name = group_of(fault)
        assert pods(handed_over.stage, name) == [f"{name}-alt-{ordinal}" for ordinal in range(REPLICAS)]
        found = incarnations(handed_over.stage.recorder.records("pods"), name)
        made = {pod: len(uids) for pod, uids in found.items()}
        assert {pod: times for pod, times in made.items() if "-alt-" not in pod} == {
            f"{name}-{ordinal}": 1 for ordinal in range(REPLICAS)
        }
        assert fault is not Fault.NONE or max(made.values()) <= 1 + RETURNS, "on a busy machine any write may be late"

    @pytest.mark.parametrize("fault", ALL)
    def test_the_group_is_whole_and_the_status_says_so(self, handed_over: Arena, fault: Fault) -> None:
        """Instance ids stay what they were."""
        handed_over.assert_ended(fault)
        handed_over.assert_whole_in_kafka(fault, REPLICAS)
        handed_over.assert_status(fault)

    @pytest.mark.parametrize("fault", FAULTS)
    def test_each_write_met_the_fault(self, handed_over: Arena, fault: Fault) -> None:
        handed_over.assert_each_write_met_it(fault)


class TestAborted:
    @pytest.mark.parametrize("fault", ALL)
    def test_what_was_handed_over_comes_back_and_nobody_else_is_touched(self, gone_back: Arena, fault: Fault) -> None:
        gone_back.assert_ended(fault)
        name = group_of(fault)
        assert pods(gone_back.stage, name) == [f"{name}-alt-{ordinal}" for ordinal in range(REPLICAS)]
        found = gone_back.made_again(fault)
        assert (found.get(f"{name}-alt-1"), found.get(f"{name}-alt-2")) == (0, 0)
        assert found[f"{name}-alt-0"] >= 1
        assert fault is not Fault.NONE or max(found.values()) <= 1 + RETURNS, "on a busy machine any write may be late"

    @pytest.mark.parametrize("fault", ALL)
    def test_the_group_is_whole_and_the_status_says_so(self, gone_back: Arena, fault: Fault) -> None:
        gone_back.assert_ended(fault)
        gone_back.assert_whole_in_kafka(fault, REPLICAS)
        gone_back.assert_status(fault, "RolledBack", "True")

    @pytest.mark.parametrize("fault", FAULTS)
    def test_each_write_met_the_fault(self, gone_back: Arena, fault: Fault) -> None:
        gone_back.assert_each_write_met_it(fault)
