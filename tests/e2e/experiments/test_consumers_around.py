"""Consumers as they are: stopped, deadlocked, too slow, slow to commit, transactional, several a pod, killed by threes.

Each is rolled out as a ConsumerGroup while it behaves so. The rollout ends, the operator never takes a second pod away,
and the condition says what it waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

import pytest

from sandbox.workload.misbehaviour import wait_of
from sandbox.workload.output import read_output
from tests.e2e.experiments.figures import keep, measure
from tests.e2e.experiments.seen import made_since, most_down, most_taken, reasons
from tests.e2e.experiments.worlds import Kind, World, played
from tests.e2e.stage import processes
from tests.e2e.stage.groups import PARTITIONS, REPLICAS
from tests.e2e.stage.kafka import Lookout
from tests.e2e.stage.progress import pods_of
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.quiet, pytest.mark.long, pytest.mark.minutes(10), pytest.mark.timeout(600)]

SESSION_S: Final = 10
LONG_SESSION_S: Final = 45
COMMIT_S: Final = 60
KILLED: Final = 137
"""A container's exit code after SIGKILL."""
SLOWLY: Final = {"rollout": {"stableFor": "20s", "rejoinTimeout": "5m"}}
"""So that a session ends before the rollout does."""
Env = dict[str, str | None]


@contextmanager
def group(
    stage: Stage, name: str, session_s: int = LONG_SESSION_S, env: Env | None = None, **more: Any
) -> Iterator[World]:
    """A ConsumerGroup of static members under load; it is gone at the end."""
    world = World(stage, Kind(name, "consumergroup", static=True), session_s, env=dict(env or {}), **more)
    with played(world):
        yield world


def rolled_out(world: World, happens: Callable[[], None] | None = None, victim: str = "") -> tuple[float, float]:
    """Roll a version out, something happening meanwhile; the moments between which it took place, all served again.

    Every pod was made again once, and the operator took them one at a time; `victim` may be down by itself meanwhile.
    """
    began = time.time()
    world.apply(VERSION="2")
    if happens:
        happens()
    world.wait_rolled_out()
    world.wait_served()
    ended = time.time()
    assert set(made_since(world.stage, world.name, began).values()) == {1}
    assert most_down(world.stage, world.name, REPLICAS, began, victim) == 1
    figures = measure(world, began, ended)
    said = reasons(world.stage, world.name, began)
    keep("consumers-around", world.name, "Slackwater, static", figures, said=said)
    assert figures.missing == 0
    return began, ended


def test_one_that_is_stopped_for_longer_than_its_session(stage: Stage) -> None:
    """SIGSTOP for the lowest ordinal while the highest is replaced: Ready for the kubelet, and out of its group."""
    with group(stage, "stopped", SESSION_S, spec=SLOWLY) as world:
        stopped = world.pod_names()[0]

        def happens() -> None:
            with processes.stopped(world.pods()[0]):
                wait_for("the session to end", lambda: stopped not in world.now().members)
                wait_for("it to be said", lambda: _said(world, stopped), 60.0, lambda: _held(world))
                assert _new_pods(world) <= 1

        rolled_out(world, happens, stopped)


def test_one_that_deadlocks_on_sigterm(stage: Stage) -> None:
    """It ends with its grace, by the kubelet; the condition names it until then, and no second pod is taken."""
    with group(stage, "deadlocked", env={"DEADLOCK_ON_SIGTERM": "1"}) as world:
        pods = world.pod_names()

        def happens() -> None:
            (ending,) = wait_for("one to be ending", lambda: _ending(world) or None, 60.0, lambda: _held(world))
            wait_for("it to be said", lambda: _said(world, ending), 60.0, lambda: _held(world))
            assert _ending(world) == [ending], "it was said too late, or of more than one"
            assert _new_pods(world) == 0

        began, ended = rolled_out(world, happens)
        assert _exit_codes(stage, world.name, began) == dict.fromkeys(pods, KILLED)
        assert most_taken(stage, world.name, began) == 1
        assert stage.kafka.rebalances(world.group_id, began, ended) == 0


def test_one_that_exceeds_max_poll(stage: Stage) -> None:
    """A record keeps it from polling for longer than it may: it is out of the group, and back when it is done.

    It is a record that nobody else minds: one that blocks whoever has it takes the whole group out, one by one.
    """
    with group(stage, "too-slow", SESSION_S, {"WAIT_SECONDS": "60"}, max_poll_s=SESSION_S, spec=SLOWLY) as world:
        slow = world.pod_names()[0]
        world.send(wait_of(slow), next(p for p, pod in world.owners().items() if pod == slow))

        def happens() -> None:
            wait_for("it to be out of its group", lambda: slow not in world.now().members, 90.0, world.now)
            wait_for("it to be said", lambda: _said(world, slow), 60.0, lambda: _held(world))

        rolled_out(world, happens)


