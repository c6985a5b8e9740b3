"""`handover: Predictive` on a real cluster: an old pod goes just before its replacement joins."""

from __future__ import annotations

from typing import Final

import pytest

from tests.e2e.handover.handovers import (
    STAYS,
    create,
    little_is_read_twice,
    nothing_is_idle,
    nothing_is_lost,
    rolled_out,
    warm_group,
)
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.quiet, pytest.mark.timeout(900)]

DELAY_S: Final = 4.0
SOON: Final = "predictive"
PREDICTIVE: Final = {"handover": "Predictive"}
VERSIONS: Final = ("2", "3", "4", "5", "6")
"""A join is expected where a join before it was seen to the second, and a pod goes early where its replacement comes no
sooner than expected: on a machine that is busy, that may be none of a version's three. No version costs anybody
anything, and one of these has a pod that goes early."""


def test_predictive_lets_pods_go_before_their_replacements_join(stage: Stage) -> None:
    create(stage, warm_group(stage, SOON, rollout=PREDICTIVE, env=STAYS))
    for version in VERSIONS:
        env = {**STAYS, "START_DELAY_SECONDS": str(DELAY_S), "VERSION": version}
        cost = rolled_out(stage, warm_group(stage, SOON, rollout=PREDICTIVE, env=env))
        nothing_is_lost(cost)
        nothing_is_idle(cost)
        little_is_read_twice(cost, DELAY_S)
        if early := gone_early(stage):
            # The first pod of a version is handed over by what is seen.
            assert len(early) <= REPLICAS - 1, early
            return
    pytest.fail(f"no pod of {len(VERSIONS)} versions went before its replacement joined\n{cost}")


def gone_early(stage: Stage) -> list[str]:
    events = stage.cluster.events(SOON)
    return [e["message"] for e in events if e["reason"] == "HandedOver" and "about to join" in e["message"]]
