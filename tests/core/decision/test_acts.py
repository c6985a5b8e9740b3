"""What follows from what an act is for: who is disturbed, and whether the gates are asked."""

from __future__ import annotations

from typing import Final

import pytest

from slackwater.core.decision.acts import (
    Act,
    AlterGroupSettings,
    Cause,
    DeleteGroup,
    DeletePod,
    DeleteWorkload,
    LetGo,
    Purpose,
    ReleaseMembers,
    RemoveMembers,
    WriteWorkload,
    kind_of,
)
from slackwater.core.world.workload import UpdateStrategy

PURPOSES: Final = {
    Purpose.CREATE: (False, False),
    Purpose.DRAIN: (True, False),
    Purpose.START: (False, False),
    Purpose.TAKE_TEMPLATE: (False, False),
    Purpose.SCALE: (False, False),
    Purpose.RESTART: (True, True),
    Purpose.OPEN_OUT_OF_ORDER: (False, True),
    Purpose.CLOSE_OUT_OF_ORDER: (False, False),
    Purpose.PARK: (False, False),
    Purpose.OPEN_BESIDE: (False, False),
    Purpose.HAND_OVER: (False, True),
    Purpose.LET_GO: (False, False),
    Purpose.LET_GO_EARLY: (True, True),
    Purpose.GIVE_UP: (True, True),
    Purpose.TAKE_BACK: (False, False),
    Purpose.FILL: (False, False),
    Purpose.KEEP_CLAIMS: (False, False),
    Purpose.SET_RETENTION: (False, False),
}
"""Whether it takes down a pod that may work, and whether all gates have to hold."""
CAUSES: Final = {
    Cause.DOWN: True,
    Cause.KEPT_OUT: True,
    Cause.NOT_READY: True,
    Cause.INCOMPLETE: True,
    Cause.STANDS: True,
    Cause.KEPT: True,
    Cause.TOGETHER: False,
    Cause.RETRIED: True,
    Cause.FENCED: False,
    Cause.NOT_COME: False,
    Cause.REFUSED: False,
    Cause.LAST_CHANCE: False,
}
"""Whether all gates have to hold: for a step of a rollout, but not for the repair of a pod that is out of the group."""


def write(purpose: Purpose, ordinal: int | None = None, name: str = "") -> WriteWorkload:
    return WriteWorkload(purpose, {}, 3, UpdateStrategy.ROLLING_UPDATE, 0, "1", ordinal, name)


@pytest.mark.parametrize("purpose", Purpose, ids=lambda purpose: purpose.name)
def test_a_write_is_what_its_purpose_is(purpose: Purpose) -> None:
    act = write(purpose)
    assert (act.disruptive, act.asks_the_gates) == PURPOSES[purpose]
    assert kind_of(act) == purpose.value


@pytest.mark.parametrize("cause", Cause, ids=lambda cause: cause.name)
def test_a_pod_is_deleted_as_its_cause_is(cause: Cause) -> None:
    act = DeletePod("payments-1", "uid-1", 1, cause)
    assert (act.disruptive, act.asks_the_gates, act.why) == (True, CAUSES[cause], cause.value)


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (DeleteWorkload("payments", "uid", ""), "delete statefulset"),
        (DeleteWorkload("payments", "uid", "", orphans=True), "orphan pods"),
        (RemoveMembers((), ""), "remove members"),
        (ReleaseMembers((), ""), "release members"),
        (AlterGroupSettings({}), "alter group settings"),
        (DeleteGroup(), "delete group"),
        (LetGo("nothing is left to do"), "let go"),
    ],
)
def test_all_else_disturbs_nobody_and_asks_no_gate(act: Act, kind: str) -> None:
    assert (act.disruptive, act.asks_the_gates, kind_of(act)) == (False, False, kind)
