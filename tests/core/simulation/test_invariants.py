"""The safety oracle itself: it catches what must not be done, whatever the act says of itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.core.decision.acts import Act, Cause, DeletePod, Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.manifests.template import Template
from slackwater.core.manifests.writes import in_place
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.world import World
from tests.core.simulation.invariants import Broken
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run


def settled() -> tuple[Run, World]:
    """Three pods that serve, looked at just now, and nothing to do."""
    run = Run(Outside())
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(10)
    assert run.operator.last_world is not None
    return run, run.operator.last_world


def deletion(run: Run, ordinal: int, cause: Cause) -> DeletePod:
    pod = run.outside.set.pods[ordinal]
    return DeletePod(f"payments-{ordinal}", pod.uid, ordinal, cause)


def write(world: World, purpose: Purpose, ordinal: int) -> WriteWorkload:
    workload = world.workload
    assert workload is not None
    return in_place(world, workload, Template(workload.template_hash, workload.template), purpose, ordinal, ordinal)


def judged(run: Run, world: World, act: Act) -> None:
    run.invariants.before_act(world, Decision(world.memory, act))


@pytest.mark.parametrize("cause", Cause)
def test_no_cause_allows_to_delete_a_pod_that_serves(cause: Cause) -> None:
    run, world = settled()
    with pytest.raises(Broken, match="which serves"):
        judged(run, world, deletion(run, 1, cause))


@pytest.mark.parametrize("cause", Cause)
def test_only_a_repair_does_without_the_gates(cause: Cause) -> None:
    """Pod 1 is out of the group, and the observation is a minute old."""
    run, world = settled()
    run.outside.crash(1)
    old = replace(world, now=world.now + 60)
    act = deletion(run, 1, cause)
    if not cause.asks_the_gates:
        judged(run, old, act)
        return
    with pytest.raises(Broken, match="ObservationStale"):
        judged(run, old, act)


@pytest.mark.parametrize("purpose", [Purpose.RESTART, Purpose.OPEN_OUT_OF_ORDER])
def test_no_write_that_asks_the_gates_goes_past_one_that_refuses(purpose: Purpose) -> None:
    run, world = settled()
    act = write(world, purpose, 1)
    judged(run, world, act)
    with pytest.raises(Broken, match="ObservationStale"):
        judged(run, replace(world, now=world.now + 60), act)


def test_a_pod_that_serves_is_not_restarted_while_another_one_does_not() -> None:
    """Pod 0 fell out, and the operator's look is from before that."""
    run, world = settled()
    run.outside.crash(0)
    run.outside.now += 5
    with pytest.raises(Broken, match="while 0 does not serve"):
        judged(run, world, write(world, Purpose.RESTART, 1))
