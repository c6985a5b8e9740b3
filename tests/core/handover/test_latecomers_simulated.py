"""A pod that a warm handover waits for, and that does not join: it is said, and people's ways on lead on."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

import pytest

from slackwater.cli.words.explanation import explain
from slackwater.core.world.memory import RolloutPhase, read_memory
from slackwater.core.world.two_sets import names_of
from tests.core.factories import NAME
from tests.core.handover.bad_node import BadNode, condition
from tests.core.simulation.operator import Crash, Crashes
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.stateful_set import SimulatedPod
from tests.core.simulation.versions import VERSIONS

pytestmark = pytest.mark.slow

COMPLETE, ROLLED_BACK = RolloutPhase.COMPLETE, RolloutPhase.ROLLED_BACK
FIRST, SECOND = names_of(NAME)
REJOIN_TIMEOUT_S: Final = 20


def images(run: Run) -> list[tuple[str, str]]:
    return sorted((pod.name, run.outside.image(pod)) for pod in run.outside.pods)


def all_of(workload: str, version: str) -> list[tuple[str, str]]:
    return [(f"{workload}-{ordinal}", version) for ordinal in range(3)]


def halfway(crashes: Crash | None = None, seed: int | None = None, **rollout: Any) -> Run:
    """Two pods of v2 have taken over from v1."""
    options: dict[str, Any] = {"strategy": "WarmHandover", "onFailure": "Rollback", **rollout}
    random = None if seed is None else Random(seed)
    run = Run(Outside(version="v1", **options), random, crashes=Crashes(crashes))
    run.until(COMPLETE)
    run.for_seconds(10)
    run.outside.apply("v2")
    run.until_it_is("halfway", _two_have_taken_over, 200)
    run.for_seconds(1)
    return run


def _two_have_taken_over(outside: Outside) -> bool:
    serving = [pod for pod in outside.pods if pod.workload == SECOND and outside.serves(pod)]
    return len(serving) == 2 and not any(pod.gone_at for pod in outside.pods)


def found(run: Run, name: str) -> SimulatedPod:
    return next(pod for pod in run.outside.pods if pod.name == name)


def delete(run: Run, name: str) -> None:
    pod = found(run, name)
    run.outside.sets[pod.workload].delete(pod.ordinal, pod.uid, run.outside.now)


def breaks(run: Run, name: str) -> None:
    """That pod crashes from now on."""
    pod = found(run, name)
    pod.version = VERSIONS["crashes"]
    pod.crash(run.outside.now)


def not_checked_for_who_is_down(run: Run) -> Run:
    """One is down all the time, by itself."""
    run.invariants._all_others_serve = lambda pod: None  # type: ignore[method-assign]
    return run


# Alone, since the pod before it had crashed.


def left_alone(behaves: str, crashes: Crash | None = None) -> tuple[Run, BadNode]:
    """v1's pod came back where v2's crashed, and does not join."""
    run = halfway(crashes)
    breaks(run, f"{SECOND}-1")
    return run, BadNode(run, behaves, (1, "v1"))


def test_a_pod_that_never_joins_is_deleted_three_times_with_doubling_pauses_and_that_is_said() -> None:
    run, node = left_alone("never-joins")
    node.steps(1800)
    first, second, third = node.deleted_at
    assert second - first == pytest.approx(2 * REJOIN_TIMEOUT_S, abs=10)
    assert third - second == pytest.approx(4 * REJOIN_TIMEOUT_S, abs=10)
    for kind in ("RolloutGated", "Degraded"):
        status, reason, message = condition(run, kind)
        assert (status, reason) == ("True", "PodNotJoining")
        assert f"pod {FIRST}-1 has not joined the group" in message
        assert "started again 3 times" in message
        assert "apply another version" in message
    said = [line for line in run.operator.log if "event PodNotJoining" in line]
    assert [f"{number} of 3" in line for number, line in enumerate(said[:3], 1)] == [True] * 3
    assert not any("FencedEachOther" in line for line in run.operator.log)


def test_the_tries_outlast_restarts_of_the_operator() -> None:
    run, node = left_alone("never-joins")
    for _ in range(30):
        node.steps(30)
        run.operator.die("and starts again")
    assert len(node.deleted_at) == 3


def test_a_pod_that_takes_longer_than_the_timeout_to_join_may_finish() -> None:
    _, node = left_alone("slow")
    node.until(ROLLED_BACK, within_s=900)
    assert len(node.deleted_at) <= 2


def test_a_pod_that_crashes_is_named_and_left_to_its_node() -> None:
    run, node = left_alone("crashes")
    node.steps(120)
    status, reason, message = condition(run, "Degraded")
    assert (status, reason) == ("True", "PodNotJoining")
    assert f"pod {FIRST}-1 has not joined the group" in message
    assert node.deleted_at == []


def stands(behaves: str = "never-joins") -> tuple[Run, BadNode]:
    run, node = left_alone(behaves)
    node.steps(400)
    assert condition(run, "Degraded")[1] == "PodNotJoining"
    return run, node


def test_deleting_it_leads_on_once_its_node_is_mended() -> None:
    run, node = stands()
    node.bad = False
    delete(run, f"{FIRST}-1")
    node.until(ROLLED_BACK)
    assert images(run) == all_of(FIRST, "v1")


def test_another_version_leads_on() -> None:
    run, node = stands()
    not_checked_for_who_is_down(run)
    run.outside.apply("v3")
    node.until(RolloutPhase.PROGRESSING)
    node.until(COMPLETE)
    assert images(run) == all_of(SECOND, "v3")


# Beside the pod that works.


def waited_for(behaves: str, doing: Callable[[Outside], None], ordinal: int) -> tuple[Run, BadNode]:
    run = halfway()
    node = BadNode(run, behaves, (ordinal, "v1"))
    doing(run.outside)
    return run, node


@pytest.mark.parametrize("behaves", ["never-joins", "never-ready", "crashes"])
@pytest.mark.parametrize("ordinal", [0, 1])
def test_a_pod_that_does_not_take_over_on_the_way_back_is_named(behaves: str, ordinal: int) -> None:
    run, node = waited_for(behaves, Outside.abort, ordinal)
    node.steps(120)
    decided, world = run.operator.last, run.operator.last_world
    assert decided is not None
    assert world is not None
    assert explain(world, decided).reason == "PodNotJoining"
    for kind in ("RolloutGated", "Degraded"):
        status, reason, message = condition(run, kind)
        assert (status, reason) == ("True", "PodNotJoining")
        assert f"pod {FIRST}-{ordinal} has not taken over from {SECOND}-{ordinal}" in message
        assert "delete the pod" in message
        assert "apply another version" not in message, "that waits for it, too"
    assert node.deleted_at == []
    assert run.outside.serves(found(run, f"{SECOND}-{ordinal}"))


@pytest.mark.parametrize("ordinal", [0, 1])
def test_deleting_the_pod_that_does_not_take_over_leads_on(ordinal: int) -> None:
    run, node = waited_for("never-joins", Outside.abort, ordinal)
    node.steps(120)
    node.bad = False
    delete(run, f"{FIRST}-{ordinal}")
    node.until(ROLLED_BACK)
    assert images(run) == all_of(FIRST, "v1")


def test_the_version_before_is_applied_again_and_a_pod_of_it_does_not_take_over() -> None:
    """Nobody has aborted anything: no phase says that something is wrong."""
    run, node = waited_for("never-joins", lambda outside: outside.apply("v1"), 1)
    node.steps(120)
    status, reason, message = condition(run, "Degraded")
    assert (status, reason) == ("True", "PodNotJoining")
    assert "apply another version" in message
    node.bad = False
    delete(run, f"{FIRST}-1")
    node.until(COMPLETE)
    assert images(run) == all_of(FIRST, "v1")


@pytest.mark.parametrize("ordinal", [0, 1])
def test_no_pod_is_given_what_somebody_aborted_on_the_way_to_a_third_version(ordinal: int) -> None:
    """It may work and do the wrong thing. The pod of the older version is waited for, and that is told."""
    run, node = waited_for("never-joins", Outside.abort, ordinal)
    node.steps(20)
    before = [pod for pod in images(run) if pod[1] == "v2"]
    run.outside.apply("v3")
    node.steps(200)
    assert [pod for pod in images(run) if pod[1] == "v2"] == before
    status, reason, message = condition(run, "Degraded")
    assert (status, reason) == ("True", "PodNotJoining")
    assert "another version" not in message
    node.bad = False
    delete(run, f"{FIRST}-{ordinal}")
    node.until(COMPLETE)
    assert {image for _, image in images(run)} == {"v3"}


@pytest.mark.parametrize("ordinal", [0, 1])
@pytest.mark.parametrize("behaves", ["never-joins", "crashes"])
def test_a_third_version_in_the_middle_goes_on_over_the_younger_one(behaves: str, ordinal: int) -> None:
    run, node = waited_for(behaves, lambda outside: outside.apply("v3"), ordinal)
    node.until(COMPLETE)
    assert images(run) == all_of(FIRST, "v3")
    assert node.deleted_at == []


@pytest.mark.parametrize("moment", list(Crash))
def test_it_goes_on_where_the_operator_dies_all_the_time(moment: Crash) -> None:
    run = halfway(moment)
    node = BadNode(run, "never-joins", (1, "v1"))
    run.outside.apply("v3")
    node.until(COMPLETE, within_s=800)
    assert images(run) == all_of(FIRST, "v3")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("behaves", ["never-joins", "slow", "crashes"])
def test_it_goes_on_in_any_order_of_things(behaves: str, seed: int) -> None:
    run = halfway(seed=seed)
    node = BadNode(run, behaves, (1, "v1"))
    run.outside.apply("v3")
    node.until(COMPLETE, within_s=800)
    assert {image for _, image in images(run)} == {"v3"}


@pytest.mark.parametrize("behaves", ["never-joins", "crashes"])
def test_a_third_version_goes_on_where_neither_pod_of_an_ordinal_works(behaves: str) -> None:
    run = not_checked_for_who_is_down(halfway())
    node = BadNode(run, behaves, (0, "v1"))
    run.outside.apply("v3")
    node.steps(12)
    assert any(pod.name == f"{FIRST}-0" for pod in run.outside.pods)
    breaks(run, f"{SECOND}-0")
    node.until(COMPLETE)
    assert {image for _, image in images(run)} == {"v3"}


def test_abort_turns_the_way_over_the_younger_one_round() -> None:
    run, node = waited_for("never-joins", lambda outside: outside.apply("v3"), 1)
    run_until_it_leads_on(run, node)
    assert (
        sum("event HandingOver: back leads nowhere: all pods get version v2" in line for line in run.operator.log) == 1
    )
    node.bad = False
    run.outside.abort()
    node.until(ROLLED_BACK)
    assert images(run) == all_of(FIRST, "v1")


def run_until_it_leads_on(run: Run, node: BadNode) -> None:
    """And the next pod's replacement with the younger version has been made."""
    for _ in range(120):
        node.step()
        if any(pod.name == f"{SECOND}-2" for pod in run.outside.pods):
            return
    raise AssertionError("\n".join(run.operator.log[-40:]))


def test_a_pod_that_is_only_slow_takes_over_after_all() -> None:
    run, node = waited_for("slow", Outside.abort, 1)
    node.until(ROLLED_BACK)
    assert images(run) == all_of(FIRST, "v1")


def test_neither_version_s_next_pod_joins_and_a_fourth_begins_at_the_first_again() -> None:
    run = halfway()
    node = BadNode(run, "never-joins", (1, "v1"), (2, "v2"))
    run.outside.apply("v3")
    node.steps(200)
    assert read_memory(run.outside.status).onwards_hash
    status, reason, message = condition(run, "Degraded")
    assert (status, reason) == ("True", "PodNotJoining")
    assert f"pod {SECOND}-2 has not taken over from {FIRST}-2" in message
    node.bad = False
    run.outside.apply("lives-when-fenced")
    node.until(COMPLETE, within_s=600)
    assert {image for _, image in images(run)} == {"lives-when-fenced"}
