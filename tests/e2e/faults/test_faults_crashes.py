"""The operator is killed after each of its writes in a rollout, one by one; all end as if nothing had been.

SLACKWATER_CRASH_EVERY=2 takes every second one, in about half the time: for working on these tests.
Events are left out of the count: nothing reads them back, so dying after one is dying after the write before it.
Several rollouts run side by side, each in a namespace and with an operator of its own: most of the time is waiting.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Final

import pytest

from slackwater.adapters.cluster.api import KubernetesApi
from tests.e2e.faults.crashing import WRITES
from tests.e2e.faults.fault_stage import GROUP, POD_NAMES, STABLE_FOR_S, FaultStage, fault_stage, is_ready
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(8), pytest.mark.timeout(2700)]

LANES: Final = 4
FIRST_PORT: Final = 18100
EVERY: Final = int(os.environ.get("SLACKWATER_CRASH_EVERY") or 1)
STILL_FOR_S: Final = 2 * STABLE_FOR_S
"""How long nothing may move while the operator is down: a living one would have taken the next step by then."""
MOST_WRITES: Final = 60
"""Far more than a rollout of three pods takes: a rollout with more has lost its way."""


@dataclass(frozen=True)
class Kind:
    """What is rolled out, how it ends, and how often each pod is made again on the way."""

    phase: str
    rollout: Json
    never_joins: bool
    restarts: dict[str, int]
    first: int
    """The first write to crash after."""


FORWARD: Final = Kind("Complete", {}, False, dict.fromkeys(POD_NAMES, 1), 1)
BACK: Final = Kind(
    "RolledBack",
    {"rejoinTimeout": "4s", "onFailure": "Rollback"},
    True,
    dict(zip(POD_NAMES, (0, 0, 2), strict=True)),  # to the version that never joins, and back
    min(2, EVERY),
)


@pytest.fixture(scope="module")
def lanes(
    crds: None, kubeconfig: Path, bootstrap_servers: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[FaultStage, ...]]:
    folder = tmp_path_factory.mktemp("crashes")
    with ExitStack() as stack:
        lanes = tuple(
            stack.enter_context(fault_stage(kubeconfig, bootstrap_servers, folder, FIRST_PORT + number))
            for number in range(LANES)
        )
        with ThreadPoolExecutor(LANES) as pool:
            list(pool.map(_roll_out_first, lanes))
        yield lanes


def _roll_out_first(stage: FaultStage) -> None:
    stage.apply_version("first")
    stage.start_operator()
    stage.wait_ended()
    stage.operator.kill()


def test_every_method_that_writes_is_counted() -> None:
    """A new one would escape the crashes below."""
    methods = inspect.getmembers(KubernetesApi, inspect.isfunction)
    sent = {name: _verbs(method) for name, method in methods if name != "_send"}
    assert {name for name, verbs in sent.items() if verbs - {"GET"}} == set(WRITES)
    assert {name for name, verbs in sent.items() if "GET" in verbs} == {"read", "list_all", "events_of", "version"}


def _verbs(method: Callable[..., object]) -> set[str]:
    """Of the requests that the method sends itself; one that sends by another method is counted there."""
    calls = (node for node in ast.walk(ast.parse(dedent(inspect.getsource(method)))) if isinstance(node, ast.Call))
    sends = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "_send"]
    verbs = [call.args[0] for call in sends]
    assert all(isinstance(verb, ast.Constant) for verb in verbs), "a request whose verb is not written out"
    return {str(verb.value) for verb in verbs if isinstance(verb, ast.Constant)}


@pytest.mark.long  # `make crashes`
@pytest.mark.parametrize("kind", [FORWARD, BACK], ids=["rollout", "rollback"])
def test_the_operator_is_killed_after_its_writes(lanes: tuple[FaultStage, ...], kind: Kind) -> None:
    points = _CrashPoints(kind.first)
    with ThreadPoolExecutor(LANES) as pool:
        list(pool.map(lambda stage: points.work_off(lambda after: crash(stage, kind, after)), lanes))
    assert 10 < points.last < MOST_WRITES, "a rollout of three pods takes about twenty writes"


class _CrashPoints:
    """Numbers of writes, shared by the lanes, until a rollout ends with fewer writes than that."""

    def __init__(self, first: int) -> None:
        self._numbers = itertools.count(first, EVERY)
        self.last = 0

    def work_off(self, crash_after: Callable[[int], bool]) -> None:
        for after in self._numbers:
            if self.last or after >= MOST_WRITES or not crash_after(after):
                self.last = max(self.last, after)
                return


def crash(stage: FaultStage, kind: Kind, after: int) -> bool:
    """One rollout with a crash after that many writes. Returns False when it ended before it came to that."""
    before = stage.recorder.snapshot()
    writes = stage.operator.log.with_name(f"{kind.phase}-{after}.writes")
    version = f"{kind.phase}-{after}"
    stage.rollout = kind.rollout
    stage.apply_version(version, never_joins=kind.never_joins)
    stage.operator.start(CRASH_AFTER_WRITES=str(after), CRASH_COUNTS="acts", WRITES_LOG=str(writes))
    crashed = _wait_dead_or_ended(stage, kind)
    stage.operator.kill()

    where = f"after write {after} of a {kind.phase}: {writes.read_text().splitlines()[-1]}"
    at_death = stage.uids()
    wait_for(f"the cluster to be at rest {where}", lambda: _is_at_rest(stage), 180.0, stage.pods)
    resting = stage.uids()
    given = {name for name in resting if resting[name] != at_death.get(name)}
    assert len(given) <= 1, f"more moved than the step that was given, {where}: {given}"
    _assert_still(stage, resting, where)

    stage.start_operator()
    stage.wait_ended(kind.phase)
    stage.operator.kill()
    assert stage.recorder.restarts(before) == kind.restarts, where
    runs_everywhere = stage.versions() == [version] * REPLICAS
    assert runs_everywhere or (kind.never_joins and version not in stage.versions()), where
    return crashed


def _wait_dead_or_ended(stage: FaultStage, kind: Kind) -> bool:
    process = stage.operator.process
    assert process is not None

    def look() -> str | None:
        if process.poll() is not None:
            return "dead"
        return "ended" if stage.has_ended(kind.phase) else None

    return wait_for("a crash or an end", look, 300.0, lambda: stage.cluster.summary(GROUP)) == "dead"


def _is_at_rest(stage: FaultStage) -> bool:
    """The StatefulSet controller has done all that it was given: nobody but an operator would do anything."""
    found, pods = stage.stateful_set(), stage.pods()
    spec, status = found["spec"], found["status"]
    partition = (spec["updateStrategy"].get("rollingUpdate") or {}).get("partition", REPLICAS)
    return (
        status["observedGeneration"] == found["metadata"]["generation"]
        and len(pods) == REPLICAS
        and all(is_ready(pod) and "deletionTimestamp" not in pod["metadata"] for pod in pods)
        and all(_revision(pod) == status["updateRevision"] for pod in pods[partition:])
    )


def _revision(pod: Json) -> str:
    return str(pod["metadata"]["labels"]["controller-revision-hash"])


def _assert_still(stage: FaultStage, resting: dict[str, str], where: str) -> None:
    end = time.monotonic() + STILL_FOR_S
    while time.monotonic() < end:
        assert stage.uids() == resting, f"pods moved while the operator was down, {where}"
