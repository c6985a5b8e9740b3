"""Each way to another protocol, and an adoption, while watches bring what they should not, or the API server is behind.

The groups are made under the fault, too.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

import pytest

from tests.cli.command import COMMAND
from tests.conftest import ROOT
from tests.e2e.sieve.adopting import admin_kubeconfig, group_for, service, stateful_set, wait_whole
from tests.e2e.sieve.arena import QUICK, Arena, arena, group_of
from tests.e2e.sieve.faults import Fault
from tests.e2e.sieve.test_sieve_watches import ALL, LISTED_AGAIN_S, go_on_after_its_end
from tests.e2e.sieve.watches import WatchFault
from tests.e2e.stage.cluster import Json, condition
from tests.e2e.stage.groups import REPLICAS, connection
from tests.e2e.upgrades import upgrade_ways
from tests.e2e.upgrades.upgrade_ways import aiming_at, group_before

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.minutes(16),
    pytest.mark.timeout(1200),
]

WAYS: Final = {way.name: way for way in upgrade_ways.WAYS}
ADOPTION: Final = "adoption"
ADOPTS_WITHIN_S: Final = 240.0


def before(arena: Arena, name: str) -> Json:
    made = group_before(arena.stage, group_of(name), WAYS[name])
    mine = {"connectionRef": {"name": group_of(name)}, "rollout": QUICK}
    return {**made, "spec": {**made["spec"], **mine}}


@pytest.fixture(scope="module")
def quiet(crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Arena]:
    directory = ROOT / "build" / "e2e" / "sieve_watches_ways"
    with arena("sieve-watches-ways", kubeconfig, bootstrap_servers, directory, [[Fault.NONE]]) as played:
        played.stage.cluster.apply(*(connection(bootstrap_servers, group_of(name)) for name in WAYS))
        played.stage.operator.kill()
        played.stage.operator.environment["SLACKWATER_RESYNC_INTERVAL_S"] = LISTED_AGAIN_S
        yield played


@pytest.fixture(scope="module")
def admin(quiet: Arena) -> Path:
    return admin_kubeconfig(quiet.stage.cluster, ROOT / "build" / "e2e" / "sieve_watches_ways")


@pytest.fixture(scope="module", params=ALL)
def lived(request: pytest.FixtureRequest, quiet: Arena, admin: Path) -> Iterator[Arena]:
    """All ways under one fault, and an adoption beside them."""
    fault: WatchFault = request.param
    stage = quiet.stage
    quiet.failures.clear()
    stage.cluster.apply(service(ADOPTION), stateful_set(stage, ADOPTION))
    stage.cluster.kubectl("rollout", "status", "statefulset", group_of(ADOPTION), "--timeout=120s")
    quiet.proxy.watching = fault
    stage.operator.start()
    if fault is WatchFault.GONE:
        go_on_after_its_end(quiet)
    stage.operator.wait_ready()
    quiet.side_by_side(tuple(WAYS), make, is_made)
    stage.cluster.apply(group_for(stage, ADOPTION))
    stage.cluster.wait_condition(group_of(ADOPTION), "RolloutGated", "True", "ForeignStatefulSet")
    wait_whole(stage, ADOPTION)
    quiet.side_by_side((*WAYS, ADOPTION), lambda arena, name: begin(arena, name, admin), has_ended)
    began = dict(quiet.began)
    yield quiet
    quiet.side_by_side((*WAYS, ADOPTION), undo, is_undone)
    quiet.began.update(began)
    assert not quiet.failures
    stage.operator.kill()


def make(arena: Arena, name: str) -> None:
    arena.stage.cluster.apply(before(arena, name))


def is_made(arena: Arena, name: str) -> bool:
    way = WAYS[name]
    return arena.has_protocol(name, way.before) if way.before else arena.has_completed(name)


def begin(arena: Arena, name: str, admin: Path) -> None:
    if name == ADOPTION:
        adopt(arena, admin)
    else:
        way = WAYS[name]
        arena.stage.cluster.apply(aiming_at(before(arena, name), way, way.target))


def adopt(arena: Arena, admin: Path) -> None:
    words = [str(COMMAND), "adopt", group_of(ADOPTION), "-n", arena.stage.cluster.namespace]
    settings = {**os.environ, "KUBECONFIG": str(admin)}
    done = subprocess.run(words, env=settings, capture_output=True, text=True, timeout=ADOPTS_WITHIN_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def has_ended(arena: Arena, name: str) -> bool:
    if name != ADOPTION:
        return arena.has_protocol(name, WAYS[name].target)
    group = arena.stage.cluster.get("cg", group_of(name)) or {}
    ready, gated = condition(group, "Ready"), condition(group, "RolloutGated")
    return ready.get("status") == "True" and gated.get("reason") == "Paused"


def undo(arena: Arena, name: str) -> None:
    """Of an adopted StatefulSet the service stays, for the next one."""
    arena.stage.cluster.kubectl("delete", "cg", group_of(name), "--wait=false")


def is_undone(arena: Arena, name: str) -> bool:
    """A StatefulSet that was adopted goes with its group, as one that the operator made."""
    cluster = arena.stage.cluster
    gone = cluster.get("cg", group_of(name)) is None and cluster.get("sts", group_of(name)) is None
    return gone and not arena.stage.kafka.look(arena.stage.group_id(group_of(name))).members


def made_at(pod: Json) -> float:
    """In seconds since the epoch."""
    return datetime.fromisoformat(pod["metadata"]["creationTimestamp"]).timestamp()


@pytest.mark.parametrize("way", WAYS)
def test_every_pod_is_restarted_once_for_each_step(lived: Arena, way: str) -> None:
    lived.assert_ended(way)
    lived.assert_restarts(way, dict.fromkeys(range(REPLICAS), WAYS[way].steps))
    if not WAYS[way].drains:
        lived.assert_one_at_a_time(way, REPLICAS)


@pytest.mark.parametrize("way", WAYS)
def test_the_group_is_whole_in_its_new_protocol_and_the_status_says_so(lived: Arena, way: str) -> None:
    lived.assert_ended(way)
    lived.assert_whole_in_kafka(way, REPLICAS)
    lived.assert_status(way)
    seen = lived.stage.kafka.look(lived.stage.group_id(group_of(way)))
    assert (seen.kind, seen.assignor) == WAYS[way].shows


def test_whoever_is_adopted_is_not_restarted(lived: Arena) -> None:
    """Its pods are those that were there before."""
    lived.assert_ended(ADOPTION)
    lived.stage.look_again(group_of(ADOPTION))
    pods = lived.stage.cluster.pods(group_of(ADOPTION))
    assert len(pods) == REPLICAS
    assert all(made_at(pod) < lived.began[group_of(ADOPTION)] for pod in pods)
    lived.assert_whole_in_kafka(ADOPTION, REPLICAS)
