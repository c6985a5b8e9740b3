"""Whose each of a group's settings is: what `explain --defaults` is made of. Kafka is not asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.api.parsing import parse_consumer_group
from slackwater.cli.looking.fleets import read_only_fleets
from slackwater.cli.pictures.defaults import DefaultsLook
from slackwater.cli.reaching.choice import Place
from slackwater.cli.reaching.cluster import read_group_object
from slackwater.core.fleet.defaults import Own
from slackwater.core.fleet.explained import origins
from slackwater.core.fleet.layers import nearest
from slackwater.core.fleet.seen import FleetSeen, seen

Fleets = tuple[Mapping[str, FleetSeen], bool]


class Defaults:
    """Fleets are listed once, however many groups of a namespace are asked about."""

    def __init__(self) -> None:
        self._reading: dict[str, asyncio.Future[Fleets]] = {}

    async def of(self, api: KubernetesApi, place: Place) -> DefaultsLook:
        """Raises NoSuchGroup, NotInstalled, InvalidSpec and ClusterFailed."""
        found, namespace = await read_group_object(api, *place), place.namespace
        if namespace not in self._reading:
            self._reading[namespace] = asyncio.ensure_future(read_only_fleets(api, namespace))
        fleets, are_all = await self._reading[namespace]
        return look_at(found, fleets, are_all=are_all)


def look_at(found: Mapping[str, Any], fleets: Mapping[str, FleetSeen], *, are_all: bool) -> DefaultsLook:
    """`fleets`: by `namespace/name`; `are_all`: there are no others. Raises InvalidSpec."""
    group, known = parse_consumer_group(found), seen(found)
    givers = [each.giver for each in fleets.values() if each.fleet.selects(known.facts)]
    given = nearest(group.namespace, [each for each in givers if each is not None])
    pins, here = known.memory.inherited, f"{group.namespace}/"
    may_live = frozenset(() if are_all else (pin.fleet for pin in pins.values() if not pin.fleet.startswith(here)))
    said = origins(Own.of(group.spec), given, pins, may_live.union(fleets), known.memory.tuning.values)
    return DefaultsLook(group.namespace, group.name, said, may_live.difference(fleets), is_partial=not are_all)
