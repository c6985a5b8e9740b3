"""Who waits where, and for whom: the board says of each group what the product's ledger would let it do."""

from __future__ import annotations

from typing import Any, Final

import pytest

from slackwater.api.consumer_fleet import ConsumerFleetSpec
from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.fleet.board import ASSUMED_POD_S, STILL, Board, paces
from slackwater.core.fleet.claim import Cell, Standing
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.forecast import ASSUMED_BROKERS, Question, forecast
from slackwater.core.fleet.seen import FleetSeen, Seen
from slackwater.core.fleet.times import Scope, gates_of
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.took import Took
from slackwater.core.world.turn import TurnRecord

NOW: Final = 1_800_000_000.0
ONE: Final = {"name": "all", "max": 1}
PER_BROKER: Final = {"name": "coordinators", "per": "Coordinator", "max": 1}


def fleet(*budgets: dict[str, Any], status: dict[str, Any] | None = None, **spec: Any) -> FleetSeen:
    parsed = ConsumerFleetSpec.model_validate({"selector": {}, "budgets": list(budgets), **spec})
    made = Fleet("shop", "pay", parsed)
    return FleetSeen(made, gates_of(made, Scope(), NOW), 1, status or {})


def group(name: str, standing: Standing, minutes_ago: float = 0.0, *, took: float | None = 90.0, **facts: Any) -> Seen:
    at = NOW - 60 * minutes_ago
    given_at = at if standing is Standing.HAS else None
    turn = None if standing is Standing.RESTS else TurnRecord(MoveReason.ROLLOUT, at, given_at)
    memory = RolloutMemory(turn=turn, took=None if took is None else Took(3, took, 2 * took, (took / 3,)))
    given = {"replicas": 3, "cluster": "k", "coordinator": 1, "asked_at": at, **facts}
    return Seen(GroupFacts("shop", name, uid=name, standing=standing, **given), memory)


ASKS, HAS, RESTS = Standing.ASKS, Standing.HAS, Standing.RESTS


def test_it_waits_at_the_cell_without_room_behind_those_who_asked_before() -> None:
    board = Board([fleet(ONE)], [group("a", HAS, 1), group("b", ASKS, 5), group("c", ASKS, 9), group("d", RESTS)], NOW)
    wait = board.wait_of("shop/b")
    assert wait is not None
    assert (wait.cell, wait.limit, wait.place, wait.waiting, wait.holders) == (
        Cell("shop/pay", "all"),
        1,
        2,
        2,
        ("shop/a",),
    )


def test_who_rests_or_moves_waits_for_nothing() -> None:
    board = Board([fleet(ONE)], [group("a", HAS, 1), group("d", RESTS)], NOW)
    assert (board.wait_of("shop/a"), board.wait_of("shop/d")) == (None, None)


def test_who_has_room_is_about_to_be_called() -> None:
    wait = Board([fleet(ONE)], [group("b", ASKS, 5)], NOW).wait_of("shop/b")
    assert wait is not None
    assert wait.cell is None


@pytest.mark.parametrize(
    ("spec", "status", "gate"),
    [
        ({"pause": "INC-4711"}, {}, "pause"),
        ({"windows": [{"name": "w", "schedule": "0 0 1 1 *", "duration": "1m"}], "timeZone": "UTC"}, {}, "windows"),
        ({}, {"conditions": [{"type": "Accepted", "status": "False"}]}, "accepted"),
        ({}, {"conditions": [{"type": "Halted", "status": "True"}], "halted": {"reason": "x"}}, "halts"),
    ],
)
def test_who_waits_for_a_gate_waits_for_nobody(spec: dict[str, Any], status: dict[str, Any], gate: str) -> None:
    wait = Board([fleet(ONE, status=status, **spec)], [group("b", ASKS, 5)], NOW).wait_of("shop/b")
    assert wait is not None
    assert (wait.cell, wait.limit, wait.holders) == (Cell("shop/pay", "", gate), 0, ())


def test_how_many_each_budget_holds_back() -> None:
    groups = [group("a", HAS, 1), *(group(f"w{n}", ASKS, n, coordinator=n % 2 + 1) for n in range(4))]
    waiting = Board([fleet(PER_BROKER)], groups, NOW).waiting_at()
    assert dict(waiting) == {("shop/pay", "coordinators"): 3}


