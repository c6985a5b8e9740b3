"""A plan is the product's own ledger run forward: who begins when, what holds it up, and what fits into a window."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest

from slackwater.api.consumer_fleet import ConsumerFleetSpec
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.plan import Bottleneck, Outset, Pace, Ran, Wave, bottleneck, run

T0: Final = 1_800_000_000.0
BERLIN: Final = ZoneInfo("Europe/Berlin")
NIGHTS: Final = [{"name": "nights", "schedule": "0 22 * * *", "duration": "2h"}]


def fleet(name: str = "platform", **spec: Any) -> Fleet:
    parsed = ConsumerFleetSpec.model_validate({"selector": {}, "namespaces": ["*"], **spec})
    return Fleet("slackwater", name, parsed, is_of_the_operator=True)


def group(name: str, coordinator: int | None = 1, **facts: Any) -> GroupFacts:
    return GroupFacts("shop", name, uid=name, cluster="k", coordinator=coordinator, **facts)


def outset(
    groups: Sequence[GroupFacts], *fleets: Fleet, takes_s: float = 60.0, own_s: dict[str, float] | None = None
) -> Outset:
    own = own_s or {}
    paces = {each.key: Pace(own.get(each.name, takes_s), own.get(each.name, takes_s)) for each in groups}
    return Outset(fleets, tuple(groups), paces)


def everybody(groups: Sequence[GroupFacts]) -> list[Wave]:
    return [Wave("all", tuple(each.key for each in groups))]


def begins(ran: Ran, at: float = T0) -> list[float]:
    return sorted(moment - at for moment in ran.begins_at.values())


def local(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()


def test_one_after_the_other_where_one_may_move() -> None:
    groups = [group(name) for name in "abc"]
    ran = run(outset(groups, fleet(budgets=[{"name": "all", "max": 1}])), everybody(groups), T0)
    assert begins(ran) == [0.0, 60.0, 120.0]
    assert ran.waves[0][1:] == (3, T0, T0 + 180.0)


def test_without_a_budget_all_at_once() -> None:
    groups = [group(name) for name in "abc"]
    assert begins(run(outset(groups, fleet()), everybody(groups), T0)) == [0.0, 0.0, 0.0]


def test_each_coordinator_has_its_own_room() -> None:
    groups = [group("a", 1), group("b", 1), group("c", 2)]
    budget = {"name": "coordinators", "per": "Coordinator", "max": 1}
    assert begins(run(outset(groups, fleet(budgets=[budget])), everybody(groups), T0)) == [0.0, 0.0, 60.0]


def test_all_fleets_have_to_agree() -> None:
    groups = [group(name) for name in "abc"]
    wide, narrow = fleet(budgets=[{"name": "all", "max": 3}]), fleet("pay", budgets=[{"name": "all", "max": 1}])
    assert begins(run(outset(groups, wide, narrow), everybody(groups), T0)) == [0.0, 60.0, 120.0]


def test_spacing_and_settling_take_their_time() -> None:
    groups = [group(name) for name in "abc"]
    spaced = fleet(budgets=[{"name": "all", "max": 3, "spacing": "30s"}])
    assert begins(run(outset(groups, spaced), everybody(groups), T0)) == [0.0, 30.0, 60.0]
    settling = fleet(budgets=[{"name": "all", "max": 1}], settleFor="40s")
    assert begins(run(outset(groups, settling), everybody(groups), T0)) == [0.0, 100.0, 200.0]


def test_who_moves_already_ends_first_and_who_waits_already_comes_first() -> None:
    groups = [
        group("moves", standing=Standing.HAS, asked_at=T0 - 50),
        group("waits", standing=Standing.ASKS, asked_at=T0 - 40),
        group("new"),
    ]
    ran = run(
        outset(groups, fleet(budgets=[{"name": "all", "max": 1}]), own_s={"moves": 5.0}),
        [Wave("all", ("shop/new",))],
        T0,
    )
    assert {key: at - T0 for key, at in ran.begins_at.items()} == {"shop/waits": 5.0, "shop/new": 65.0}
    assert ran.ends_at["shop/moves"] == T0 + 5.0


def test_a_head_start_counts() -> None:
    groups = [group(name, labels={"tier": tier}) for name, tier in (("a", "1"), ("b", "0"), ("c", "1"))]
    order = [{"selector": {"matchLabels": {"tier": "0"}}, "headStart": "30m"}]
    ran = run(outset(groups, fleet(budgets=[{"name": "all", "max": 1}], order=order)), everybody(groups), T0)
    assert min(ran.begins_at, key=ran.begins_at.__getitem__) == "shop/b"


def test_nothing_begins_before_a_window_opens_nor_where_it_would_not_end_in_it() -> None:
    """Two hours a night for groups of 50 min each, one at a time: two a night."""
    groups = [group(name) for name in "abc"]
    nights = fleet(budgets=[{"name": "all", "max": 1}], windows=NIGHTS, timeZone="Europe/Berlin")
    at = local("2026-11-23T12:00")
    ran = run(outset(groups, nights, takes_s=3000.0), everybody(groups), at)
    first = local("2026-11-23T22:00")
    assert sorted(ran.begins_at.values()) == [first, first + 3000.0, local("2026-11-24T22:00")]
    assert ran.closed_s == pytest.approx(10 * 3600 + 22 * 3600)


def test_a_window_that_lets_begin_what_does_not_fit_does() -> None:
    groups = [group(name) for name in "abc"]
    windows = [{**NIGHTS[0], "fit": False}]
    nights = fleet(budgets=[{"name": "all", "max": 1}], windows=windows, timeZone="Europe/Berlin")
    first = local("2026-11-23T22:00")
    ran = run(outset(groups, nights, takes_s=3000.0), everybody(groups), first)
    assert begins(ran, first) == [0.0, 3000.0, 6000.0]


def test_what_fits_into_no_window_never_begins_and_keeps_nobody() -> None:
    groups = [group("short"), group("long")]
    nights = fleet(budgets=[{"name": "all", "max": 1}], windows=NIGHTS, timeZone="Europe/Berlin")
    ran = run(outset(groups, nights, own_s={"long": 8000.0}), everybody(groups), local("2026-11-23T22:00"))
    assert (set(ran.begins_at), ran.waves[0].ends_at) == ({"shop/short"}, None)


def test_a_freeze_holds_until_it_ends() -> None:
    groups = [group("a")]
    freeze = {"name": "black-friday", "from": "2026-11-26T00:00", "to": "2026-12-01T00:00"}
    frozen = fleet(freezes=[freeze], timeZone="Europe/Berlin")
    ran = run(outset(groups, frozen), everybody(groups), local("2026-11-27T10:00"))
    assert list(ran.begins_at.values()) == [local("2026-12-01T00:00")]


def test_a_budget_outside_of_a_window_is_in_force_only_there() -> None:
    groups = [group(name) for name in "abcd"]
    budget = {"name": "days", "max": 1, "outside": "nights"}
    windows = [
        {"name": "nights", "schedule": "0 22 * * *", "duration": "2h"},
        {"name": "always", "schedule": "0 0 * * *", "duration": "24h"},
    ]
    spec = fleet(budgets=[budget], windows=windows, timeZone="UTC")
    at = datetime(2026, 11, 23, 21, 59, tzinfo=ZoneInfo("UTC")).timestamp()
    assert begins(run(outset(groups, spec, takes_s=40.0), everybody(groups), at), at) == [0.0, 40.0, 60.0, 60.0]


def test_the_next_wave_begins_when_the_one_before_is_done_and_has_soaked() -> None:
    groups = [group(name) for name in "abc"]
    waves = [Wave("canary", ("shop/a",), soak_s=100.0), Wave("empty", ()), Wave("rest", ("shop/b", "shop/c"))]
    ran = run(outset(groups, fleet(budgets=[{"name": "all", "max": 2}])), waves, T0)
    assert [(wave.name, wave.begins_at, wave.ends_at) for wave in ran.waves] == [
        ("canary", T0, T0 + 60.0),
        ("empty", None, T0 + 160.0),
        ("rest", T0 + 160.0, T0 + 220.0),
    ]


def test_the_bottleneck_is_what_needs_the_longest() -> None:
    groups = [group("a", 1), group("b", 1), group("c", 2), group("d", 2, replicas=0)]
    budgets = [{"name": "all", "max": 3}, {"name": "coordinators", "per": "Coordinator", "max": 1}]
    found = bottleneck(outset(groups, fleet(budgets=budgets)), [each.key for each in groups[:3]], T0)
    assert isinstance(found, Bottleneck)
    assert (found.cell.budget, found.cell.place, found[1:]) == ("coordinators", "k/1", (1, 2, 120.0))


def test_there_is_none_without_a_budget() -> None:
    groups = [group("a")]
    assert bottleneck(outset(groups, fleet()), ["shop/a"], T0) is None


@pytest.mark.parametrize("seed", range(50))
def test_at_no_moment_more_move_than_may(seed: int) -> None:
    draw = random.Random(seed)
    groups = [group(f"g{n}", draw.choice([1, 2, 3]), topics=(draw.choice("xyz"),)) for n in range(30)]
    all_, per, topics = draw.randint(2, 6), draw.randint(1, 3), draw.randint(1, 3)
    budgets = [
        {"name": "all", "max": all_},
        {"name": "coordinators", "per": "Coordinator", "max": per},
        {"name": "topics", "per": "Topic", "max": topics},
    ]
    own_s = {each.name: float(draw.randint(1, 500)) for each in groups}
    ran = run(outset(groups, fleet(budgets=budgets), own_s=own_s), everybody(groups), T0)
    assert set(ran.ends_at) == {each.key for each in groups}
    for moment in ran.begins_at.values():
        moving = [each for each in groups if ran.begins_at[each.key] <= moment < ran.ends_at[each.key]]
        assert len(moving) <= all_
        assert all(sum(each.coordinator == broker for each in moving) <= per for broker in (1, 2, 3))
        assert all(sum(topic in each.topics for each in moving) <= topics for topic in "xyz")


def test_ten_thousand_groups_are_planned() -> None:
    """And whatever the bottleneck needs is a lower bound of the whole, which the plan keeps close to."""
    draw = random.Random(1)
    groups = [group(f"g{n}", draw.randint(1, 12)) for n in range(10_000)]
    budgets = [{"name": "all", "max": "10%"}, {"name": "coordinators", "per": "Coordinator", "max": 3, "spacing": "1s"}]
    own_s = {each.name: float(draw.randint(30, 600)) for each in groups}
    given = outset(groups, fleet(budgets=budgets), own_s=own_s)
    ran = run(given, everybody(groups), T0)
    narrowest = bottleneck(given, [each.key for each in groups], T0)
    assert narrowest is not None
    assert (len(ran.ends_at), narrowest.cell.budget) == (10_000, "coordinators")
    assert narrowest.needs_s <= (ran.waves[0].ends_at or 0.0) - T0 <= narrowest.needs_s * 1.05
