"""State is restored while a startup probe goes on, for longer than `rejoinTimeout`: found by a fresh reader."""

from __future__ import annotations

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.versions import NOT_DRAWN, Version

RESTORES_S = 60.0
"""Three times `rejoinTimeout`."""


@pytest.mark.parametrize("ready_after_s", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("works", [True, False], ids=["works", "consumes nothing"])
def test_what_a_version_is_given_begins_when_its_probe_has_ended(
    ready_after_s: float, works: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    restores = Version(ready_s=RESTORES_S + ready_after_s, join_s=3.0, restores_s=RESTORES_S, consumes=works)
    monkeypatch.setitem(NOT_DRAWN, "restores", restores)
    run = Run(Outside(onFailure="Rollback"))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(40)
    run.do("it restores its state", lambda o: o.apply("restores"))
    run.for_seconds(2)
    run.until(RolloutPhase.COMPLETE, RolloutPhase.ROLLED_BACK)
    assert run.phase is (RolloutPhase.COMPLETE if works else RolloutPhase.ROLLED_BACK)
