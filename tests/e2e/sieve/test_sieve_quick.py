"""A rollout whose writes get no answer, 409 or 429 with Retry-After; with the other faults `make long` plays it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT
from tests.e2e.sieve.arena import Arena, arena, group
from tests.e2e.sieve.faults import RETRY_AFTER_S, Fault
from tests.e2e.stage.groups import REPLICAS, with_env

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(1), pytest.mark.timeout(400)]

FAULTS: Final = (Fault.LOST, Fault.CONFLICT, Fault.THROTTLED)


@pytest.fixture(scope="module")
def played(crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Arena]:
    directory = ROOT / "build" / "e2e" / "sieve_quick"
    with arena("sieve-quick", kubeconfig, bootstrap_servers, directory, [(Fault.NONE, *FAULTS)]) as made:
        made.play(lambda each, fault: each.stage.cluster.apply(group(each, fault)), Arena.has_completed)
        made.play(
            lambda each, fault: each.stage.cluster.apply(with_env(group(each, fault), VERSION="2")),
            Arena.has_completed,
        )
        yield made


@pytest.mark.parametrize("fault", FAULTS)
def test_every_pod_is_restarted_once_though_each_write_met_the_fault(played: Arena, fault: Fault) -> None:
    played.assert_ended(fault)
    played.assert_made_once(fault)
    played.assert_restarts(fault, dict.fromkeys(range(REPLICAS), 1))
    played.assert_one_at_a_time(fault, REPLICAS)
    played.assert_whole_in_kafka(fault, REPLICAS)
    played.assert_status(fault)
    played.assert_each_write_met_it(fault)


def test_who_is_throttled_waits_for_as_long_as_it_is_asked_to(played: Arena) -> None:
    assert min(played.proxy.retried_after_s) >= RETRY_AFTER_S
