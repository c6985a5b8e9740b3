"""What a campaign would do if it began: its waves, who is in which, who is left alone, and when each is over."""

from __future__ import annotations

from typing import Any, Final

import pytest

from slackwater.api.fleet_campaign import FleetCampaignSpec
from slackwater.api.fleet_campaign_status import Skip
from slackwater.api.parsing import parse_consumer_group
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.fleet import campaign_forecast
from slackwater.core.fleet.board import Board
from slackwater.core.fleet.campaign import Campaign
from slackwater.core.fleet.campaign_eta import WAVES
from slackwater.core.fleet.campaign_forecast import Assumed, CampaignForecast, forecast_campaign
from slackwater.core.fleet.campaign_groups import KnownGroup
from slackwater.core.fleet.defaults import Own
from slackwater.core.fleet.layers import nearest
from slackwater.core.fleet.participants import Obstacle, shown_by
from slackwater.core.fleet.plan import Ran, WaveRan
from slackwater.core.fleet.seen import FleetSeen, seen
from slackwater.core.world.memory import read_memory
from tests.cli.fleets import NOW, asked, done, fleet, group_object

TARGET: Final = {"protocol": {"target": "Consumer"}}
Json = dict[str, Any]


def groups(number: int = 4, *, took: float | None = 60.0) -> list[Json]:
    return [group_object(f"g{n}", "team", done(24, n % 2 + 1), took=took) for n in range(number)]


def known(obj: Json, seen_fleet: FleetSeen, **rest: Any) -> KnownGroup:
    metadata, memory = obj["metadata"], read_memory(obj["status"])
    givers = [] if seen_fleet.giver is None else [seen_fleet.giver]
    return KnownGroup(
        f"{metadata['namespace']}/{metadata['name']}",
        Own.of(parse_consumer_group(obj).spec),
        uid=metadata["uid"],
        labels=metadata.get("labels") or {},
        shown=shown_by(memory, is_observed=True, oldest_pod_at=0.0),
        given=nearest("team", givers),
        **rest,
    )


def planned(
    objs: list[Json],
    fleet_spec: Json | None = None,
    ways: Json | None = None,
    assumed: Assumed | None = None,
    **spec: Any,
) -> CampaignForecast:
    """`ways`: of groups, by name."""
    given: Json = {"windows": None, "budgets": None, **(fleet_spec or {})}
    of_fleet = fleet(**given)
    whole = {"fleetRef": {"name": "platform"}, "action": {"restart": {}}, **spec}
    campaign = Campaign("slackwater", "run", "u", FleetCampaignSpec.model_validate(whole, context={"wire": True}))
    board = Board((of_fleet,), [seen(each) for each in objs], NOW)
    found = [known(each, of_fleet, way=(ways or {}).get(each["metadata"]["name"])) for each in objs]
    return forecast_campaign(campaign, of_fleet, found, board, assumed or Assumed())


CANARY: Final = [{"name": "canary", "size": 1, "soak": "1h"}, {"name": "rest"}]


def test_each_wave_begins_when_the_one_before_is_done_and_has_soaked() -> None:
    canary, rest = planned(groups(), waves=CANARY).waves
    assert ([len(each.moves) for each in (canary, rest)], canary.soon.begins_at) == ([1, 3], NOW)
    assert (canary.soon.ends_at, rest.soon.begins_at, rest.soon.ends_at) == (NOW + 60, NOW + 3660, NOW + 3720)
    assert (canary.late.ends_at, rest.late.ends_at) == (NOW + 90, NOW + 3780)


def test_the_max_of_a_wave_holds_and_may_be_what_makes_it_last() -> None:
    found = planned(groups(), waves=[{"name": "all", "selector": {}, "max": 1}])
    [every, rest] = found.waves
    assert (every.soon.ends_at, rest.moves) == (NOW + 4 * 60, ())
    assert every.narrowest is not None
    assert (every.narrowest.cell.fleet, every.narrowest.cell.budget, every.narrowest.limit) == (WAVES, "all", 1)


def test_budgets_count_by_what_the_campaign_asks_for() -> None:
    upgrades = {"budgets": [{"name": "upgrades", "max": 1, "reasons": ["ProtocolUpgrade"]}]}
    [restarts] = planned(groups(), upgrades).waves
    [takes_up] = planned(groups(), {**upgrades, "defaults": TARGET}, action={"applyDefaults": {}}).waves
    assert (restarts.soon.ends_at, takes_up.soon.ends_at) == (NOW + 60, NOW + 240)


def test_other_limits_and_another_moment_may_be_assumed() -> None:
    budgets = {"budgets": [{"name": "all", "max": 1}]}
    assert planned(groups(), budgets).ends_at == NOW + 240
    assert planned(groups(), budgets, assumed=Assumed(limits={"all": 2})).ends_at == NOW + 120
    assert planned(groups(), budgets, assumed=Assumed(at=NOW + 3600)).ends_at == NOW + 3600 + 240


