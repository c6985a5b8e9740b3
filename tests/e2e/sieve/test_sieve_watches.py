"""A rollout while watches bring what they should not, or the API server is behind: lists make up for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT
from tests.e2e.sieve.arena import Arena, arena, group
from tests.e2e.sieve.faults import Fault
from tests.e2e.sieve.watches import WatchFault
from tests.e2e.stage.groups import REPLICAS, with_env

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.minutes(6),
    pytest.mark.timeout(1200),
]

LISTED_AGAIN_S: Final = "3"
"""Else a watch that hangs is given up after 70 s, by kopf, and a rollout takes one for each pod."""
LIVED_THROUGH: Final = [each for each in WatchFault if each not in (WatchFault.NONE, WatchFault.GONE)]
ONLY: Final = Fault.NONE


@pytest.fixture(scope="module")
def quiet(crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Arena]:
    directory = ROOT / "build" / "e2e" / "sieve_watches"
    with arena("sieve-watches", kubeconfig, bootstrap_servers, directory, [[ONLY]]) as made:
        made.stage.create(group(made, ONLY))
        made.stage.operator.kill()
        made.stage.operator.environment["SLACKWATER_RESYNC_INTERVAL_S"] = LISTED_AGAIN_S
        yield made


@pytest.mark.parametrize("fault", LIVED_THROUGH)
def test_every_pod_is_restarted_once(quiet: Arena, fault: WatchFault) -> None:
    quiet.failures.clear()
    quiet.proxy.watching = fault
    quiet.stage.operator.start()
    quiet.stage.operator.wait_ready()
    quiet.play(
        lambda each, only: each.stage.cluster.apply(with_env(group(each, only), VERSION=fault)), Arena.has_completed
    )
    quiet.assert_ended(ONLY)
    quiet.assert_restarts(ONLY, dict.fromkeys(range(REPLICAS), 1))
    quiet.assert_one_at_a_time(ONLY, REPLICAS)
    quiet.assert_whole_in_kafka(ONLY, REPLICAS)
    quiet.assert_status(ONLY)
    process = quiet.stage.operator.process
    assert process is not None
    assert process.poll() is None, quiet.stage.operator.log_tail()
    quiet.stage.operator.kill()


def test_http_410_ends_the_process_which_says_so_and_the_next_one_goes_on(quiet: Arena) -> None:
    """What kopf does not try again ends it; Kubernetes starts the process again."""
    quiet.proxy.watching = WatchFault.GONE
    quiet.stage.operator.start()
    quiet.stage.operator.wait_dead(60.0)
    assert "the cluster cannot be watched any more" in quiet.stage.operator.log_tail()
    quiet.proxy.watching = WatchFault.NONE
    quiet.stage.operator.start()
    quiet.play(
        lambda each, only: each.stage.cluster.apply(with_env(group(each, only), VERSION="gone")), Arena.has_completed
    )
    quiet.assert_ended(ONLY)
    quiet.assert_restarts(ONLY, dict.fromkeys(range(REPLICAS), 1))
    quiet.stage.operator.kill()