def test_those_that_commit_once_a_minute(stage: Stage) -> None:
    """After each pod the next one waits for a commit: the condition says so, and it goes on by itself."""
    with group(stage, "slow-to-commit", env={"COMMIT_SECONDS": str(COMMIT_S)}) as world:
        began, ended = rolled_out(world)
        assert "OffsetsNotMoving" in reasons(stage, world.name, began)
        assert stage.kafka.rebalances(world.group_id, began, ended) == 0


def test_those_that_write_in_transactions(stage: Stage) -> None:
    """Every record is written exactly once, through the whole rollout."""
    output = f"{stage.topic}-output"
    stage.kafka.make_topic(output, 1)
    with group(stage, "transactional", env={"OUTPUT_TOPIC": output}) as world:
        began, ended = rolled_out(world)
        assert stage.kafka.rebalances(world.group_id, began, ended) == 0
        written = read_output({"bootstrap.servers": stage.kafka.bootstrap_servers}, output)
    assert len(written) == len(set(written)), "a record was written twice"
    for partition in range(PARTITIONS):
        offsets = sorted(offset for part, offset in written if part == partition)
        assert offsets
        assert offsets == list(range(offsets[0], offsets[0] + len(offsets))), f"of partition {partition} one is missing"


def test_three_members_a_pod(stage: Stage) -> None:
    with group(stage, "by-threes", env={"MEMBERS": "3"}, members_per_pod=3, partitions=9) as world:
        began, ended = rolled_out(world)
        assert stage.kafka.rebalances(world.group_id, began, ended) == 0
        assert len(world.now().members) == 3 * REPLICAS


def test_pods_killed_three_at_a_time_under_kip_848(stage: Stage) -> None:
    """Six pods, of which three die at once, in the middle of a rollout: the others keep what they have."""
    with group(stage, "killed", replicas=6, spec={"protocol": {"target": "Consumer"}}) as world:
        began, had = time.time(), world.now().owners
        world.apply(VERSION="2")
        wait_for("the first pod to be made again", lambda: _new_pods(world) >= 1, 60.0)
        victims = world.pods()[:3]
        names = {pod["metadata"]["name"] for pod in victims}
        with Lookout(stage.kafka, world.group_id) as lookout, ThreadPoolExecutor(3) as pool:
            assert list(pool.map(processes.kill, victims)) == [True] * 3
            wait_for("their containers to start again", lambda: _started_again(stage, world.name, began) == names)
            world.wait_rolled_out()
            world.wait_served()
        ended = time.time()
        figures = measure(world, began, ended)
        said = reasons(stage, world.name, began)
        keep("consumers-around", world.name, "Slackwater, static", figures, said=said)
        assert figures.missing == 0
        assert set(made_since(stage, world.name, began).values()) == {1}
        assert most_taken(stage, world.name, began) == 1
        others = {(partition, pod) for partition, pod in had if pod not in names}
        assert [others - each.owners for each in lookout.sightings() if not others <= each.owners] == []


def _said(world: World, pod: str) -> bool:
    """Whether the operator named this pod in its reason for waiting."""
    condition = world.stage.cluster.condition(world.name, "RolloutGated")
    return condition.get("status") == "True" and pod in condition["message"]


def _held(world: World) -> str:
    return world.stage.cluster.summary(world.name)


def _new_pods(world: World) -> int:
    return sum({"name": "VERSION", "value": "2"} in pod["spec"]["containers"][0]["env"] for pod in world.pods())


def _ending(world: World) -> list[str]:
    """The pods that were asked to end and have not."""
    stage, label = world.stage, f"slackwater.dev/group={world.name}"
    found, _ = stage.cluster.api.list_all("pods", stage.cluster.namespace, label)
    return [pod["metadata"]["name"] for pod in found if "deletionTimestamp" in pod["metadata"]]


def _exit_codes(stage: Stage, name: str, since: float) -> dict[str, int]:
    """What each pod that was asked to end ended with."""
    codes = {}
    for record in pods_of(stage.recorder.records("pods", since), name):
        for status in record.obj["status"].get("containerStatuses", ()):
            if "deletionTimestamp" in record.obj["metadata"] and "terminated" in status["state"]:
                codes[record.name] = status["state"]["terminated"]["exitCode"]
    return codes


def _started_again(stage: Stage, name: str, since: float) -> set[str]:
    """The pods whose container has started more than once."""
    records = pods_of(stage.recorder.records("pods", since), name)
    statuses = ((r.name, each) for r in records for each in r.obj["status"].get("containerStatuses", ()))
    return {pod for pod, each in statuses if each["restartCount"] >= 1}
