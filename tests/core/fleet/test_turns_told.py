"""What is told of turns fits what groups of a fleet do: nine of them, two at a time."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import chain

import pytest

from slackwater.api.telemetry.bodies import Turn
from slackwater.api.telemetry.events import read_line, write_line
from slackwater.api.telemetry.words import HeldBy, TurnOutcome
from slackwater.core.world.memory import RolloutPhase
from tests.core.fleet.groups import Groups, Kill, OfTheFleet

BUDGETS = [{"name": "all", "max": 2}, {"name": "coordinators", "per": "Coordinator", "max": 1}]


@cache
def rolled_out(kill: Kill | None = None) -> Groups:
    """All of them to the next version, from closed windows that open after a minute."""
    members = tuple(OfTheFleet(f"g{n}", n % 3 + 1, {"replicas": 2}) for n in range(9))
    groups = Groups(members, {"budgets": BUDGETS})
    groups.until_all(RolloutPhase.COMPLETE, image="v1")
    groups.for_seconds(20)
    groups.kill = kill
    groups.set_shut("windows", is_shut=True)
    for each in groups:
        each.told.clear()
        each.outside.apply("v2")
    groups.for_seconds(60)
    groups.set_shut("windows", is_shut=False)
    groups.until_all(RolloutPhase.COMPLETE, image="v2", within_s=4000)
    groups.for_seconds(20)
    return groups


def together(groups: Groups) -> dict[str, dict[str, list[Turn]]]:
    """By group and turn, what was told of it, in order."""
    found: dict[str, dict[str, list[Turn]]] = defaultdict(lambda: defaultdict(list))
    for group in groups:
        for event in group.told:
            assert read_line(write_line(event)) == event
            found[group.name][event.turn.turn].append(event.turn)
    return found


def test_each_group_had_one_turn_and_all_of_its_wait_is_accounted_for() -> None:
    groups = rolled_out()
    told = together(groups)
    assert len(told) == 9
    for turns in told.values():
        (tellings,) = turns.values()
        assert [each.outcome for each in tellings] == [TurnOutcome.WAITS, TurnOutcome.HAS, TurnOutcome.DONE]
        done = tellings[-1]
        held_s = sum(held.held_s for held in done.held_by)
        assert done.waited_s is not None
        assert done.waited_s - 30 <= held_s <= done.waited_s, "the rest went to its own gates"
    names = {(held.by, held.name) for turns in told.values() for (*_, done) in turns.values() for held in done.held_by}
    assert names >= {(HeldBy.WINDOW, None), (HeldBy.BUDGET, "all")}


def test_no_more_turns_are_told_at_once_than_the_budgets_let() -> None:
    lasted = [turns[-1] for found in together(rolled_out()).values() for turns in found.values()]
    for coordinator in (None, 1, 2, 3):
        some = [each for each in lasted if coordinator in (None, each.coordinator)]
        assert most_at_once(some) == (2 if coordinator is None else 1)


@pytest.mark.parametrize("kill", [Kill.AFTER, pytest.param(Kill.AFTER_THE_ACT, marks=pytest.mark.slow)])
def test_an_operator_that_is_killed_at_each_write_tells_no_fact_twice_otherwise(kill: Kill) -> None:
    """What was told before it was killed it may tell again, under the same id: one turn for each group is left."""
    groups = rolled_out(kill)
    assert groups.kills > 9
    for turns in together(groups).values():
        assert len(turns) == 1
        ((*_, last),) = turns.values()
        assert last.given_at is not None
    ids = defaultdict(set)
    for event in chain.from_iterable(each.told for each in groups):
        ids[event.id].add((event.turn.turn, event.turn.outcome, event.turn.given_at))
    assert all(len(facts) == 1 for facts in ids.values())


def most_at_once(turns: list[Turn]) -> int:
    edges = [(at, by) for each in turns for at, by in ((each.given_at, 1), (each.ended_at, -1)) if at is not None]
    now, most = 0, 0
    for _, by in sorted(edges):
        now += by
        most = max(most, now)
    return most
