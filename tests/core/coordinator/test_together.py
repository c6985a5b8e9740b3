"""An exploration that is shared out finds what one process finds."""

from __future__ import annotations

import pytest

from slackwater.core.handover import overlap
from slackwater.core.handover.holder import Holder
from tests.core.coordinator.exploring import TooMany, as_asked_or_taken_back, explore, stuck, with_another_version
from tests.core.coordinator.fleet import Fleet
from tests.core.coordinator.pilot import Broken
from tests.core.coordinator.test_strategies import LIVES_ON
from tests.core.coordinator.together import explore_together

pytestmark = pytest.mark.slow

START = with_another_version(LIVES_ON, 2, 0)


@pytest.mark.parametrize(("begun", "processes"), [(5, 2), (50, 3), (10_000, 2)])
def test_the_same_states_and_ways(begun: int, processes: int) -> None:
    """Also where all is found before there is anything to share out."""
    alone = explore(START, as_asked_or_taken_back)
    shared = explore_together(START, as_asked_or_taken_back, begun=begun, limit=10_000, processes=processes)
    assert (shared.states, shared.transitions) == (len(alone.digests), alone.transitions)
    assert shared.lost == stuck(alone) == []


def test_states_that_lead_nowhere_are_found_and_told() -> None:
    def never(fleet: Fleet) -> bool:
        return False

    alone = explore(START, never)
    shared = explore_together(START, never, begun=5, limit=10_000)
    assert len(shared.lost) == len(stuck(alone)) == shared.states
    assert shared.story(shared.lost[-1])


def test_what_breaks_in_one_of_them_breaks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "holder", lambda *_: Holder.NEW)
    with pytest.raises(Broken, match="which serves"):
        explore_together(START, as_asked_or_taken_back, begun=5, limit=10_000)


def test_too_many_states_end_it() -> None:
    with pytest.raises(TooMany, match="more than 100 states"):
        explore_together(START, as_asked_or_taken_back, begun=5, limit=100)
