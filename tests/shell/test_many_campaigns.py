"""Many FleetCampaigns of one namespace: the oldest that are not over count, a fold goes a few groups at a time, and no
other namespace waits for it."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any, Final

import pytest

from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP, FLEET_CAMPAIGN, POD
from slackwater.api.annotations import GROUP_LABEL
from slackwater.api.timestamps import timestamp
from slackwater.shell import campaign_folds
from slackwater.shell.campaign_folds import AT_ONCE
from slackwater.shell.campaign_keeping import FOLD_AGAIN_S
from slackwater.shell.campaigns import Campaigns
from slackwater.shell.room import Room
from slackwater.shell.store import Key
from tests.shell.campaign_stage import CampaignStage, campaign_object
from tests.shell.fakes import KEY, fleet_object, group_object
from tests.shell.fleet_stage import CALM

MOST: Final = 2


class Stage(CampaignStage):
    """Of whose campaigns two of each namespace count."""

    def lead(self) -> None:
        super().lead()
        self.campaigns.most = MOST

    async def list_all(self) -> None:
        await super().list_all()
        listed, version = await self.api.list_all(POD, None)
        self.store.replace(POD, listed, version)

    def named(self, name: str, namespace: str = KEY.namespace, *, made: int = 0, **parts: Any) -> None:
        obj = campaign_object(self.api.version, name=name)
        obj["metadata"] |= {"namespace": namespace, "creationTimestamp": timestamp(1_000 + made)}
        obj["metadata"]["uid"] = f"{namespace}-{name}"
        self._put(FLEET_CAMPAIGN, obj | parts)

    def of(self, namespace: str, *groups: str) -> None:
        """Its fleet, and groups at rest, each with a pod of an hour ago."""
        obj = fleet_object(self.api.version, namespace=namespace, halt={"disturbed": "100%"})
        obj["metadata"]["uid"] = f"fleet-of-{namespace}"
        self._put(CONSUMER_FLEET, obj)
        for name in groups:
            group = group_object(name=name) | {"status": {"observedGeneration": 1}}
            group["metadata"] |= {"namespace": namespace, "uid": f"{namespace}-{name}"}
            self._put(CONSUMER_GROUP, group)
            pod = {
                "name": f"{name}-0",
                "namespace": namespace,
                "labels": {GROUP_LABEL: name},
                "uid": f"{namespace}-{name}",
            }
            pod |= {"creationTimestamp": timestamp(int(self.now) - 3600)}
            self._put(POD, {"apiVersion": "v1", "kind": "Pod", "metadata": pod, "spec": {}, "status": {}})
            self.fleets.look(Key(namespace, name), CALM)

    def accepted(self, name: str, namespace: str = KEY.namespace) -> tuple[str, str]:
        status = self.api.objects["FleetCampaign", namespace, name]["status"]
        found = next(each for each in status["conditions"] if each["type"] == "Accepted")
        return found["status"], found["reason"]

    def phase(self, name: str, namespace: str = KEY.namespace) -> str:
        found: str = self.api.objects["FleetCampaign", namespace, name].get("status", {}).get("phase", "")
        return found


async def stage(*groups: str) -> Stage:
    found = Stage()
    await found.begin()
    found.of(KEY.namespace, *groups)
    return found


async def test_the_oldest_count_and_the_others_wait_and_say_so() -> None:
    found = await stage("first")
    for age, name in enumerate(["d", "c", "b", "a"]):
        found.named(name, made=age)
    await found.goes_on()
    assert {name: found.accepted(name) for name in "abcd"} == {
        "d": ("True", "Accepted"),
        "c": ("True", "Accepted"),
        "b": ("False", "TooManyCampaigns"),
        "a": ("False", "TooManyCampaigns"),
    }
    assert (found.phase("d"), found.phase("b")) == ("Running", "Pending")
    found.lead()
    await found.begin()
    assert [each.campaign.name for each in found.campaigns.folded if not each.course.refused] == ["c", "d"]
    found.delete(FLEET_CAMPAIGN, "d")
    found.now += 60.0
    await found.goes_on()
    assert (found.accepted("b")[1], found.accepted("a")[1]) == ("Accepted", "TooManyCampaigns")


async def test_those_that_are_over_do_not_count() -> None:
    found = await stage("first")
    for age in range(2 * MOST):
        found.named(f"old-{age}", made=age, status={"phase": "Succeeded"})
    found.named("new", made=30)
    await found.goes_on()
    assert found.accepted("new") == ("True", "Accepted")


async def test_one_that_was_under_way_goes_on_where_it_was_once_it_counts() -> None:
    found = await stage("first")
    found.named("new", made=30)
    await found.goes_on()
    began = found.campaign_status("new")["startedAt"]
    found.campaigns.most = 0
    found.now += 60.0
    await found.goes_on()
    assert (found.phase("new"), found.called()) == ("Pending", [])
    found.campaigns.most = MOST
    found.now += 60.0
    await found.goes_on()
    assert (found.phase("new"), found.campaign_status("new")["startedAt"]) == ("Running", began)
    assert found.called() == ["first"]


async def test_changes_that_name_one_that_does_not_count_wait() -> None:
    found = await stage("first")
    found.campaigns.most = 0
    found.named("new")
    [folded] = found.campaigns.fold()
    assert found.campaigns._held_by(folded) is None


async def test_one_that_has_no_room_says_so() -> None:
    found = await stage("first")
    found.store._room = Room(0)
    labels = {f"label-{number}": "x" * 60 for number in range(32)}
    waves = [{"name": f"w{number}", "selector": {"matchLabels": labels}} for number in range(4)]
    obj = campaign_object(found.api.version, name="large", waves=waves)
    found._put(FLEET_CAMPAIGN, obj)
    await found.goes_on()
    assert found.accepted("large") == ("False", "InvalidSpec")
    said = next(each["message"] for each in found.campaign_status("large")["conditions"] if each["type"] == "Accepted")
    assert "large objects of this namespace" in said


def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Of which groups campaigns ask what they are."""
    seen: list[str] = []
    known = Campaigns._known

    def counted(self: Campaigns, key: Key, *given: Any) -> Any:
        seen.append(str(key))
        return known(self, key, *given)

    monkeypatch.setattr(Campaigns, "_known", counted)
    return seen


