"""What fleets give restarts nobody, comes with the next rollout, and comes when a campaign orders it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slackwater.api.fleet_defaults import PinnedField
from slackwater.core.decision.decision import Decision
from slackwater.core.fleet.claim import Cell
from slackwater.core.fleet.defaults import Own
from slackwater.core.fleet.layers import Giver, nearest
from slackwater.core.fleet.order import Order
from slackwater.core.fleet.records import record_of
from slackwater.core.plan import plan
from slackwater.core.plan.in_fleets import SaidByFleets, defaults_refused, plan_in_fleets, run_by
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, read_memory
from slackwater.core.world.turn import Turn, TurnStanding
from slackwater.core.world.world import World
from tests.core.factories import group
from tests.core.simulation import operator
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.test_volumes import claim, with_claims
from tests.core.worlds import worlds

FLEET: Final = "slackwater/platform"
SAYS: Final[dict[str, Any]] = {"timeouts.maxPollInterval": "10m", "rollout.maxLag": {"growth": 1000}}


class Fleets:
    """What they say changes; the operator of a run plans by what they say at each look."""

    def __init__(self) -> None:
        self.says: dict[str, Any] = {}
        self.is_there = True
        self.order: Order | None = None
        self.unread: tuple[str, ...] = ()

    def plan(self, world: World) -> Decision:
        givers = [Giver("slackwater", "platform", self.says)] if self.is_there else []
        living = frozenset({FLEET} if self.is_there else ())
        if self.unread:
            world = replace(world, turn=Turn(TurnStanding.WAITS, unread=self.unread))
        said = SaidByFleets(Own.of(world.group.spec), nearest(world.group.namespace, givers), living, self.order)
        return plan_in_fleets(world, said)[1]


@pytest.fixture
def fleets(monkeypatch: pytest.MonkeyPatch) -> Fleets:
    found = Fleets()
    monkeypatch.setattr(operator, "plan", found.plan)
    return found


def at_rest() -> Run:
    run = Run(Outside())
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(30)
    return run


def memory(run: Run) -> RolloutMemory:
    return read_memory(run.outside.status)


def uids(run: Run) -> set[str]:
    return {pod.uid for pod in run.outside.pods}


def intervals(run: Run) -> set[str]:
    """What the pods were made with."""
    templates = [run.outside.revisions[pod.revision] for pod in run.outside.pods]
    variables = [each for template in templates for each in template["spec"]["containers"][0]["env"]]
    return {each["value"] for each in variables if each["name"] == "KAFKA_MAX_POLL_INTERVAL_MS"}


def comes(fleets: Fleets) -> None:
    fleets.says = SAYS


def says_something_else(fleets: Fleets) -> None:
    fleets.says = {"timeouts.maxPollInterval": "20m", "timeouts.maxPollRecords": 7}


def says_nothing(fleets: Fleets) -> None:
    fleets.says = {}


def is_deleted(fleets: Fleets) -> None:
    fleets.is_there = False


@pytest.mark.parametrize("deed", [comes, says_something_else, says_nothing, is_deleted])
@pytest.mark.parametrize("before", [says_nothing, comes])
def test_whatever_becomes_of_a_fleet_no_pod_restarts(
    fleets: Fleets, before: Callable[[Fleets], None], deed: Callable[[Fleets], None]
) -> None:
    before(fleets)
    run = at_rest()
    pods, made_with, writes = uids(run), intervals(run), run.operator.acts
    deed(fleets)
    run.for_seconds(120)
    assert (uids(run), intervals(run), run.operator.acts) == (pods, made_with, writes)


def test_a_new_group_has_it_from_its_first_pod_on(fleets: Fleets) -> None:
    comes(fleets)
    assert intervals(at_rest()) == {"600000"}


def test_it_comes_with_the_next_rollout_whatever_that_is_for(fleets: Fleets) -> None:
    run = at_rest()
    comes(fleets)
    run.do("a good version", lambda there: there.apply("v2"))
    run.until(RolloutPhase.COMPLETE)
    assert intervals(run) == {"600000"}
    is_deleted(fleets)
    run.do("another version", lambda there: there.apply("v3"))
    run.until(RolloutPhase.COMPLETE)
    assert intervals(run) == {"600000"}, "a deleted fleet leaves its pins"


def test_while_the_nearest_fleet_may_not_be_read_what_is_pinned_stays(fleets: Fleets) -> None:
    comes(fleets)
    run = at_rest()
    says_something_else(fleets)
    fleets.unread = ("default",)
    run.do("another version", lambda there: there.apply("v2"))
    run.for_seconds(60)
    assert {name: pin.value for name, pin in memory(run).inherited.items()} == {"timeouts.maxPollInterval": "10m"}
    assert intervals(run) == {"600000"}


def test_what_a_fleet_no_longer_says_goes_with_the_next_rollout(fleets: Fleets) -> None:
    comes(fleets)
    run = at_rest()
    says_nothing(fleets)
    run.do("another version", lambda there: there.apply("v2"))
    run.until(RolloutPhase.COMPLETE)
    assert intervals(run) == {"300000"}


def test_a_group_that_no_longer_says_what_its_fleet_gives_has_nothing_to_roll_out(fleets: Fleets) -> None:
    run = Run(Outside())
    run.outside.spec["timeouts"] = {**run.outside.spec["timeouts"], "maxPollInterval": "10m"}
    run.until(RolloutPhase.COMPLETE)
    comes(fleets)
    run.for_seconds(30)
    pods = uids(run)
    without = {name: value for name, value in run.outside.spec["timeouts"].items() if name != "maxPollInterval"}
    run.do("it says so no more", lambda there: there.change_spec(timeouts=without))
    run.for_seconds(120)
    assert (uids(run), intervals(run)) == (pods, {"600000"})
    assert {pin.value for pin in memory(run).inherited.values()} == {"10m"}


def order(**what: Any) -> Order:
    return Order("uid-1", FLEET, "canary", 0.0, Cell("campaign/run", "canary"), **what)


def is_done(run: Run) -> bool:
    record = record_of(memory(run).commands, "uid-1")
    return record is not None and record.done_at is not None


@pytest.mark.parametrize(
    ("what", "expected"),
    [({"restart": "uid-1"}, {"300000"}), ({"applies": {PinnedField.MAX_POLL_INTERVAL: "10m"}}, {"600000"})],
    ids=["a restart", "defaults"],
)
def test_what_a_campaign_orders_is_a_rollout_like_any_other_and_is_done_once(
    fleets: Fleets, what: dict[str, Any], expected: set[str]
) -> None:
    run = at_rest()
    pods = uids(run)
    fleets.says = SAYS if "applies" in what else {}
    fleets.order = order(**what)
    run.until_it_is(
        "done", lambda _: (found := record_of(memory(run).commands, "uid-1")) is not None and bool(found.done_at)
    )
    assert (memory(run).phase, intervals(run)) == (RolloutPhase.COMPLETE, expected)
    assert not pods & uids(run)
    after = uids(run)
    run.for_seconds(120)
    assert uids(run) == after, "though the order still stands"


def test_an_order_is_obeyed_to_the_end_though_its_campaign_goes(fleets: Fleets) -> None:
    run = at_rest()
    fleets.order = order(restart="uid-1")
    run.until_it_is("begun", lambda _: record_of(memory(run).commands, "uid-1") is not None)
    fleets.order, fleets.is_there = None, False
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(30)
    assert is_done(run)


def test_what_would_not_change_a_pod_is_done_at_once(fleets: Fleets) -> None:
    run = at_rest()
    pods = uids(run)
    fleets.order = order(applies={PinnedField.MAX_POLL_INTERVAL: "5m"})
    run.for_seconds(10)
    assert (uids(run), is_done(run)) == (pods, True)


def test_what_holds_the_group_for_something_else_keeps_no_order_back(fleets: Fleets) -> None:
    """As volume claims that wait for a pause to end: what is ordered has nothing to do with them."""
    run = with_claims()
    run.do("pause", Outside.pause)
    run.do("claims of 2Gi are asked for", lambda o: o.change_spec(volumeClaimTemplates=[claim(storage="2Gi")]))
    run.for_seconds(30)
    fleets.order = order(applies={PinnedField.MAX_POLL_INTERVAL: "5m"})
    run.for_seconds(10)
    assert run.operator.last is not None
    assert run.operator.last.hold is not None
    assert is_done(run)


def said(world: World, **says: Any) -> SaidByFleets:
    given = nearest(world.group.namespace, [Giver("slackwater", "platform", says)])
    return SaidByFleets(Own.of(world.group.spec), given, frozenset({FLEET}))


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(worlds())
def test_of_a_group_to_which_nobody_gives_anything_the_plan_is_the_same(world: World) -> None:
    assert plan_in_fleets(world, said(world)) == (world, plan(world))


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(worlds(), st.sampled_from(["20m", "5m"]))
def test_only_a_rollout_that_begins_changes_what_is_pinned(world: World, interval: str) -> None:
    _, decided = plan_in_fleets(world, said(world, **{"timeouts.maxPollInterval": interval}))
    if decided.memory.inherited != world.memory.inherited:
        assert decided.memory.target_hash != world.memory.target_hash


def test_why_not_all_of_it_holds() -> None:
    of = Own.of(group(timeouts={"session": "30s"}).spec)
    given = nearest("default", [Giver("slackwater", "platform", {"protocol.target": "Consumer"})])
    assert "does not go with what the group says itself" in defaults_refused(SaidByFleets(of, given), {})
    assert defaults_refused(SaidByFleets(of), {}) == ""
    other = group()
    assert run_by(other, SaidByFleets(Own.of(other.spec)), {}) is other
