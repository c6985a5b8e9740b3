"""A third version in the middle of a warm rollout: who is down is not waited for, and nothing good is lost by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from slackwater.core.world.memory import RolloutPhase, read_memory
from slackwater.core.world.two_sets import names_of
from tests.core.factories import NAME
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.versions import VERSIONS

pytestmark = pytest.mark.slow

COMPLETE = RolloutPhase.COMPLETE
FIRST, SECOND = names_of(NAME)
WARM: Final[dict[str, Any]] = {"strategy": "WarmHandover", "onFailure": "Pause", "rejoinTimeout": "60s"}
Trouble = Callable[[Run], None]


def images(run: Run) -> list[str]:
    return [run.outside.image(pod) for pod in run.outside.pods]


def turn(run: Run, name: str, version: str, behaves: str) -> None:
    """That pod behaves as another version while it has this one."""
    for pod in run.outside.pods:
        if pod.name == name and run.outside.image(pod) == version:
            pod.version = VERSIONS[behaves]


def step(run: Run, trouble: Trouble, times: int = 1) -> None:
    for _ in range(times):
        trouble(run)
        run.step()


def takes_over(run: Run, trouble: Trouble = lambda _: None) -> None:
    """v2 is applied, and has one pod that works."""
    run.outside.apply("v2")
    for _ in range(300):
        step(run, trouble)
        if any(run.outside.image(pod) == "v2" and run.outside.serves(pod) for pod in run.outside.pods):
            return
    raise AssertionError("\n".join(run.operator.log[-40:]))


def comes(run: Run, trouble: Trouble = lambda _: None, within_s: int = 400) -> None:
    """v3 is applied, and all pods get it."""
    run.outside.apply("v3")
    for _ in range(within_s):
        step(run, trouble)
        if run.phase is COMPLETE and images(run) == ["v3"] * 3:
            return
    raise AssertionError("\n".join(run.operator.log[-40:]))


def not_checked_for_who_is_down(run: Run) -> Run:
    """One is down all the time, by itself: the others go nevertheless, each when its replacement works."""
    run.invariants._all_others_serve = lambda pod: None  # type: ignore[method-assign]
    return run


def test_one_pod_of_a_first_version_never_works() -> None:
    run = not_checked_for_who_is_down(Run(Outside(version="v1", **WARM)))

    def sick(run: Run) -> None:
        turn(run, "payments-2", "v1", "never-ready")

    step(run, sick, 20)
    takes_over(run, sick)
    comes(run, sick)


def test_a_pod_of_the_last_good_version_is_lost_for_good() -> None:
    run = not_checked_for_who_is_down(Run(Outside(version="v1", **WARM)))
    run.until(COMPLETE)
    run.for_seconds(10)

    def sick(run: Run) -> None:
        turn(run, "payments-2", "v1", "never-ready")

    run.outside.evict(2)
    step(run, sick, 20)
    takes_over(run, sick)
    comes(run, sick)


def test_the_second_version_breaks_on_the_way_over_it() -> None:
    """And a pod of the first one recovers meanwhile."""
    run = not_checked_for_who_is_down(Run(Outside(version="never-ready", **WARM)))
    run.for_seconds(20)
    takes_over(run)

    def breaks(run: Run) -> None:
        turn(run, "payments-alt-1", "v2", "never-ready")
        if read_memory(run.outside.status).onwards_hash:
            turn(run, "payments-2", "never-ready", "v1")

    comes(run, breaks)


@pytest.mark.parametrize("seconds", [1, 60])
def test_two_versions_find_no_node_and_the_third_asks_for_less(seconds: int) -> None:
    run = Run(Outside(version="v1", surgeTimeout="5s", **WARM))
    run.outside.room = 0
    run.for_seconds(30)
    run.outside.apply("v2")
    run.for_seconds(seconds)
    run.outside.apply("v3")
    run.until_it_is("made", lambda outside: "v3" in images(run))


def test_the_canary_is_the_third_version_s_own() -> None:
    run = Run(Outside(version="never-ready", canary=[{"replicas": 1, "hold": "30s"}], **WARM))
    run.for_seconds(20)
    takes_over(run)
    began = len(run.operator.log)
    comes(run)
    said = run.operator.log[began:]
    held = [number for number, line in enumerate(said) if "hold CanaryHold" in line]
    opened = [number for number, line in enumerate(said) if "create the second StatefulSet" in line]
    assert held
    assert opened[0] < held[0]


def test_a_rollback_from_a_version_that_all_pods_have_goes_to_the_last_good_one() -> None:
    """v2 was rolled out while there was no pod: its StatefulSet still owns the last good revision."""
    run = Run(Outside(version="v1", **WARM))
    run.until(COMPLETE)
    run.for_seconds(10)
    run.outside.scale(0)
    run.for_seconds(20)
    run.outside.apply("v2")
    run.for_seconds(20)
    run.outside.scale(3)
    run.for_seconds(4)
    run.outside.apply("v3")
    run.until_it_is("everywhere", lambda outside: images(run) == ["v3"] * 3)
    run.outside.abort()
    run.until(RolloutPhase.ROLLED_BACK)
    assert images(run) == ["v1"] * 3
