"""The safety oracle of the explorations itself: no cause allows to delete a pod that serves."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from slackwater.core import plan as planning
from slackwater.core.decision.acts import Cause, DeletePod
from slackwater.core.decision.decision import Decision
from tests.core.coordinator.exploring import settled_fleet
from tests.core.coordinator.fleet import Client, Fleet
from tests.core.coordinator.pilot import Broken, passes

ONE_BY_ONE: Final = [cause for cause in Cause if cause is not Cause.TOGETHER]
"""Of those that go together each has to have been let go first: `test_together`."""


def decided(monkeypatch: pytest.MonkeyPatch, fleet: Fleet, cause: Cause) -> list[Fleet]:
    """What comes of a pass in which the plan is to delete pod 1."""
    pod = fleet.pod(1)
    assert pod is not None
    act = DeletePod(pod.name, str(pod.uid), 1, cause)
    monkeypatch.setattr(planning, "plan", lambda world: Decision(world.memory, act))
    return list(passes(fleet))


@pytest.mark.parametrize("cause", ONE_BY_ONE, ids=lambda cause: cause.name)
def test_a_pod_that_serves_is_never_deleted(monkeypatch: pytest.MonkeyPatch, cause: Cause) -> None:
    fleet = settled_fleet(Client(), "Eager")
    with pytest.raises(Broken, match="which serves"):
        decided(monkeypatch, fleet, cause)


@pytest.mark.parametrize("cause", ONE_BY_ONE, ids=lambda cause: cause.name)
def test_one_whose_process_has_ended_may_be(monkeypatch: pytest.MonkeyPatch, cause: Cause) -> None:
    fleet = settled_fleet(Client(), "Eager")
    pods = tuple(replace(pod, running=False) if pod.ordinal == 1 else pod for pod in fleet.pods)
    assert decided(monkeypatch, replace(fleet, pods=pods), cause)
