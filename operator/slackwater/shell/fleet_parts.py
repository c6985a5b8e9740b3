"""All that has to do with fleets, wired: what counts, what is written, what is listed, what Prometheus is told."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator

from slackwater.adapters.cluster.paths import CONSUMER_FLEET, FLEET_CAMPAIGN
from slackwater.core.fleet.times import Scope
from slackwater.ports import Cluster, Kind
from slackwater.shell.campaign_keeping import CampaignKeeping
from slackwater.shell.campaign_metrics import CampaignMetrics
from slackwater.shell.campaigns import Campaigns
from slackwater.shell.fleet_keeping import FleetKeeping
from slackwater.shell.fleet_metrics import FleetMetrics, paused_in
from slackwater.shell.fleets import Fleets
from slackwater.shell.metrics import Metrics
from slackwater.shell.own_fleets import OwnFleets
from slackwater.shell.settings import Settings
from slackwater.shell.store import Key, Store


class FleetParts:
    """`wake`: a group has to be looked at; `relist`: everything is listed into the store."""

    def __init__(
        self,
        api: Cluster,
        store: Store,
        settings: Settings,
        wake: Callable[[Key], None],
        relist: Callable[[], Awaitable[None]],
    ) -> None:
        self._store = store
        scope = Scope(settings.pod_namespace or "", settings.namespace)
        self.fleets = Fleets(store, wake, scope, time.time, time.monotonic)
        self._keeping = FleetKeeping(api, store, self.fleets, relist, time.time)
        self.campaigns = Campaigns(store, self.fleets, time.time)
        self._campaign_keeping = CampaignKeeping(api, store, self.campaigns, time.time)
        self._own = OwnFleets(api, store, settings.own_fleets_in, settings.namespace, self.listed)
        self._follows_own = bool(settings.own_fleets_in)
        self._hidden: defaultdict[Kind, set[str]] = defaultdict(set)
        """Namespaces in which objects of the kind may not be read."""

    async def begin(self) -> None:
        """When this replica leads, and has read the cluster. Raises ClusterRefused where it may ask nothing at all."""
        if self._follows_own:
            await self._own.list_at_first()
        await self.fleets.begin_in_turns()
        await self.campaigns.fold_in_turns()

    def listed(self, kind: Kind, namespaces: Collection[str], refused: Collection[str]) -> None:
        """What these namespaces have of the kind is in the store, but for those of them that may not be read."""
        before = self._hidden[kind]
        hidden = self._hidden[kind] = (before - {*namespaces}) | {*refused}
        if hidden == before:
            return
        if kind is CONSUMER_FLEET:
            self.fleets.hide(hidden)
        elif kind is FLEET_CAMPAIGN:
            self.campaigns.hide(hidden)

    def parts(self) -> Iterator[tuple[str, Coroutine[None, None, None]]]:
        """What runs as long as this replica leads, by name."""
        yield "fleets", self._keeping.keep()
        yield "fleets-clock", self._keeping.keep_time()
        yield "campaigns", self._campaign_keeping.keep()
        if self._follows_own:
            yield "own-fleets", self._own.follow()

    def publish(self, metrics: Metrics) -> None:
        metrics.count_at_once(FleetMetrics(self.fleets, paused_in(self._store), time.time))
        metrics.registry.register(CampaignMetrics(self.campaigns))
