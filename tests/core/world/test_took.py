"""How long rollouts take, by the last five."""

from __future__ import annotations

from slackwater.core.world.took import LAST, Took, with_another


def test_the_first_one_says_what_it_took() -> None:
    assert with_another(None, 4, 80.0) == Took(4, 80.0, 80.0, (20.0,))


def test_five_are_kept_and_counted_for_as_many_pods_as_there_are_now() -> None:
    took: Took | None = None
    for seconds in (1000.0, 10.0, 20.0, 30.0, 40.0, 50.0):
        took = with_another(took, 1, seconds)
    assert took == Took(1, 30.0, 50.0, (10.0, 20.0, 30.0, 40.0, 50.0))
    grown = with_another(took, 3, 90.0)
    assert (grown.pods, grown.p50, grown.p90, len(grown.per_pod)) == (3, 90.0, 150.0, LAST)


def test_a_clock_that_was_set_back_took_no_time() -> None:
    assert with_another(None, 2, -5.0) == Took(2, 0.0, 0.0, (0.0,))
