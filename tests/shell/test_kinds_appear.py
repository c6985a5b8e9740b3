"""A cluster that knew neither ConsumerFleets nor FleetCampaigns, and then does: nobody waits, nothing is written."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from slackwater.adapters.cluster.errors import KindMissing
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP, FLEET_CAMPAIGN
from slackwater.core.world.turn import Turn
from slackwater.ports import Kind
from slackwater.shell.operator import Operator
from slackwater.shell.settings import Settings
from slackwater.shell.store import LATER_KINDS
from tests.shell.fakes import KEY, FakeApi, fleet_object, group_object
from tests.shell.reconciler_stage import Stage

OF_FLEETS = (CONSUMER_FLEET, FLEET_CAMPAIGN)
CLUSTERWIDE: Mapping[str, Any] = {"pod_namespace": "operations"}
IN_SOME: Mapping[str, Any] = {"pod_namespace": "operations", "namespace": KEY.namespace}
BEGUN = {"rollout": {"phase": "Progressing", "startedAt": "2026-11-30T12:00:00Z", "started": True}}


class Cluster(FakeApi):
    """Without the two kinds, until somebody applies their CRDs."""

    def __init__(self) -> None:
        super().__init__()
        self.missing = set(OF_FLEETS)

    async def list_all(self, kind: Kind, namespace: str | None, label_selector: str = "") -> Any:
        if kind in self.missing:
            raise KindMissing(f"the cluster knows no {kind.plural}")
        return await super().list_all(kind, namespace, label_selector)


async def started(settings: Mapping[str, Any], *, status: Mapping[str, Any]) -> tuple[Operator, Cluster]:
    """One that leads, and has read a cluster with a group in it."""
    cluster = Cluster()
    cluster.add(CONSUMER_GROUP, group_object() | {"status": dict(status)})
    api: Any = cluster
    found = Operator(api, Settings.model_validate(dict(settings)))
    await found.relist()
    await found.fleets.begin()
    found.queue.done(await found.queue.take())
    return found, cluster


async def go_on(found: Operator) -> None:
    """What runs all the time, once around: lists of what is not watched yet, of fleets of its own, and statuses."""
    await found.list_unwatched()
    if found.settings.own_fleets_in:
        await found.fleets._own.list_once()
    found.fleets.fleets.tick()
    found.fleets.campaigns.fold()
    await found.fleets._keeping.keep_once()
    await found.fleets._campaign_keeping.keep_once()


def turn_of(found: Operator) -> Turn:
    obj = found.store.get(CONSUMER_GROUP, KEY)
    assert obj is not None
    fleets = found.fleets.fleets
    return fleets.turn_of(KEY, fleets.memories.of(KEY, obj))


@pytest.mark.parametrize("settings", [CLUSTERWIDE, IN_SOME], ids=["everywhere", "in some namespaces"])
@pytest.mark.parametrize("status", [{}, BEGUN], ids=["new", "in the middle of a rollout"])
async def test_before_the_kinds_are_there_and_after_nobody_waits_and_nothing_is_written(
    settings: Mapping[str, Any], status: Mapping[str, Any]
) -> None:
    found, cluster = await started(settings, status=status)
    assert set(OF_FLEETS) <= set(LATER_KINDS)
    await go_on(found)
    assert (turn_of(found), cluster.writes()) == (Turn(), [])
    cluster.missing.clear()
    await go_on(found)
    await found.relist()
    await go_on(found)
    assert (turn_of(found), cluster.writes()) == (Turn(), [])
    assert len(found.queue) == 0, "no group is looked at for that"
    assert found.fleets.fleets.ledger.fleets() == ()


async def test_the_first_fleet_that_is_made_then_counts() -> None:
    found, cluster = await started(CLUSTERWIDE, status={})
    cluster.missing.clear()
    cluster.add(CONSUMER_FLEET, fleet_object(budgets=[{"name": "all", "max": 1}]))
    await go_on(found)
    assert turn_of(found).fleets == (f"{KEY.namespace}/fleet",)
    async with asyncio.timeout(60):
        assert await found.queue.take() == KEY


async def test_a_group_at_rest_writes_nothing_when_the_kinds_appear() -> None:
    found = Stage()
    await found.run_to_rest()
    found.ask_nothing_more()
    for kind in OF_FLEETS:
        found.store.replace(kind, [], found.api.version)
    await found.run()
    assert (found.api.writes(), found.woken) == ([], [])
    assert "turn" not in found.api.objects["ConsumerGroup", *KEY]["status"]["rollout"]
