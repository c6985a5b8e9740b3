"""Campaigns over a cluster in memory: a wave is written before its groups are called, and what waits has nothing
written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from slackwater.adapters.cluster.errors import ClusterUnreachable
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP, FLEET_CAMPAIGN
from slackwater.api.annotations import CAMPAIGN, PROMOTE
from slackwater.api.timestamps import moment, timestamp
from slackwater.core.decision.decision import Decision
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.profile import Profile
from slackwater.core.world.turn import TurnStanding
from slackwater.shell.campaign_keeping import STATUS_AGAIN_S
from slackwater.shell.campaign_metrics import CampaignMetrics
from slackwater.shell.store import Key
from tests.core.protocol.test_preflight import RDKAFKA, running
from tests.shell.campaign_stage import UID, CampaignStage
from tests.shell.fakes import KEY, group_object

WAVES = [{"name": "canary", "size": 1, "soak": "1h"}, {"name": "rest"}]


async def stage(*groups: str, **spec: Any) -> CampaignStage:
    found = CampaignStage()
    found.fleet(halt={"disturbed": "100%"})
    await found.begin()
    found.rests(*groups)
    found.campaign(**spec)
    return found


async def test_a_campaign_is_written_before_anybody_is_called() -> None:
    found = await stage("first", "second", waves=WAVES)
    found.api.failures["status FleetCampaign"] = ClusterUnreachable("no answer")
    await found.campaign_keeping.keep_once()
    assert (found.called(), found.campaign_status()) == ([], {})
    await found.goes_on(STATUS_AGAIN_S)
    status = found.campaign_status()
    assert (status["phase"], status["wave"], status["observedGeneration"]) == ("Running", "canary", 1)
    assert len(found.called()) == 1
    assert "WaveBegun" in found.events()


async def test_whoever_is_called_knows_what_is_ordered_and_nothing_is_written_of_the_others() -> None:
    found = await stage("first", "second", waves=WAVES)
    await found.goes_on()
    [name] = found.called()
    order = found.fleets.orders.by_group.get(f"default/{name}")
    assert order is not None
    assert (order.restart, order.wave) == (UID, "canary")
    assert "status ConsumerGroup" not in found.api.asked


async def test_the_next_wave_begins_when_this_one_is_done_and_has_soaked() -> None:
    found = await stage("first", "second", waves=WAVES)
    await found.goes_on()
    [name] = found.called()
    found.has_begun(name, "canary")
    await found.goes_on()
    assert found.called() == []
    found.has_done(name, "canary")
    await found.goes_on()
    assert (found.called(), found.campaign_status()["phase"]) == ([], "Soaking")
    await found.goes_on(3601.0)
    assert found.campaign_status()["wave"] == "rest"
    [other] = found.called()
    assert other != name
    found.has_begun(other, "rest")
    found.has_done(other, "rest")
    await found.goes_on()
    assert found.campaign_status()["phase"] == "Succeeded"
    assert found.events().count("WaveDone") == 2


async def test_another_leader_goes_on_where_the_status_stands() -> None:
    found = await stage("first", "second", waves=WAVES)
    await found.goes_on()
    [name] = found.called()
    found.has_begun(name, "canary")
    found.lead()
    await found.begin()
    await found.goes_on()
    assert (found.called(), found.campaign_status()["wave"]) == ([], "canary")


async def test_counts_alone_are_written_once_in_ten_seconds() -> None:
    found = await stage("first", "second", "third")
    await found.goes_on()
    writes = found.api.asked.count("status FleetCampaign")
    found.has_done("first", "*")
    found.has_done("second", "*")
    await found.goes_on()
    assert found.api.asked.count("status FleetCampaign") == writes
    await found.goes_on(STATUS_AGAIN_S)
    assert found.api.asked.count("status FleetCampaign") == writes + 1
    await found.goes_on(STATUS_AGAIN_S)
    assert found.api.asked.count("status FleetCampaign") == writes + 1, "nothing has changed"


async def test_the_max_of_a_wave_holds() -> None:
    found = await stage("first", "second", "third", waves=[{"name": "all", "max": 1}])
    await found.goes_on()
    [name] = found.called()
    found.has_begun(name, "all")
    await found.goes_on()
    assert found.called() == []
    found.has_done(name, "all")
    await found.goes_on()
    assert len(found.called()) == 1


def changes(found: CampaignStage, name: str, campaign: str, commands: Mapping[str, str] | None = None) -> None:
    obj = group_object(name=name)
    obj["metadata"]["annotations"] = {CAMPAIGN: campaign}
    turn = {"reason": "Rollout", "askedAt": "1970-01-12T13:46:40Z"}
    found._put(
        CONSUMER_GROUP,
        obj
        | {
            "status": {
                "observedGeneration": 1,
                "rollout": {"phase": "Progressing", "turn": turn},
                "commands": dict(commands or {}),
            }
        },
    )
    found.sees(name)


async def test_a_change_waits_for_its_wave() -> None:
    waves = [{"name": "canary", "selector": {"matchLabels": {"tier": "canary"}}}, {"name": "rest"}]
    found = await stage(action={"changes": {}}, waves=waves)
    changes(found, "first", "restart")
    assert found.called() == [], "it is not folded yet"
    await found.goes_on()
    changes(found, "second", "restart")
    assert (found.campaign_status()["wave"], sorted(found.called())) == ("rest", ["first"])
    await found.goes_on()
    assert sorted(found.called()) == ["first", "second"]


async def test_a_change_that_comes_to_a_group_which_was_let_go_waits_for_the_next_fold() -> None:
    """With its annotation long before its change, nothing was to be ordered of it."""
    waves = [{"name": "canary", "selector": {"matchLabels": {"tier": "canary"}}, "promote": "Manual"}, {"name": "rest"}]
    found = await stage(action={"changes": {}}, waves=waves)
    canary = group_object(name="canary")
    canary["metadata"] |= {"labels": {"tier": "canary"}, "annotations": {CAMPAIGN: "restart"}}
    found._put(CONSUMER_GROUP, canary | {"status": {"observedGeneration": 0}})
    first = group_object(name="first")
    first["metadata"]["annotations"] = {CAMPAIGN: "restart"}
    found._put(CONSUMER_GROUP, first | {"status": {"observedGeneration": 1}})
    await found.goes_on()
    assert "default/first" in found.fleets.orders.let_go
    changes(found, "first", "restart")
    assert found.called() == []
    await found.goes_on()
    assert found.called() == [], "the canary comes first"


async def test_a_change_waits_while_the_fleet_of_its_campaign_is_not_there() -> None:
    found = await stage(action={"changes": {}}, fleetRef={"name": "misspelt"})
    changes(found, "first", "restart")
    await found.goes_on()
    assert (found.called(), found.campaign_status()["phase"]) == ([], "Pending")


async def test_a_change_is_let_go_once_the_selector_leaves_its_group_out() -> None:
    waves = [{"name": "canary", "selector": {"matchLabels": {"tier": "canary"}}}, {"name": "rest"}]
    found = await stage("canary", action={"changes": {}}, waves=waves, selector={"matchLabels": {"tier": "canary"}})
    changes(found, "first", "restart")
    await found.goes_on()
    assert found.called() == ["first"]


async def test_whoever_is_left_out_while_it_waits_has_no_order_left() -> None:
    found = await stage("first")
    await found.goes_on()
    assert found.called() == ["first"]
    found.fleet(halt={"disturbed": "100%"}, selector={"matchLabels": {"tier": "none"}})
    await found.goes_on()
    assert found.fleets.orders.by_group.get("default/first") is None
    assert found.standing("first") is TurnStanding.NO_FLEET
    assert found.campaign_status()["phase"] == "Succeeded", "nobody is left"


@pytest.mark.parametrize("is_gone", [True, False], ids=["gone", "being deleted"])
async def test_a_group_that_is_deleted_in_the_middle_keeps_no_campaign_from_its_end(is_gone: bool) -> None:
    found = await stage("first", "second", waves=[{"name": "canary", "size": 1, "max": 1}])
    await found.goes_on()
    [name] = found.called()
    found.has_begun(name, "canary")
    await found.goes_on()
    if is_gone:
        found.delete(CONSUMER_GROUP, name)
    else:
        obj = found.api.objects["ConsumerGroup", KEY.namespace, name]
        going = {**obj["metadata"], "deletionTimestamp": timestamp(found.now)}
        found._put(CONSUMER_GROUP, {**obj, "metadata": going})
    await found.goes_on()
    [other] = found.called()
    found.has_begun(other, found.campaign_status()["wave"])
    found.has_done(other, found.campaign_status()["wave"])
    await found.goes_on()
    assert found.campaign_status()["phase"] == "Succeeded"


async def test_the_max_of_a_wave_holds_when_its_fleet_is_made_again_between_two_folds() -> None:
    found = await stage("first", "second", waves=[{"name": "all", "max": 1}])
    await found.goes_on()
    obj = found.api.objects["ConsumerFleet", KEY.namespace, "fleet"]
    found._put(CONSUMER_FLEET, {**obj, "metadata": {**obj["metadata"], "uid": "another"}})
    for name in ("first", "second"):
        found.sees(name)
    assert len(found.called()) == 1


@pytest.mark.parametrize("named", ["restart", "default/restart", "elsewhere/restart"])
async def test_a_change_whose_campaign_is_not_there_waits(named: str) -> None:
    found = CampaignStage()
    found.fleet(halt={"disturbed": "100%"})
    await found.begin()
    changes(found, "first", named)
    await found.goes_on()
    assert found.called() == []
    assert found.fleets.ledger.allocator.waits_for("default/first") is not None


async def test_who_was_called_stays_free_when_its_campaign_is_deleted() -> None:
    """Also where somebody misspells the fleet of one of its name: what that one has not called waits."""
    found = await stage(action={"changes": {}})
    changes(found, "first", "restart", commands={CAMPAIGN: "default/restart"})
    changes(found, "second", "restart", commands={CAMPAIGN: "default/another"})
    found.delete(FLEET_CAMPAIGN, "restart")
    await found.goes_on()
    assert found.called() == ["first"]
    found.campaign(action={"changes": {}}, fleetRef={"name": "misspelt"})
    changes(found, "first", "restart", commands={CAMPAIGN: "default/restart"})
    await found.goes_on()
    assert found.called() == []


async def test_who_deletes_a_campaign_lets_nobody_begin() -> None:
    found = await stage("first", "second", waves=WAVES)
    await found.goes_on()
    found.delete(FLEET_CAMPAIGN, "restart")
    await found.goes_on()
    assert found.called() == []


async def test_a_person_promotes_it() -> None:
    found = await stage("first", "second", waves=[{"name": "canary", "size": 1, "promote": "Manual"}])
    await found.goes_on()
    [name] = found.called()
    found.has_done(name, "canary")
    await found.goes_on()
    assert found.campaign_status()["phase"] == "AwaitingPromotion"
    found.annotate(**{PROMOTE: "1"})
    await found.goes_on()
    assert found.campaign_status()["wave"] == "*"
    assert len(found.called()) == 1


async def test_without_a_campaign_nothing_is_folded_and_nothing_is_due() -> None:
    found = CampaignStage()
    found.fleet()
    await found.begin()
    found.rests("first")
    assert not found.campaigns.changed.is_set()
    assert await found.campaign_keeping.keep_once() is None
    assert found.api.asked == []
    assert found.store.get(CONSUMER_GROUP, Key(KEY.namespace, "first")) is not None


async def test_it_says_when_it_is_done_by_what_rollouts_take() -> None:
    found = await stage("first", "second", waves=WAVES)
    await found.goes_on()
    await found.goes_on()
    eta = found.campaign_status()["eta"]
    assert moment(eta["p90"]) >= moment(eta["p50"]) > found.now + 3600.0, "the canary soaks for an hour"


async def test_prometheus_is_told_how_far_it_is() -> None:
    found = await stage("first", "second", waves=WAVES)
    await found.goes_on()
    [name] = found.called()
    found.has_done(name, "canary")
    await found.goes_on()
    metrics = {family.name: family.samples for family in CampaignMetrics(found.campaigns).collect()}
    groups = {each.labels["state"]: each.value for each in metrics["slackwater_campaign_groups"]}
    assert (groups["done"], groups["waits"]) == (1, 1)
    assert [each.value for each in metrics["slackwater_campaign_overdue"]] == [0]


async def test_after_its_deadline_it_is_overdue_and_goes_on() -> None:
    found = await stage("first", deadline="1h")
    await found.goes_on()
    await found.goes_on(3601.0)
    conditions = {each["type"]: each["status"] for each in found.campaign_status()["conditions"]}
    assert conditions["Overdue"] == "True"
    await found.goes_on()
    metrics = {family.name: family.samples for family in CampaignMetrics(found.campaigns).collect()}
    assert [each.value for each in metrics["slackwater_campaign_overdue"]] == [1]
    assert found.campaign_status()["phase"] == "Running"


@pytest.mark.parametrize("where", ["_fold_one", "outlook"])
async def test_a_bug_in_one_campaign_does_not_stop_the_process(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = await stage("first")

    def bug(*_: Any) -> Any:
        raise KeyError("a bug")

    monkeypatch.setattr(found.campaigns, where, bug)
    await found.goes_on()
    assert found.called() == (["first"] if where == "outlook" else []), "it goes on without a forecast"


async def test_of_a_campaign_that_is_gone_nothing_is_kept() -> None:
    found = await stage("first")
    await found.goes_on()
    assert found.campaign_keeping._written_at
    found.delete(FLEET_CAMPAIGN, "restart")
    await found.goes_on()
    assert not found.campaign_keeping._written_at
    assert not found.campaign_keeping._outlooks


async def test_a_record_goes_with_its_campaign() -> None:
    found = await stage("first")
    await found.goes_on()
    records = {f"slackwater.dev/campaign.{UID}": "*", "slackwater.dev/campaign.another": "*", "restart": "1"}
    kept = {f"slackwater.dev/campaign.{UID}": "*", "restart": "1"}
    assert found.fleets.without_gone(records) == kept
    found.delete(FLEET_CAMPAIGN, "restart")
    assert found.fleets.without_gone(records) == {"restart": "1"}


async def test_where_campaigns_cannot_be_read_records_stay() -> None:
    found = CampaignStage()
    records = {f"slackwater.dev/campaign.{UID}": "*"}
    assert found.fleets.without_gone(records) == records


async def test_too_many_failures_halt_it_and_are_an_event() -> None:
    found = await stage("first", "second", waves=[{"name": "canary", "size": 1}])
    await found.goes_on()
    [name] = found.called()
    turn = {"reason": "Restart", "askedAt": found.now, "givenAt": found.now, "doneAt": found.now, "campaign": UID}
    found.says(name, "Failed", turn, "canary")
    await found.goes_on()
    assert (found.called(), found.campaign_status()["phase"]) == ([], "Halted")
    assert "CampaignHalted" in found.events()


async def test_who_settles_from_a_turn_of_its_own_comes_after_that() -> None:
    found = CampaignStage()
    found.fleet(halt={"disturbed": "100%"}, settleFor="5m")
    await found.begin()
    found.rests("first")
    turn = {"reason": "Rollout", "askedAt": found.now, "givenAt": found.now, "doneAt": found.now}
    found.says("first", "Complete", turn, "of another campaign done 1970-01-12T13:46:40Z")
    obj = found.api.objects["ConsumerGroup", KEY.namespace, "first"]
    found._put(CONSUMER_GROUP, {**obj, "status": {**obj["status"], "commands": {}}})
    found.campaign()
    await found.goes_on()
    assert found.called() == []
    due_s = await found.campaign_keeping.keep_once()
    assert due_s is not None
    assert due_s <= 300.0
    await found.goes_on(301.0)
    assert found.called() == ["first"]


@pytest.mark.parametrize(("defaults", "skipped"), [({}, {"WouldStop": 1}), ({"allowDowntime": True}, {})])
async def test_what_else_the_campaign_brings_is_judged_with_the_protocol(
    defaults: dict[str, Any], skipped: dict[str, int]
) -> None:
    """One that lets all consumers stop for a moment opens the only way that librdkafka has."""
    found = CampaignStage()
    found.fleet(halt={"disturbed": "100%"}, defaults={"protocol": {"target": "Cooperative", **defaults}})
    await found.begin()
    seen = replace(running(RDKAFKA, Profile.EAGER), memory=RolloutMemory(protocol=Profile.EAGER))
    found._put(CONSUMER_GROUP, group_object(name="first", client=RDKAFKA) | {"status": {"observedGeneration": 1}})
    found.sees("first")
    found.campaign(action={"applyDefaults": {}})
    found.campaigns.fold()
    found.campaigns.decided(Key(KEY.namespace, "first"), seen, Decision(seen.memory))
    await found.goes_on(STATUS_AGAIN_S)
    assert found.campaign_status().get("skipped", {}) == skipped


async def test_each_campaign_is_judged_by_what_it_brings_itself() -> None:
    """Two that take a group to the same protocol; only one of them lets its consumers stop."""
    found = CampaignStage()
    found.fleet(halt={"disturbed": "100%"}, defaults={"protocol": {"target": "Cooperative", "allowDowntime": True}})
    await found.begin()
    seen = replace(running(RDKAFKA, Profile.EAGER), memory=RolloutMemory(protocol=Profile.EAGER))
    found._put(CONSUMER_GROUP, group_object(name="first", client=RDKAFKA) | {"status": {"observedGeneration": 1}})
    found.sees("first")
    found.campaign(name="all-of-it", action={"applyDefaults": {}})
    found.campaign(name="target", action={"applyDefaults": {"fields": ["protocol.target"]}})
    found.campaigns.fold()
    found.campaigns.decided(Key(KEY.namespace, "first"), seen, Decision(seen.memory))
    await found.goes_on(STATUS_AGAIN_S)
    skipped = [found.campaign_status(name).get("skipped", {}) for name in ("all-of-it", "target")]
    assert skipped == [{}, {"WouldStop": 1}]


async def test_the_max_of_a_wave_may_be_what_makes_it_last() -> None:
    found = await stage("first", "second", waves=[{"name": "all", "selector": {}, "max": 1}])
    await found.goes_on()
    assert found.campaign_status()["bottleneck"] == "max of wave all"
