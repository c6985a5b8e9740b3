"""Warm handover while each write meets each fault: nothing rebalances, and nothing is lost."""

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
from tests.e2e.stage.groups import REPLICAS, with_env
from tests.e2e.stage.progress import incarnations

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.minutes(6),
    pytest.mark.timeout(1800),
]

SCENARIO: Final = "handover"
ALL: Final = (Fault.NONE, *FAULTS)


@pytest.fixture(scope="module")
def handed_over(crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Arena]:
    with arena("sieve-handover", kubeconfig, bootstrap_servers, ROOT / "build" / "e2e" / "sieve_handover") as made:
        create(made.stage, *(warm(made, fault, "1") for fault in made.faults))
        made.play(lambda each, fault: each.stage.cluster.apply(warm(each, fault, "2")), has_ended)
        keep(SCENARIO, {fault: made.met(fault) for fault in made.faults})
        yield made


def warm(arena: Arena, fault: Fault, version: str) -> Json:
    made = group(arena, fault, rollout={**WARM, **QUICK, "rejoinTimeout": "3m"})
    return with_env(made, VERSION=version, DELIVERIES_TOPIC=deliveries_topic(arena.stage, group_of(fault)))


def has_ended(arena: Arena, fault: Fault) -> bool:
    return arena.has_come_to(fault, "Complete") and sets(arena.stage, group_of(fault)) == [f"{group_of(fault)}-alt"]


@pytest.mark.parametrize("fault", ALL)
def test_each_ordinal_is_handed_over_once(handed_over: Arena, fault: Fault) -> None:
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
def test_the_group_is_whole_and_the_status_says_so(handed_over: Arena, fault: Fault) -> None:
    """Instance ids stay what they were."""
    handed_over.assert_ended(fault)
    handed_over.assert_whole_in_kafka(fault, REPLICAS)
    handed_over.assert_status(fault)


@pytest.mark.parametrize("fault", FAULTS)
def test_each_write_met_the_fault(handed_over: Arena, fault: Fault) -> None:
    handed_over.assert_each_write_met_it(fault)
