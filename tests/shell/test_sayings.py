"""What a fleet gives is in force at once or comes with the next rollout, and restarts nobody."""

from __future__ import annotations

from typing import Any

from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP
from slackwater.core.fleet.claim import Cell
from slackwater.core.fleet.order import Order
from slackwater.shell.orders import Orders
from tests.shell.fakes import KEY, fleet_object
from tests.shell.reconciler_stage import Stage


def says(found: Stage, **defaults: Any) -> None:
    version = found.api.version + 1
    found.api.version = version
    fleet = fleet_object(version, halt={"disturbed": "100%"}, defaults=defaults)
    found.store.put(CONSUMER_FLEET, found.api.add(CONSUMER_FLEET, fleet))


def inherited(found: Stage) -> dict[str, Any]:
    rollout = found.api.objects["ConsumerGroup", *KEY]["status"]["rollout"]
    return {name: pin["value"] for name, pin in rollout.get("inherited", {}).items()}


def session_in(found: Stage) -> str:
    template = found.api.objects["StatefulSet", *KEY]["spec"]["template"]
    env = template["spec"]["containers"][0]["env"]
    return str(next(each["value"] for each in env if each["name"] == "KAFKA_SESSION_TIMEOUT_MS"))


async def test_a_new_group_begins_with_what_its_fleet_gives() -> None:
    found = Stage()
    says(found, timeouts={"session": "60s", "heartbeat": "5s"})
    await found.run_to_rest()
    assert inherited(found) == {"timeouts.session": "1m", "timeouts.heartbeat": "5s"}
    assert session_in(found) == "60000"


async def test_what_it_says_later_restarts_nobody_and_writes_nothing() -> None:
    found = Stage()
    await found.run_to_rest()
    before = session_in(found)
    found.ask_nothing_more()
    says(found, timeouts={"session": "60s", "heartbeat": "5s"})
    await found.run_to_rest()
    assert "apply StatefulSet" not in found.api.asked
    assert (inherited(found), session_in(found)) == ({}, before)


async def test_what_does_not_go_with_the_groups_own_words_is_said_and_changes_nothing() -> None:
    found = Stage(timeouts={"session": "12s"})
    says(found, timeouts={"heartbeat": "6s"})
    await found.run_to_rest()
    assert found.condition("Degraded")["reason"] == "DefaultsRefused"
    assert "ConsumerFleet default/fleet" in found.condition("Degraded")["message"]
    assert inherited(found) == {}
    obj = found.api.objects["ConsumerFleet", KEY.namespace, "fleet"]
    found.store.drop(CONSUMER_FLEET, obj)
    await found.run_to_rest()
    assert found.condition("Degraded")["status"] == "False"


async def test_without_defaults_nothing_is_taken_apart() -> None:
    found = Stage()
    says(found)
    await found.run_to_rest()
    assert found.store.get(CONSUMER_GROUP, KEY) is not None
    assert found.reconciler._sayings._known == {}


async def test_a_campaign_restarts_a_group_once_it_is_called() -> None:
    found = Stage()
    says(found)
    await found.run_to_rest()
    known = found.api.objects["ConsumerGroup", *KEY]
    rollout = {**known["status"]["rollout"], "phase": "Complete"}
    found.see(found.api._store(CONSUMER_GROUP, {**known, "status": {**known["status"], "rollout": rollout}}))
    order = Order("uid-of-campaign", "default/fleet", "canary", found.now(), Cell("campaign/a", "a"), "uid-of-campaign")
    found.fleets.ordered(Orders({str(KEY): order}), {})
    assert KEY in found.woken
    await found.run_to_rest()
    status = found.api.objects["ConsumerGroup", *KEY]["status"]
    assert status["commands"]["slackwater.dev/campaign.uid-of-campaign"] == "canary"
    annotations = found.api.objects["StatefulSet", *KEY]["spec"]["template"]["metadata"]["annotations"]
    assert annotations["slackwater.dev/restarted-at"] == "uid-of-campaign"


async def test_who_is_not_called_is_ordered_nothing() -> None:
    found = Stage()
    found.store.put(CONSUMER_FLEET, found.api.add(CONSUMER_FLEET, fleet_object(200, pause="INC-1")))
    await found.run_to_rest()
    order = Order("uid-of-campaign", "default/fleet", "canary", found.now(), Cell("campaign/a", "a"), "uid-of-campaign")
    found.fleets.ordered(Orders({str(KEY): order}), {})
    await found.run_to_rest()
    assert "commands" not in found.api.objects["ConsumerGroup", *KEY]["status"]