def test_who_cannot_be_taken_there_is_left_as_it_is_and_takes_no_place() -> None:
    ways = {
        "g0": Obstacle(Skip.CLIENT_CANNOT, "it is too old"),
        "g1": Hold(Reason.FOREIGN_MEMBERS, "others are in it", 5.0),
    }
    found = planned(groups(), {"defaults": TARGET}, ways, action={"applyDefaults": {}}, waves=CANARY)
    assert [(each.key, each.obstacle and each.obstacle.skip) for each in found.left_alone] == [
        ("team/g0", Skip.CLIENT_CANNOT)
    ]
    assert sum(len(each.moves) for each in found.waves) == 3
    assert found.applies == {"protocol.target": "Consumer"}


def test_whoever_says_otherwise_keeps_it() -> None:
    objs = groups(2)
    objs[0]["spec"]["protocol"] = {"target": "Cooperative"}
    found = planned(objs, {"defaults": TARGET}, action={"applyDefaults": {}})
    assert [(each.key, each.obstacle and each.obstacle.skip) for each in found.left_alone] == [
        ("team/g0", Skip.OWN_VALUE)
    ]


def test_without_anything_to_take_up_it_would_not_begin() -> None:
    found = planned(groups(), action={"applyDefaults": {"fields": ["protocol.target"]}})
    assert "ConsumerFleet slackwater/platform does not give protocol.target" in found.refused
    assert (found.waves, found.ends_at) == ((), None)


def test_after_a_wave_that_fits_into_no_window_none_begins() -> None:
    blinks = {"windows": [{"name": "blinks", "schedule": "0 22 * * *", "duration": "1m"}]}
    slow, quick = group_object("slow", "team", took=600.0), group_object("quick", "team", took=20.0)
    found = planned([labelled(slow, "slow"), quick], blinks, waves=[of("slow")])
    assert [(each.soon.begins_at, each.soon.ends_at) for each in found.waves] == [(None, None)] * 2
    assert planned([quick], blinks).ends_at is not None
    ran = Ran({}, {}, (WaveRan("a", 1, None, None), WaveRan("b", 1, 5.0, 6.0)), 0.0)
    assert campaign_forecast._in_turn(ran) == [WaveRan("a", 1, None, None), WaveRan("b", 1, None, None)]


def test_a_wave_without_groups_is_passed_over_without_its_soak() -> None:
    empty = [{"name": "none", "selector": {"matchLabels": {"a": "b"}}, "soak": "10h"}, {"name": "rest"}]
    found = planned(groups(), waves=empty)
    assert (found.waves[0].moves, found.ends_at) == ((), NOW + 60)


def test_whoever_moves_of_itself_meanwhile_does_not_move_once_more() -> None:
    """What a fleet says by then comes with a group's own rollout, and pods that a deploy made count as restarted."""
    first, last = groups(2)
    objs = [labelled(first, "canary"), labelled(group_object("own", "team", asked(5, 1), took=60.0), "own"), last]
    found = planned(objs, {"budgets": [{"name": "all", "max": 1}]}, waves=[of("canary"), of("own")])
    canary, own, rest = (each.soon for each in found.waves)
    assert (canary.begins_at, canary.ends_at) == (NOW + 60, NOW + 120)
    assert (own.groups, own.begins_at, own.ends_at) == (1, NOW + 120, NOW + 120)
    assert (rest.begins_at, rest.ends_at) == (NOW + 120, NOW + 180)


def labelled(obj: Json, value: str) -> Json:
    return {**obj, "metadata": {**obj["metadata"], "labels": {"wave": value}}}


def of(name: str) -> Json:
    return {"name": name, "selector": {"matchLabels": {"wave": name}}}


def test_a_dry_run_and_one_that_is_paused_are_planned_as_any_other() -> None:
    assert planned(groups(), dryRun=True).ends_at == NOW + 60
    assert planned(groups(), paused=True).ends_at == NOW + 60


def test_with_changes_only_groups_that_name_it_are_known_to_move() -> None:
    found = planned(groups(), action={"changes": {}})
    assert [each.moves for each in found.waves] == [()]
    assert found.done == ()


@pytest.mark.parametrize("took", [60.0, None])
def test_on_what_the_figures_rest(took: float | None) -> None:
    budgets = {"budgets": [{"name": "c", "per": "Coordinator", "max": 1}]}
    found = planned([*groups(2, took=took), group_object("new", "team", took=took)], budgets)
    assert (found.without_history, found.without_coordinator) == (0 if took else 3, 1)
