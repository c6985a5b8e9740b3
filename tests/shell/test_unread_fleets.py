"""Where fleets may not be read, what they say is not known: nothing new begins there, and who has begun goes on."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from slackwater.adapters.cluster.errors import Forbidden, KindMissing
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP, FLEET_CAMPAIGN
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.turn import TurnStanding
from slackwater.ports import Kind
from slackwater.shell.operator import Operator
from slackwater.shell.settings import Settings
from slackwater.shell.store import Key
from tests.shell.fakes import KEY, FakeApi, fleet_object, group_object
from tests.shell.fleet_stage import FleetStage
from tests.shell.test_fleets import ONE, about_to_begin

HAS, CALLED, WAITS, NO_FLEET = TurnStanding.HAS, TurnStanding.CALLED, TurnStanding.WAITS, TurnStanding.NO_FLEET
SHOP, BANK = Key("shop", KEY.name), Key("bank", KEY.name)
HELD: Final = (WAITS, ("shop",))
FREE: Final = (NO_FLEET, ())


class WithoutRight(FakeApi):
    """Of these namespaces everything may be read, but ConsumerFleets (or what `kind` says)."""

    def __init__(self, *namespaces: str) -> None:
        super().__init__()
        self.refused = {(CONSUMER_FLEET, namespace) for namespace in namespaces}
        self.has_crd = True

    async def list_all(self, kind: Kind, namespace: str | None, label_selector: str = "") -> Any:
        if kind is CONSUMER_FLEET and not self.has_crd:
            raise KindMissing("install the CRDs")
        if (kind, namespace) in self.refused:
            raise Forbidden(f'cannot list resource "{kind.plural}" in the namespace "{namespace}" (403)')
        return await super().list_all(kind, namespace, label_selector)


def of_shop_and_bank(*without: str) -> tuple[Operator, WithoutRight]:
    """Each has one group; the operator itself is elsewhere."""
    api: Any = WithoutRight(*without)
    for namespace in ("shop", "bank"):
        made = group_object()
        api.add(CONSUMER_GROUP, {**made, "metadata": {**made["metadata"], "namespace": namespace}})
    settings = Settings.model_validate({"namespace": "shop,bank", "pod_namespace": "operations"})
    return Operator(api, settings), api


async def begun(operator: Operator) -> Operator:
    await operator.relist()
    await operator.fleets.begin()
    return operator


def turn_of(operator: Operator, key: Key) -> tuple[TurnStanding, tuple[str, ...]]:
    """Of a group that asks for none, and the namespaces whose fleets may not be read."""
    turn = operator.fleets.fleets.turn_of(key, RolloutMemory())
    return turn.standing, turn.unread


async def test_a_group_is_not_without_a_fleet_where_fleets_may_not_be_read() -> None:
    operator, _ = of_shop_and_bank("shop")
    await begun(operator)
    assert (turn_of(operator, SHOP), turn_of(operator, BANK)) == (HELD, FREE)
    operator.metrics.take_stock()
    assert b'slackwater_namespace_refused{namespace="shop"} 1.0' in operator.metrics.text()
    assert b'slackwater_fleet_open{fleet="?",namespace="shop"} 0.0' in operator.metrics.text()


async def test_what_may_be_read_again_holds_nobody_and_wakes_its_groups() -> None:
    operator, api = of_shop_and_bank("shop")
    await begun(operator)
    api.refused.clear()
    while len(operator.queue):
        operator.queue.done(await operator.queue.take())
    await operator.relist(["shop"])
    assert turn_of(operator, SHOP) == FREE
    async with asyncio.timeout(10):
        assert await operator.queue.take() == SHOP
    assert b'fleet="?"' not in operator.metrics.text()


async def test_a_fleet_that_may_be_read_at_last_is_in_force_without_a_gap() -> None:
    operator, api = of_shop_and_bank("shop")
    await begun(operator)
    api.add(CONSUMER_FLEET, fleet_object(namespace="shop", budgets=ONE))
    api.refused.clear()
    seen = list[TurnStanding]()
    operator.store.listener, tell = None, operator.store.listener
    assert tell is not None

    def listener(kind: Kind, key: Key, obj: Any) -> None:
        tell(kind, key, obj)
        seen.append(turn_of(operator, SHOP)[0])

    operator.store.listener = listener
    await operator.relist(["shop"])
    assert NO_FLEET not in seen
    assert operator.fleets.fleets.turn_of(SHOP, RolloutMemory()).fleets == ("shop/fleet",)
    assert turn_of(operator, SHOP) == (WAITS, ())


async def test_a_right_that_is_withdrawn_holds_what_has_not_begun() -> None:
    operator, api = of_shop_and_bank()
    await begun(operator)
    assert turn_of(operator, SHOP) == FREE
    api.refused.add((CONSUMER_FLEET, "shop"))
    await operator.relist()
    assert (turn_of(operator, SHOP), turn_of(operator, BANK)) == (HELD, FREE)
    await operator.relist(["bank"])
    assert turn_of(operator, SHOP) == HELD, "it was not asked for this time"


async def test_a_crd_that_comes_later_does_not_open_what_may_not_be_read() -> None:
    operator, api = of_shop_and_bank("shop")
    api.has_crd = False
    await begun(operator)
    assert turn_of(operator, SHOP) == FREE, "there are none"
    api.has_crd = True
    await operator.list_unwatched()
    assert (turn_of(operator, SHOP), turn_of(operator, BANK)) == (HELD, FREE)


async def test_where_those_of_its_own_namespace_may_not_be_read_nothing_new_begins_anywhere() -> None:
    """They may reach into any. The process goes on, since remedies do not wait for a right."""
    operator, api = of_shop_and_bank("operations")
    api.add(CONSUMER_FLEET, fleet_object(namespace="operations", namespaces=["*"], budgets=ONE))
    await begun(operator)
    assert turn_of(operator, SHOP) == turn_of(operator, BANK) == (WAITS, ("operations",))
    api.refused.clear()
    await operator.fleets._own.list_once()
    assert turn_of(operator, SHOP) == (WAITS, ())
    assert operator.fleets.fleets.ledger.fleets_of(str(BANK)) == ("operations/fleet",)
    api.refused.add((CONSUMER_FLEET, "operations"))
    await operator.fleets._own.list_once()
    assert turn_of(operator, SHOP) == (WAITS, ("operations",))


async def test_records_stay_while_the_campaigns_of_one_namespace_may_not_be_read() -> None:
    """Else the campaign would begin with those groups once more, when it may be read again."""
    operator, api = of_shop_and_bank()
    known = fleet_object(name="known", namespace="bank") | {"kind": "FleetCampaign"}
    api.add(FLEET_CAMPAIGN, known)
    api.refused.add((FLEET_CAMPAIGN, "shop"))
    await begun(operator)
    records = {"slackwater.dev/campaign.uid-of-known": "*", "slackwater.dev/campaign.in-shop": "*"}
    assert operator.fleets.campaigns.without_gone(records) == records
    api.refused.clear()
    await operator.relist()
    assert operator.fleets.campaigns.without_gone(records) == {"slackwater.dev/campaign.uid-of-known": "*"}


async def test_who_asks_is_not_called_and_takes_nobodys_room() -> None:
    found = FleetStage()
    found.fleet(budgets=ONE)
    found.fleets.hide([KEY.namespace])
    await found.begin()
    found.asks("first", "second")
    assert (found.standing("first"), found.standing("second")) == (WAITS, WAITS)
    assert found.fleets.turn_of(Key(KEY.namespace, "first"), RolloutMemory()).fleets == ("default/fleet",)
    limit, used, _ = found.fleets.ledger.allocator.use(found.fleets.ledger.cells_of("default/fleet")[0])
    assert (limit, used) == (1, 0)
    found.woken.clear()
    found.fleets.hide([])
    assert (found.standing("first"), found.standing("second")) == (CALLED, WAITS)
    assert "first" in found.woken


async def test_who_was_called_does_not_begin_once_fleets_may_not_be_read() -> None:
    found = FleetStage()
    found.fleet(budgets=ONE)
    await found.begin()
    found.asks("first")
    called, _, gives = about_to_begin(found.now)
    assert found.standing("first") is CALLED
    found.fleets.hide([KEY.namespace])
    assert found.standing("first") is WAITS
    assert not found.fleets.may_write(Key(KEY.namespace, "first"), called, gives)


@pytest.mark.parametrize("is_first_list", [True, False])
async def test_who_has_begun_goes_on(is_first_list: bool) -> None:
    found = FleetStage()
    found.writes("running", givenAt=found.now)
    if is_first_list:
        found.fleets.hide([KEY.namespace])
    await found.begin()
    found.fleets.hide([KEY.namespace])
    assert found.standing("running") is HAS
    found.is_done("running")
    found.asks("running")
    assert found.standing("running") is WAITS


async def test_of_what_stands_for_them_no_status_is_written() -> None:
    found = FleetStage()
    found.fleets.hide([KEY.namespace])
    await found.begin()
    found.asks("first")
    await found.keeping.keep_once()
    assert (found.api.asked, found.fleets.dirty) == ([], set())
