"""Whose each of a group's settings is: what `why --defaults` is made of. Kafka is not asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.api.parsing import parse_consumer_group
from slackwater.cli.looking.fleets import read_all_campaigns, read_only_fleets
from slackwater.cli.pictures.defaults import DefaultsLook
from slackwater.cli.reaching.choice import Place
from slackwater.cli.reaching.cluster import read_group_object
from slackwater.core.fleet.campaign import Campaign
from slackwater.core.fleet.defaults import Own
from slackwater.core.fleet.explained import Around, origins
from slackwater.core.fleet.held_defaults import held_by, holders, selecting
from slackwater.core.fleet.layers import nearest
from slackwater.core.fleet.seen import FleetSeen, seen


@dataclass(frozen=True, slots=True)
class Known:
    """What there is beside a group."""

    fleets: Mapping[str, FleetSeen]
    """By `namespace/name`."""
    campaigns: Sequence[Campaign] = ()
    are_all_fleets: bool = True
    """There are no others."""
    are_all_campaigns: bool = True


class Defaults:
    """Fleets and campaigns are listed once, however many groups of a namespace are asked about."""

    def __init__(self) -> None:
        self._reading: dict[str, asyncio.Future[Known]] = {}

    async def of(self, api: KubernetesApi, place: Place) -> DefaultsLook:
        """Raises NoSuchGroup, NotInstalled, InvalidSpec and ClusterFailed."""
        found, namespace = await read_group_object(api, *place), place.namespace
        if namespace not in self._reading:
            self._reading[namespace] = asyncio.ensure_future(_read(api, namespace))
        return look_at(found, await self._reading[namespace])


async def _read(api: KubernetesApi, namespace: str) -> Known:
    fleets, are_all = await read_only_fleets(api, namespace)
    campaigns, are_all_campaigns = await read_all_campaigns(api, namespace)
    return Known(fleets, campaigns, are_all, are_all_campaigns)


def look_at(found: Mapping[str, Any], beside: Known) -> DefaultsLook:
    """Raises InvalidSpec."""
    group, known = parse_consumer_group(found), seen(found)
    selected_by = [each for each in beside.fleets.values() if each.fleet.selects(known.facts)]
    given = nearest(group.namespace, [each.giver for each in selected_by if each.giver is not None])
    pins, here = known.memory.inherited, f"{group.namespace}/"
    others = (pin.fleet for pin in pins.values() if not pin.fleet.startswith(here))
    may_live = frozenset(() if beside.are_all_fleets else others)
    of_these, labels = {each.key for each in selected_by}, known.facts.labels
    held = [by for each in beside.campaigns if (by := held_by(each)) is not None]
    holding = holders(selecting(held, of_these, labels), given, known.memory.commands)
    around = Around(may_live.union(beside.fleets), holding)
    said = origins(Own.of(group.spec), given, pins, around, known.memory.tuning.values)
    is_partial = not (beside.are_all_fleets and beside.are_all_campaigns)
    return DefaultsLook(group.namespace, group.name, said, may_live.difference(beside.fleets), is_partial)
