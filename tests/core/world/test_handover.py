"""The states of a handover, and the flat fields that stand for them in `status.rollout.handover`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.core.world.handover import Held
from slackwater.core.world.pods import Pod
from tests.core.factories import NOW
from tests.core.handover.stories import (
    HELD,
    OLD,
)


@pytest.mark.parametrize(
    ("now", "same"),
    [
        (OLD, True),
        (replace(OLD, uid="another"), False),
        (replace(OLD, started_at=NOW - 1), False),
        (replace(OLD, started_at=None), False),
        (replace(OLD, restarts=1), False),
        (replace(OLD, ready=False, terminating=True, ended_at=NOW), True),
    ],
    ids=["unchanged", "another pod", "started again", "it does not run", "restarted", "not Ready, and ending"],
)
def test_a_run_is_a_pod_a_start_and_a_number_of_restarts(now: Pod, same: bool) -> None:
    assert HELD.runs_on(now) is same


def test_a_pod_that_never_ran_is_in_the_same_run_until_it_does() -> None:
    never = replace(OLD, started_at=None)
    assert Held(run=never.run).runs_on(never)
    assert not Held(run=never.run).runs_on(OLD)


def test_of_a_run_that_was_not_written_down_no_process_is_one() -> None:
    assert not Held().runs_on(OLD)
