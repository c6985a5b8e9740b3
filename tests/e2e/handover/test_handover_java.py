"""Java consumers handed over warm, where little else goes on: a virtual machine that starts beside twenty others takes
seconds to fetch its first record, and that is no fault of the handover."""

from __future__ import annotations

import pytest

from tests.e2e.handover.handovers import (
    create,
    little_is_read_twice,
    nothing_is_idle_untold,
    nothing_is_lost,
    rolled_out,
    warm_group,
)
from tests.e2e.stage.java import java_group
from tests.e2e.stage.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.quiet, pytest.mark.timeout(400)]

NAME = "java"
PATIENT = {"rejoinTimeout": "90s"}


def test_java_consumers_are_handed_over_alike(stage: Stage) -> None:
    java = java_group(stage, NAME)
    create(stage, warm_group(stage, NAME, java, PATIENT))
    cost = rolled_out(stage, warm_group(stage, NAME, java, PATIENT, {"VERSION": "2"}))
    nothing_is_lost(cost)
    nothing_is_idle_untold(cost)
    little_is_read_twice(cost, 0.0)
