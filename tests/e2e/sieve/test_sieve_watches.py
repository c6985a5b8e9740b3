"""All that is done to groups while watches bring what they should not, or the API server is behind: lists make up for
it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT
from tests.e2e.handover.handovers import WARM, pods, sets
from tests.e2e.sieve.arena import QUICK, Arena, arena, group, group_of
from tests.e2e.sieve.faults import Fault
from tests.e2e.sieve.watches import WatchFault
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS, connection, with_env
from tests.e2e.upgrades.upgrade_ways import RDKAFKA

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.minutes(14),
    pytest.mark.timeout(1200),
]

LISTED_AGAIN_S: Final = "3"
"""Else a watch that hangs is given up after 70 s, by kopf, and a rollout takes one for each pod."""
ALL: Final = [each for each in WatchFault if each is not WatchFault.NONE]
ONLY: Final = Fault.NONE


class Change(StrEnum):
    """What is done to a group of this name, under each fault."""

    ROLLOUT = "rollout"
    ROLLBACK = "rollback"
    HANDOVER = "handover"
    UPGRADE = "upgrade"
    SCALING = "scaling"
    DELETION = "deletion"


MANY: Final = REPLICAS + 1
AT_ONCE: Final = tuple(Change)
AFTERWARDS: Final = (Change.SCALING, Change.DELETION)
"""One that was scaled up is scaled down, one that was made is deleted."""
SETTINGS: Final[dict[Change, dict[str, object]]] = {
    Change.ROLLBACK: {"rollout": {**QUICK, "rejoinTimeout": "30s", "onFailure": "Rollback"}},
    Change.HANDOVER: {"rollout": {**WARM, **QUICK, "rejoinTimeout": "3m"}},
    Change.UPGRADE: {"client": RDKAFKA, "protocol": {"target": "Eager"}},
}
ANOTHER: Final = {"Eager": "Consumer", "Consumer": "Eager"}


def made(arena: Arena, change: Change, **settings: object) -> Json:
    return group(arena, change, **{**SETTINGS.get(change, {}), **settings})


@pytest.fixture(scope="module")
def quiet(crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Arena]:
    directory = ROOT / "build" / "e2e" / "sieve_watches"
    with arena("sieve-watches", kubeconfig, bootstrap_servers, directory, [[ONLY]]) as played:
        played.stage.cluster.apply(*(connection(bootstrap_servers, group_of(change)) for change in Change))
        played.stage.create(*(made(played, change) for change in Change if change is not Change.DELETION))
        played.stage.operator.kill()
        played.stage.operator.environment["SLACKWATER_RESYNC_INTERVAL_S"] = LISTED_AGAIN_S
        yield played


@dataclass(frozen=True)
class Under:
    """A fault, and the protocol that the group of upgrades is taken to under it."""

    fault: WatchFault
    target: str

    def begin(self, arena: Arena, change: Change) -> None:
        apply, version = arena.stage.cluster.apply, str(self.fault)
        match change:
            case Change.SCALING:
                scale(arena, MANY)
            case Change.DELETION:
                apply(made(arena, change))
            case Change.UPGRADE:
                apply(made(arena, change, protocol={"target": self.target}))
            case Change.ROLLBACK:
                apply(with_env(made(arena, change), VERSION=version, NEVER_JOIN="1"))
            case Change.ROLLOUT | Change.HANDOVER:
                apply(with_env(made(arena, change), VERSION=version))

    def has_ended(self, arena: Arena, change: Change) -> bool:
        match change:
            case Change.SCALING:
                return arena.has_completed(change, MANY)
            case Change.UPGRADE:
                return arena.has_protocol(change, self.target)
            case Change.ROLLBACK:
                return arena.has_come_to(change, "RolledBack") and arena.is_parked(change)
            case Change.HANDOVER:
                return arena.has_come_to(change, "Complete") and len(sets(arena.stage, group_of(change))) == 1
        return arena.has_completed(change)


def undo(arena: Arena, change: Change) -> None:
    if change is Change.SCALING:
        scale(arena, REPLICAS)
    else:
        arena.stage.cluster.kubectl("delete", "cg", group_of(change), "--wait=false")


def is_undone(arena: Arena, change: Change) -> bool:
    if change is Change.SCALING:
        return arena.has_completed(change) and arena.has_members(change, REPLICAS)
    return arena.stage.cluster.get("cg", group_of(change)) is None


def scale(arena: Arena, replicas: int) -> None:
    arena.stage.cluster.kubectl("scale", "cg", group_of(Change.SCALING), f"--replicas={replicas}")


@pytest.fixture(scope="module", params=ALL)
def lived(request: pytest.FixtureRequest, quiet: Arena) -> Iterator[Arena]:
    """All changes under one fault."""
    fault: WatchFault = request.param
    status = quiet.stage.cluster.status(group_of(Change.UPGRADE))
    under = Under(fault, ANOTHER[status["protocol"]["current"]])
    quiet.failures.clear()
    quiet.proxy.watching = fault
    quiet.stage.operator.start()
    if fault is WatchFault.GONE:
        go_on_after_its_end(quiet)
    quiet.stage.operator.wait_ready()
    quiet.side_by_side(AT_ONCE, under.begin, under.has_ended)
    began = dict(quiet.began)
    quiet.side_by_side(AFTERWARDS, undo, is_undone)
    quiet.began.update(began)
    yield quiet
    quiet.stage.operator.kill()


def go_on_after_its_end(arena: Arena) -> None:
    """What kopf does not try again ends the process; Kubernetes starts it again."""
    arena.stage.operator.wait_dead(60.0)
    arena.proxy.watching = WatchFault.NONE
    arena.stage.operator.start()


def test_every_pod_is_restarted_once(lived: Arena) -> None:
    lived.assert_ended(Change.ROLLOUT)
    lived.assert_restarts(Change.ROLLOUT, dict.fromkeys(range(REPLICAS), 1))
    lived.assert_one_at_a_time(Change.ROLLOUT, REPLICAS)
    lived.assert_whole_in_kafka(Change.ROLLOUT, REPLICAS)
    lived.assert_status(Change.ROLLOUT)


def test_of_a_bad_version_one_pod_goes_there_and_back(lived: Arena) -> None:
    lived.assert_ended(Change.ROLLBACK)
    lived.assert_restarts(Change.ROLLBACK, {0: 0, 1: 0, REPLICAS - 1: 2})
    lived.assert_one_at_a_time(Change.ROLLBACK, REPLICAS)
    lived.assert_whole_in_kafka(Change.ROLLBACK, REPLICAS)
    lived.assert_status(Change.ROLLBACK, "RolledBack", "True")


def test_each_ordinal_is_handed_over_and_no_old_pod_is_made_again(lived: Arena) -> None:
    """Where a write is late, a replacement starts again."""
    lived.assert_ended(Change.HANDOVER)
    (newer,) = sets(lived.stage, group_of(Change.HANDOVER))
    wanted = [f"{newer}-{ordinal}" for ordinal in range(REPLICAS)]
    assert sorted(pod for pod, times in lived.made_again(Change.HANDOVER).items() if times) == wanted
    assert pods(lived.stage, group_of(Change.HANDOVER)) == wanted
    lived.assert_whole_in_kafka(Change.HANDOVER, REPLICAS)
    lived.assert_status(Change.HANDOVER)


def test_for_another_protocol_every_pod_is_restarted_once(lived: Arena) -> None:
    lived.assert_ended(Change.UPGRADE)
    lived.assert_restarts(Change.UPGRADE, dict.fromkeys(range(REPLICAS), 1))
    lived.assert_one_at_a_time(Change.UPGRADE, REPLICAS)
    lived.assert_whole_in_kafka(Change.UPGRADE, REPLICAS)
    lived.assert_status(Change.UPGRADE)


def test_who_stays_is_not_touched_by_scaling_up_and_down(lived: Arena) -> None:
    lived.assert_ended(Change.SCALING)
    lived.assert_restarts(Change.SCALING, {**dict.fromkeys(range(REPLICAS), 0), MANY - 1: 1})
    lived.assert_whole_in_kafka(Change.SCALING, REPLICAS)
    lived.assert_status(Change.SCALING)


def test_nothing_is_left_of_a_group_that_is_made_and_deleted(lived: Arena) -> None:
    lived.assert_ended(Change.DELETION)
    name = group_of(Change.DELETION)
    lived.assert_restarts(Change.DELETION, dict.fromkeys(range(REPLICAS), 1))
    assert lived.stage.cluster.pods(name) == []
    assert lived.stage.cluster.get("sts", name) is None
    seen = lived.stage.kafka.look(lived.stage.group_id(name))
    assert (seen.state, seen.members) == ("EMPTY", {})


def test_the_operator_lives_but_after_http_410_where_it_says_so(lived: Arena, request: pytest.FixtureRequest) -> None:
    """`lived` started it again."""
    process = lived.stage.operator.process
    assert process is not None
    assert process.poll() is None, lived.stage.operator.log_tail()
    if request.node.callspec.params["lived"] is WatchFault.GONE:
        assert "the cluster cannot be watched any more" in lived.stage.operator.log.read_text()