def test_a_group_that_is_known_better_is_taken_for_what_it_is() -> None:
    groups = [group("a", HAS, 1), group("b", ASKS, 5, coordinator=None)]
    board = Board([fleet(PER_BROKER)], groups, NOW)
    waits = board.wait_of("shop/b")
    other = board.with_group(group("b", ASKS, 5, coordinator=2)).wait_of("shop/b")
    assert waits is not None and other is not None
    assert (waits.cell, other.cell) == (Cell("shop/pay", "coordinators", "k/1"), None)


def test_who_is_done_counts_until_it_has_settled() -> None:
    settling = group("a", Standing.SETTLES, 0)
    settling = Seen(
        GroupFacts("shop", "a", standing=Standing.SETTLES, cluster="k", coordinator=1, counts_until=NOW - 30),
        settling.memory,
    )
    wait = Board([fleet(ONE, settleFor="1m")], [settling, group("b", ASKS, 5)], NOW).wait_of("shop/b")
    assert wait is not None
    assert (wait.cell, wait.holders) == (Cell("shop/pay", "all"), ("shop/a",))
    later = Board([fleet(ONE, settleFor="10s")], [settling, group("b", ASKS, 5)], NOW).wait_of("shop/b")
    assert later is not None
    assert later.cell is None


def test_a_pace_is_by_its_own_history_or_by_that_of_the_others_for_as_many_pods() -> None:
    known = [group("a", RESTS, took=90.0), group("b", RESTS, took=None, replicas=6), group("c", RESTS, replicas=1)]
    usual = paces(known, NOW)
    assert {key: tuple(each) for key, each in usual.items()} == {
        "shop/a": (90.0, 180.0),
        "shop/b": (180.0, 360.0),
        "shop/c": (30.0, 60.0),
    }
    assert paces(known, NOW, slow=True)["shop/a"].takes_s == 180.0
    assert paces([group("b", RESTS, took=None)], NOW)["shop/b"].takes_s == 3 * ASSUMED_POD_S


@pytest.mark.parametrize(("minutes_ago", "left_s"), [(0.5, 60.0), (5.0, STILL * 90.0)])
def test_of_one_that_moves_it_is_what_is_left(minutes_ago: float, left_s: float) -> None:
    assert paces([group("a", HAS, minutes_ago)], NOW)["shop/a"].takes_s == left_s


def test_a_forecast_of_all_is_of_those_with_pods_that_do_not_move_already() -> None:
    seen = fleet(ONE)
    groups = [group("a", HAS, 0.5), group("b", ASKS, 5), group("c", RESTS), group("d", RESTS, replicas=0)]
    found = forecast(Board([seen], groups, NOW), seen, Question(everybody=True))
    assert set(found.groups) == {"shop/b", "shop/c"}
    assert found.ends_at(found.soon) == NOW + 60.0 + 90.0 + 90.0
    assert (found.never, found.without_history) == ((), 0)


def test_a_forecast_from_a_later_moment_on_finds_everything_over() -> None:
    seen = fleet(ONE)
    found = forecast(Board([seen], [group("a", HAS, 0.5)], NOW), seen, Question(everybody=True, at=NOW + 3600.0))
    assert (found.groups, found.soon.begins_at) == (("shop/a",), {"shop/a": NOW + 3600.0})


def test_more_room_at_the_bottleneck_is_what_is_tried_by_itself() -> None:
    seen = fleet(ONE)
    found = forecast(Board([seen], [group(name, RESTS) for name in "ab"], NOW), seen, Question(everybody=True))
    assert found.wider is not None
    assert (found.wider.words, found.wider.ends_at, found.ends_at(found.soon)) == ("with all at 2", NOW + 90, NOW + 180)
    asked = forecast(
        Board([seen], [group(name, RESTS) for name in "ab"], NOW), seen, Question(everybody=True, limits={"all": 2})
    )
    assert asked.wider is not None
    assert (asked.wider.words, asked.wider.ends_at) == ("as it is", NOW + 180)


def test_groups_whose_coordinator_nobody_knows_are_spread() -> None:
    seen = fleet(PER_BROKER)
    groups = [group(f"g{n}", RESTS, coordinator=None) for n in range(30)]
    found = forecast(Board([seen], groups, NOW), seen, Question(everybody=True))
    ends_at = found.ends_at(found.soon)
    assert found.without_coordinator == 30
    assert ends_at is not None
    assert 30 * 90 / ASSUMED_BROKERS <= ends_at - NOW < 30 * 90 / 2