async def test_a_fold_asks_a_hundred_groups_and_then_all_else_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    found = await stage(*(f"g{number:03}" for number in range(3 * AT_ONCE)))
    found.named("a")
    found.named("b")
    seen, between = asked(monkeypatch), [0]

    async def all_else() -> None:
        while True:
            between.append(len(seen))
            await asyncio.sleep(0)

    other = asyncio.create_task(all_else())
    await found.campaigns.fold_in_turns()
    other.cancel()
    assert len(seen) == 6 * AT_ONCE
    assert max(after - before for before, after in pairwise(between)) == AT_ONCE


async def test_no_namespace_waits_for_the_fold_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign_folds, "STEPS_A_ROUND", 2)
    found = await stage()
    found.of("evil", *(f"g{number:03}" for number in range(4 * AT_ONCE)))
    found.of("good", "first")
    found.named("a", "evil")
    found.named("b", "evil")
    found.named("c", "good")
    again_s = await found.campaign_keeping.keep_once()
    assert again_s == FOLD_AGAIN_S
    assert (found.phase("c", "good"), found.phase("a", "evil")) == ("Running", "")
    folds = 0
    while not found.phase("b", "evil"):
        await found.campaign_keeping.keep_once()
        folds += 1
    assert folds == 5
    assert found.fleets.orders.by_group.keys() >= {"good/first"}


async def test_a_failure_that_came_during_a_fold_is_counted_by_the_next() -> None:
    """Its group was asked before it failed: nobody else begins by what that fold says."""
    names = [f"g{number:03}" for number in range(4 * AT_ONCE)]
    found = await stage(*names)
    found.named("a")
    await found.goes_on()
    waits, [ordered, *_] = found.fleets._groups.waits_for_campaigns, found.fleets.orders.by_group
    fold = asyncio.create_task(found.campaigns.fold_in_turns())
    for _ in range(3):
        await asyncio.sleep(0)
    found.has_begun("g000", "*")
    turn = {"reason": "Restart", "askedAt": found.now, "givenAt": found.now, "doneAt": found.now}
    found.says("g000", "Failed", turn, "*")
    assert not fold.done()
    await fold
    assert waits(ordered)
    await found.campaigns.fold_in_turns()
    assert not any(map(waits, names))


async def test_a_campaign_that_goes_during_a_fold_orders_nothing() -> None:
    found = await stage(*(f"g{number:03}" for number in range(2 * AT_ONCE)))
    found.named("a")
    await found.goes_on()
    fold = asyncio.create_task(found.campaigns.fold_in_turns())
    for _ in range(3):
        await asyncio.sleep(0)
    found.delete(FLEET_CAMPAIGN, "a")
    await fold
    assert not found.fleets.orders.by_group
    await found.campaigns.fold_in_turns()
    assert (found.campaigns.folded, found.campaigns._found) == ((), {})
