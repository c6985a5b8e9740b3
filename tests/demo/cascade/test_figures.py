"""A run in figures, what is asserted of it, and what several runs are together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from demo.cascade.figures import OF_RUNS, Run, measure, of_runs
from demo.cascade.modes import MODES, Mode
from tests.demo.cascade.samples import BY_NAME, CAST, END_S, LEADERS, observed, replaced, served

DEPLOYED = [actor.name for actor in CAST.groups]
FIRST_BROKERS = [actor.name for actor in CAST.groups if actor.coordinator == 1]
CALM = Run(0, 6, 20.0, 0, 0, 3, 40.0, 1, 0, 0, 0.4, 0.3, 0)


def test_a_run_is_measured_between_the_apply_and_its_end() -> None:
    one, two = DEPLOYED[0], DEPLOYED[1]
    sights = [*replaced(one, 2, 1010.0, 1020.0), *replaced(two, 2, 1015.0, 1030.0)]
    silent = {one: [(0, 1010.0, 1021.0), (1, 1010.0, 1021.0)], two: [(0, 1015.0, 1031.0)]}
    bystander = CAST.bystanders[0].name
    counted = {"rebalances": {one: 1, bystander: 2}, "expiries": {two: 1, bystander: 1}}
    run = measure(observed(BY_NAME["no-fleet"], sights, silent, **counted))
    assert run == Run(
        groups_with_bad_pods=0,
        peak_idle_partitions=3,
        idle_partition_seconds=38.0,
        bystander_rebalances=2,
        bystander_expiries=1,
        peak_groups_in_motion=2,
        seconds=31.0,
        peak_in_motion_of_a_coordinator=1,
        rebalances=1,
        expiries=1,
        bystander_worst_gap_seconds=0.2,
        load_gap_seconds=0.0,
        coordinators_moved=0,
    )


def test_groups_of_one_coordinator_are_counted_apart() -> None:
    sights = [each for name in FIRST_BROKERS[:2] for each in replaced(name, 0, 1010.0, 1020.0)]
    run = measure(observed(BY_NAME["coordinators-1"], sights))
    assert run.peak_in_motion_of_a_coordinator == 2
    assert run.problem == "2 groups of one coordinator moved at once; 1 may be."


def test_a_load_that_stops_and_coordinators_that_move_are_shown() -> None:
    written = {"topic": served((3, 1040.0, 1042.0))}
    after = {CAST.groups[0].name: LEADERS[0] + 1}
    run = measure(observed(BY_NAME["deployments"], written=written, coordinators_after=after))
    assert (run.load_gap_seconds, run.coordinators_moved, run.ok) == (2.0, 1, True)


def test_a_partition_that_is_not_served_at_the_end_is_no_good_end() -> None:
    run = measure(observed(BY_NAME["deployments"], silent={DEPLOYED[3]: [(2, 1050.0, END_S + 9)]}))
    assert run.problem == "1 of 72 partitions were not served at the end."


def test_a_run_that_did_not_come_to_its_end_says_why_and_has_figures_all_the_same() -> None:
    run = measure(observed(BY_NAME["statefulsets"], trouble="Not done within 9 s: the rollouts."))
    assert (run.ok, run.problem) == (False, "Not done within 9 s: the rollouts.")


def bad(groups: int) -> Run:
    sights = [each for name in DEPLOYED[:groups] for each in replaced(name, 2, 1010.0, 1030.0, bad=True)]
    return measure(observed(BY_NAME["bad-image-fleet"], sights))


def test_a_bad_image_reaches_no_more_groups_than_may_move() -> None:
    assert (bad(3).groups_with_bad_pods, bad(3).problem) == (3, "")
    assert not bad(4).ok
    assert bad(0).problem == "No group got the bad image."


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode.promise is not None], ids=lambda mode: mode.name)
@pytest.mark.parametrize(
    ("of", "name"), [("rebalances", "rebalances were a bystander's"), ("expiries", "lost their session")]
)
def test_with_a_fleet_no_bystander_is_disturbed(mode: Mode, of: str, name: str) -> None:
    sights = replaced(DEPLOYED[0], 2, 1010.0, 1030.0, bad=mode.bad_image)
    calm, one = dict[str, int](), {CAST.bystanders[1].name: 1}
    rebalances, expiries = (one if of == each else calm for each in ("rebalances", "expiries"))
    assert name in measure(observed(mode, sights, rebalances=rebalances, expiries=expiries)).problem


def test_without_a_fleet_they_may_be_and_it_is_shown() -> None:
    run = measure(observed(BY_NAME["no-fleet"], rebalances={CAST.bystanders[1].name: 5}))
    assert (run.bystander_rebalances, run.problem) == (5, "")


def test_what_must_not_happen_counts_by_its_worst_run_and_a_cost_by_its_median() -> None:
    runs = [
        CALM,
        replace(CALM, seconds=90.0, bystander_expiries=2),
        replace(CALM, seconds=41.0, peak_idle_partitions=9),
    ]
    assert of_runs(runs) == {
        "groups_with_bad_pods": 0,
        "peak_idle_partitions": 9,
        "idle_partition_seconds": 20.0,
        "bystander_rebalances": 0,
        "bystander_expiries": 2,
        "peak_groups_in_motion": 3,
        "seconds": 41.0,
    }
    assert {how for how, _ in OF_RUNS.values()} == {"worst", "median"}
    with pytest.raises(ValueError, match="no run"):
        of_runs([])
