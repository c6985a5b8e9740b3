"""A pod's fields, when nothing is said of them."""

from __future__ import annotations

import pytest

from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile


def test_a_pod_of_which_little_is_known_has_not_run_and_holds_nothing_up() -> None:
    """The safe reading: no start, no end, no address, nothing that it waits for."""
    made = Pod("payments-0", 0, "uid", "rev", 1.0, ready=False)
    assert (made.started_at, made.ended_at, made.last_run_started_at, made.told_running_at) == (None,) * 4
    assert (made.restarts, made.waiting, made.terminating, made.address) == (0, "", False, "")
    assert made.protocol is Profile.OWN_CHOICE


@pytest.mark.parametrize(
    ("started_at", "told_running_at", "since"),
    [(None, None, None), (9.0, None, 9.0), (9.0, 9.5, 9.0), (15.0, 9.5, 9.5)],
    ids=["it does not run", "no watch has reported it", "the watch was late", "the node's clock is ahead"],
)
def test_it_runs_since_the_earlier_of_what_two_clocks_say(
    started_at: float | None, told_running_at: float | None, since: float | None
) -> None:
    told = Pod("payments-0", 0, "uid", "rev", 1.0, True, started_at=started_at, told_running_at=told_running_at)
    assert told.runs_since == since
